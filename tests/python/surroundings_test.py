"""The drop-in in unusual programs: killed, without a disk, in notebooks, under switches of Triton's. Without a GPU."""

import linecache
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest
from unittest import mock

import triton
import triton.language as tl
from dropin_test import Case
from kernels_under_test import HERE, compile_gemm, gemm
from no_gpu import Array, descriptor, no_gpu

import twill_gpu
from twill_gpu.dropin import contest, later, records, store

CELL = """
import triton, triton.language as tl

@triton.jit
def cell(a_desc, b_desc, c_desc, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    acc = tl.zeros([BM, BN], dtype=tl.float32)
    for k in tl.range(0, K, BK):
        acc = tl.dot(a_desc.load([0, k]), b_desc.load([0, k]).T, acc)
    c_desc.store([0, 0], acc.to(tl.float16))
"""
PROCESS = """
import sys; sys.path.insert(0, {here!r})
from kernels_under_test import compile_gemm
import triton, twill_gpu
triton.knobs.cache.dir = {cache!r}
twill_gpu.enable(patience=float("inf"))
print("ready", flush=True)
kernel = compile_gemm()
twill_gpu.wait()
print([row.runs for row in twill_gpu.report().compilations], kernel.metadata.twill_kernel["key"])
"""


@triton.jit(noinline=True)
def half(x):
    return x * 0.5


@triton.jit
def positive(x):
    return tl.maximum(x, 0.0)


@triton.jit
def calling(a_desc, b_desc, c_desc, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    acc = tl.zeros([BM, BN], dtype=tl.float32)
    for k in tl.range(0, K, BK):
        acc = tl.dot(a_desc.load([0, k]), b_desc.load([0, k]).T, acc)
    c_desc.store([0, 0], (acc * half(1.0)).to(tl.float16))


@triton.jit
def with_function(a_desc, b_desc, c_desc, K, F: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    acc = tl.zeros([BM, BN], dtype=tl.float32)
    for k in tl.range(0, K, BK):
        acc = tl.dot(a_desc.load([0, k]), b_desc.load([0, k]).T, acc)
    c_desc.store([0, 0], F(acc).to(tl.float16))


class Launched(Case):
    """Kernels from compilation to a launch of Twill's, which wins all races."""

    def setUp(self):
        super().setUp()
        gpu = no_gpu()
        self.driver = gpu.__enter__()
        self.addCleanup(gpu.__exit__, None, None, None)
        for name, stub in (("decide", lambda *_: contest.Verdict(True, (1e-6, ), (2e-6, ), 8)), ("timer_on", lambda stream: None)):
            patch = mock.patch.object(contest, name, stub)
            patch.start()
            self.addCleanup(patch.stop)
        self.set(TWILL_PATIENCE="0", TWILL_PERSISTENT="0")
        self.addCleanup(self.forget)

    def forget(self):
        """Provides a driver, by which kernels that are deleted are unloaded."""
        twill_gpu.disable()
        for kernel in (gemm, calling, with_function):
            kernel.device_caches.clear()
            kernel.__dict__.pop("_twill_kernels", None)

    def takes(self, kernel, **more):
        """The kernel that launches take at last, or the reason why they take Triton's."""
        arrays = [descriptor(Array((4096, 4096), "fp16", at), 128, width) for at, width in ((4096, 64), (8192, 64), (12288, 128))]
        options = {"BM": 128, "BN": 128, "BK": 64, "num_warps": 4, "num_stages": 3, **more}
        with twill_gpu.enabled():
            for _ in range(2):
                kernel[1, 1](*arrays, 4096, **options)
                self.assertTrue(twill_gpu.wait())
        report = twill_gpu.report()
        compiled = report.compilations[-1]
        if compiled.runs == "triton":  # refused before any launch
            return compiled.why
        return report.races[-1].why or report.races[-1].takes

    def test_kernels_of_a_notebook(self):
        """Protects notebooks, whose kernels are in no file, and whose cells Python's linecache has."""
        for name in ("<ipython-input-3-0123>", "/tmp/ipykernel_1/2.py"):
            with self.subTest(name), mock.patch.dict(linecache.cache, {name: (len(CELL), None, CELL.splitlines(True), name)}):
                triton.knobs.cache.dir = tempfile.mkdtemp(dir=self.cache.name)  # the same source has the same kernel in Triton's cache
                cell = {"__name__": "__main__"}
                exec(compile(CELL, name, "exec"), cell)
                self.assertEqual(self.takes(cell["cell"]), "twill")
                self.set(FAKE_LINE_OF="scf.for", FAKE_EXIT="3")
                self.assertRegex(self.takes(cell["cell"], num_warps=8), rf"{name.rpartition('/')[2]}:7: ")
                os.environ.pop("FAKE_LINE_OF"), os.environ.pop("FAKE_EXIT")
                cell["cell"].device_caches.clear()
                cell["cell"].__dict__.pop("_twill_kernels", None)

    def test_heuristics(self):
        tuned = triton.heuristics({"BM": lambda _: 128, "BN": lambda _: 128})(gemm)
        self.assertIs(twill_gpu.options(decide="race")(tuned), tuned)
        arrays = [descriptor(Array((4096, 4096), "fp16", at), 128, width) for at, width in ((4096, 64), (8192, 64), (12288, 128))]
        with twill_gpu.enabled():
            for _ in range(2):
                tuned[1, 1](*arrays, 4096, BK=64)
                twill_gpu.wait()
        self.assertEqual([row.takes for row in twill_gpu.report().races], ["twill"])

    def test_calls_and_functions_as_constants(self):
        self.assertIn("it has tt.call", self.takes(calling))
        records.clear()
        self.assertEqual(self.takes(with_function, F=positive), "twill")

    def test_a_module_of_the_users_is_left_alone(self):
        """Protects ir_override: the given module runs, also as one of an autotuner's configurations."""
        file = pathlib.Path(self.cache.name) / "mine.ttgir"
        file.write_text(self.plain.asm["ttgir"])
        self.assertIn("the option ir_override", self.takes(gemm, ir_override=str(file)))

    def test_folders_with_any_name(self):
        """Protects caches in folders of any name: PTX has the names of files in quotes."""
        for name in ("mit Leerzeichen", "日本 ü", "a \"quoted\" one", "it's", "back\\slash", "per%cent"):
            with self.subTest(name):
                triton.knobs.cache.dir = str(pathlib.Path(self.cache.name) / name)
                later.clear()
                gemm.device_caches.clear()
                gemm.__dict__.pop("_twill_kernels", None)
                self.assertEqual(self.takes(gemm), "twill")

    def test_switches_of_tritons(self):
        """Protects debugging, dumps and profiles: under each switch a program runs, with both kernels."""
        dump = str(pathlib.Path(self.cache.name) / "dump")
        for number, switches in enumerate(({"TRITON_ALWAYS_COMPILE": "1"}, {"TRITON_DEBUG": "1"}, {"TRITON_KERNEL_DUMP": "1", "TRITON_DUMP_DIR": dump},
                                           {"TRITON_DISABLE_LINE_INFO": "1"}, {"TRITON_STORE_BINARY_ONLY": "1"})):
            with self.subTest(switches), mock.patch.dict(os.environ, switches):
                triton.knobs.cache.dir = str(pathlib.Path(self.cache.name) / str(number))
                later.clear()
                gemm.device_caches.clear()
                gemm.__dict__.pop("_twill_kernels", None)
                self.assertEqual(self.takes(gemm), "twill")


class Processes(Case):
    """Processes that share a cache, and end in various ways."""

    def process(self, cache):
        code = PROCESS.format(here=str(HERE), cache=cache)
        return subprocess.Popen([sys.executable, "-W", "ignore", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)

    def whole(self, cache):
        """Files that a process finds, which ends by itself."""
        said = self.process(cache).communicate()[0].splitlines()
        self.assertEqual((said[0], said[1].split(" ")[0], len(said)), ("ready", "['race']", 2), said)
        return said[1].split(" ")[1]

    def test_one_that_is_killed_leaves_a_cache_that_is_right(self):
        """Protects jobs that are killed: later processes find whole files or none, and never wait for the killed one."""
        cache = tempfile.mkdtemp(dir=self.cache.name)
        for seconds in (0.0, 0.15, 0.3, 0.6):
            killed = self.process(cache)
            killed.stdout.readline()
            time.sleep(seconds)
            os.killpg(killed.pid, signal.SIGKILL)
            killed.communicate()
        triton.knobs.cache.dir = cache
        key = self.whole(cache)
        self.assertIsNotNone(store.get_answer(key))
        self.assertEqual(list((pathlib.Path(cache) / "twill").rglob("*.busy")), [])

    def test_two_at_once_make_it_once(self):
        cache = tempfile.mkdtemp(dir=self.cache.name)
        processes = [self.process(cache) for _ in range(3)]
        said = [process.communicate()[0] for process in processes]
        self.assertEqual(len(set(said)), 1, said)
        self.assertIn("['race']", said[0])
        self.assertEqual(len(self.asked()), 1)

    def test_a_folder_that_is_another_users(self):
        """Protects caches that several users share: if the drop-in cannot write there, kernels are Triton's, with a line."""
        for blocked in ("twill", "twill/answer", "twill/text", "twill/cubin"):
            with self.subTest(blocked):
                cache = pathlib.Path(tempfile.mkdtemp(dir=self.cache.name))
                (cache / blocked).parent.mkdir(parents=True, exist_ok=True)
                (cache / blocked).write_text("a file, which nobody can write into, the superuser included")
                triton.knobs.cache.dir = str(cache)
                records.clear()
                later.clear()
                with twill_gpu.enabled():
                    self.assert_plain(compile_gemm())
                self.assertEqual(self.row().runs, "triton")
                self.assertRegex(self.row().why, r"kernels_under_test\.py:\d+: \w+Error: ")


if __name__ == "__main__":
    unittest.main()
