"""Needs of torch.compile, without PyTorch: compilations in worker processes, their end, and Inductor's question about kernels.

A module with Inductor's name and the known class stands for Inductor. A process that compiles, passes the kernel's metadata on as
Inductor does, and stays or ends, stands for a worker.
"""

import dataclasses
import fcntl
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
from collections import namedtuple
from unittest import mock

import triton
from kernels_under_test import HERE, SM_90, compile_gemm, fresh_cache, generated_product, source_of

import twill_gpu
from twill_gpu.dropin import beside, inductor, later, records, store

WORKER = """
import dataclasses, json, os, sys, time
sys.path.insert(0, {here!r})
from kernels_under_test import compile_gemm
import triton, twill_gpu
triton.knobs.cache.dir = {cache!r}
with twill_gpu.enabled(patience=0.0):
    facts = compile_gemm().metadata._asdict()
    print(json.dumps({{**facts, "target": dataclasses.asdict(facts["target"])}}), flush=True)
    if {stays!r}:
        twill_gpu.wait()
    else:
        while not os.path.exists(os.environ["FAKE_CALLS"]):  # ends in the midst of the program's work, not before
            time.sleep(0.01)
        os._exit(0)
"""


ENDS = """
import sys, threading
sys.path.insert(0, {here!r})
from kernels_under_test import compile_gemm
import triton, twill_gpu
from triton.backends.nvidia.compiler import CUDABackend
triton.knobs.cache.dir = {cache!r}
real, inside = CUDABackend.{stage}.__wrapped__, threading.Event()  # the compiled code itself, also for a module that was compiled before
def stage(*arguments, **more):
    if threading.current_thread() is not threading.main_thread():
        inside.set()
    return real(*arguments, **more)
CUDABackend.{stage} = stage
with twill_gpu.enabled(patience=0.0):
    compile_gemm()
    assert inside.wait(60)
"""


def said_by_the_process(work):
    """Output of `work` on the process's standard output and error, compilers' output included."""
    with tempfile.TemporaryFile() as file:
        kept = os.dup(1), os.dup(2)
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
        try:
            work()
        finally:
            for stream, real in zip((1, 2), kept):
                os.dup2(real, stream)
                os.close(real)
        file.seek(0)
        return file.read().decode()


class Quiet(unittest.TestCase):
    def test_nothing_is_written(self):
        """Protects logs: a module that Triton's passes reject was once printed as a whole, hundreds of times by one torch.compile."""
        arrays = {"bias_ptr": "*fp32", "M": "i32", "N": "i32", "K": "i32"}
        cases = (("fp16", (64, 64, 32), ()), ("bf16", (64, 16, 32), ("K", )), ("fp16", (64, 64, 32), ("M", "N", "K")), ("fp16", (16, 32, 16), ()),
                 ("fp32", (32, 64, 64), ("N", "K")))
        records.clear()
        with fresh_cache(), twill_gpu.enabled(patience=float("inf")):
            for kind, (rows, columns, depth), odd in cases:
                source = source_of(generated_product, {**dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), f"*{kind}"), **arrays},
                                   {"GROUP": 8, "BM": rows, "BN": columns, "BK": depth}, odd)

                def work():
                    triton.compile(source, target=SM_90, options={"num_warps": 4, "num_stages": 3})
                    twill_gpu.wait()
                self.assertEqual(said_by_the_process(work), "", (kind, rows, columns, depth, odd))
        self.assertEqual([row.runs for row in twill_gpu.report().compilations], ["race"] * 3 + ["triton"] * 2)


class Workers(unittest.TestCase):
    def setUp(self):
        self.cache = fresh_cache()
        self.addCleanup(self.cache.cleanup)
        folder = pathlib.Path(self.cache.name)
        self.calls = folder / "calls"
        (folder / "answer.ttgir").write_text(compile_gemm().asm["ttgir"])
        changes = {"TWILL_PROGRAM": str(HERE / "fake_twill"), "FAKE_ANSWER": str(folder / "answer.ttgir"), "FAKE_CALLS": str(self.calls),
                   "FAKE_GATE": str(folder / "gate")}
        self.folder, self.gate = folder, folder / "gate"
        before = dict(os.environ)
        os.environ.update(changes)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(before)))
        later.clear()
        records.clear()

    def parent(self, stays):
        """The answer that the parent finds for a worker's kernel, and the number of calls of the program."""
        code = WORKER.format(here=str(HERE), cache=self.cache.name, stays=stays)
        with subprocess.Popen([sys.executable, "-W", "ignore", "-c", code], stdout=subprocess.PIPE, text=True) as worker:
            facts = json.loads(worker.stdout.readline())
            if not stays:
                worker.wait()
            metadata = namedtuple("KernelMetadata", sorted(facts))(**{**facts, "target": SM_90})
            with twill_gpu.enabled():
                answer = later.find(metadata.twill_kernel["key"], metadata)
                self.assertFalse(answer.done())
                self.gate.touch()
                found = answer.result()
        return found, len(self.calls.read_text().splitlines())

    def test_the_parent_waits_for_a_worker_that_is_at_work(self):
        """Protects against work done twice: the parent launches while the worker still compiles Twill's kernel."""
        found, asked = self.parent(stays=True)
        self.assertEqual((found.why, asked), ("", 1))
        self.assertIsNotNone(store.get_cubin(found.cubin))

    def test_the_parent_makes_what_a_worker_that_is_gone_left(self):
        found, asked = self.parent(stays=False)
        self.assertEqual((found.why, asked), ("", 2))
        self.assertIsNotNone(store.get_cubin(found.cubin))


    def test_a_program_may_end_while_a_kernel_is_made(self):
        """Protects every short program: an end in the middle of Triton's compiled code once aborted the process."""
        self.gate.touch()
        for stage in ("make_llir", "make_ptx"):
            with self.subTest(stage=stage):
                cache = tempfile.mkdtemp(dir=self.folder)
                done = subprocess.run([sys.executable, "-W", "ignore", "-c", ENDS.format(here=str(HERE), cache=cache, stage=stage)],
                                      capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_forked_child_waits_for_nothing_of_its_parent(self):
        with twill_gpu.enabled(patience=0.0):
            key = compile_gemm().metadata.twill_kernel["key"]
            self.assertFalse(twill_gpu.wait(0.0))
            child = os.fork()
            if child == 0:
                os._exit(0 if twill_gpu.wait(0.0) and beside._workers.inside == 0 else 1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.gate.touch()
            self.assertEqual(later.find(key, None).result().why, "")


class Claims(unittest.TestCase):
    """One process at a time makes an answer, and the end of a process ends its claims."""

    HOLDER = ("import sys; sys.path.insert(0, {here!r})\nimport kernels_under_test\nfrom twill_gpu.dropin import store\n"
              "kernels_under_test.triton.knobs.cache.dir = {cache!r}\nprint(store.claim('KEY'), flush=True)\nsys.stdin.read()")

    def setUp(self):
        self.cache = fresh_cache()
        self.addCleanup(self.cache.cleanup)
        self.addCleanup(store.release, "KEY")
        self.path = store.answer_path("KEY").with_suffix(".busy")

    def holder(self):
        """Another process that tried to claim, and the result."""
        code = self.HOLDER.format(here=str(HERE), cache=triton.knobs.cache.dir)
        process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        return process, process.stdout.readline().strip() == "True"

    def test_a_claim_is_that_of_one_process_until_it_ends(self):
        other, claimed = self.holder()
        self.assertTrue(claimed)
        self.assertFalse(store.claim("KEY"))
        store.release("KEY")  # a claim of the other process: no effect
        self.assertFalse(store.claim("KEY"))
        other.kill()
        other.wait()
        self.assertTrue(store.claim("KEY"))
        self.assertEqual(self.holder()[1], False)
        store.release("KEY")
        self.assertFalse(self.path.exists())

    def test_what_a_file_says_is_no_claim(self):
        """Protects against incomplete claims: a process once took an empty file, which another was about to fill, as unclaimed."""
        self.path.parent.mkdir(parents=True)
        self.path.write_text("somebody 1")
        self.assertTrue(store.claim("KEY"))

    def test_a_claim_of_a_file_that_is_gone_is_none(self):
        """Protects the moment between another process's end and the lock: the lock of a removed file excludes no process."""
        lock = fcntl.flock

        def ended(file, how):
            self.path.unlink()
            lock(file, how)

        with mock.patch.object(fcntl, "flock", ended):
            self.assertFalse(store.claim("KEY"))
        self.assertTrue(store.claim("KEY"))

    def test_a_forked_child_has_none_of_its_parents_claims(self):
        self.assertTrue(store.claim("KEY"))
        child = os.fork()
        if child == 0:
            store.release("KEY")
            os._exit(0 if self.path.exists() and not store.claim("KEY") else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertFalse(self.holder()[1])

    def test_a_folder_that_cannot_be_written_stops_nobody(self):
        triton.knobs.cache.dir = "/proc/nowhere"
        self.assertTrue(store.claim("KEY"))


class Question(unittest.TestCase):
    """The function that decides whether Inductor's own launcher takes a kernel."""

    def setUp(self):
        class Result:
            @staticmethod
            def can_statically_launch(kernel, inductor_meta, triton_meta, heuristic_type):
                return types.SimpleNamespace(cubin_raw=b"code")
        self.result = Result
        sys.modules[inductor._MODULE] = types.SimpleNamespace(StaticTritonCompileResult=Result)
        self.addCleanup(sys.modules.pop, inductor._MODULE)
        self.raced = types.SimpleNamespace(metadata=types.SimpleNamespace(twill_kernel={"key": "KEY"}))
        self.other = types.SimpleNamespace(metadata=types.SimpleNamespace())

    def answers(self):
        """Whether Inductor's own launcher takes both."""
        return tuple(self.result.can_statically_launch(kernel, {}, {}, heuristic_type=None) is not None for kernel in (self.raced, self.other))

    def test_only_kernels_with_a_second_one_and_only_if_asked_for(self):
        self.addCleanup(os.environ.update, TWILL_PROGRAM=os.environ.get("TWILL_PROGRAM", ""))
        os.environ["TWILL_PROGRAM"] = str(HERE / "fake_twill")
        for changes, expected in (({}, (True, True)), ({"inductor": True}, (False, True))):
            with twill_gpu.enabled(**changes):
                triton.compiler.make_backend(SM_90)
                question = self.result.can_statically_launch
                triton.compiler.make_backend(SM_90)
                self.assertIs(self.result.can_statically_launch, question)
                self.assertEqual(self.answers(), expected)
        self.assertEqual(self.answers(), (True, True))
        self.assertIsNone(self.raced.twill_short_way.cubin_raw)  # which the kernel has: caches keep it once
        self.assertFalse(hasattr(self.other, "twill_short_way"))

    def test_kernels_of_the_users_race_as_without_inductor(self):
        """Protects user kernels where Inductor launches them, too, by its own launcher (static_launch_user_defined_triton_kernels)."""
        self.addCleanup(os.environ.update, TWILL_PROGRAM=os.environ.get("TWILL_PROGRAM", ""))
        os.environ["TWILL_PROGRAM"] = str(HERE / "fake_twill")
        with twill_gpu.enabled():
            inductor.adopt()
            for name, expected in (("USER_AUTOTUNE", True), ("TEMPLATE", False)):
                self.assertEqual(self.result.can_statically_launch(self.raced, {}, {}, types.SimpleNamespace(name=name)) is None, expected)

    def test_an_inductor_that_is_not_loaded_or_has_other_names(self):
        sys.modules[inductor._MODULE] = types.SimpleNamespace()
        inductor.adopt()
        del sys.modules[inductor._MODULE]
        inductor.adopt()
        self.assertNotIn(inductor._MODULE, sys.modules)
        sys.modules[inductor._MODULE] = None  # for the clean-up


@dataclasses.dataclass
class Kernel:
    """Stands for what Inductor's own launcher launches."""

    function: str
    num_warps: int
    shared: int


class ShortWay(unittest.TestCase):
    """Launches of a kernel that races, by launch functions as Inductor writes them: for Triton's launcher (long), and for its own (short)."""

    def setUp(self):
        self.launched = []

        def made(name, runner, kernel):
            scope = {"runner": runner}
            exec(f"def launcher(a, m, n, stream): runner(m // 128, n // 128, 1, stream, {kernel}a, m, n)", scope)
            scope["launcher"].config = name
            return scope["launcher"]
        head = "'function', 'packed', None, None, None, "

        class Long:
            def make_launcher(this):
                return made("long", this.call, head)

        class Short:
            def __init__(this, kernel, config, compile_meta, inductor_meta):
                this.kernel = kernel

            def make_launcher(this):
                return made("short", lambda *given: self.launched.append(this.kernel), "")
        sys.modules[inductor._MODULE] = types.SimpleNamespace(TritonCompileResult=Long, StaticTritonCompileResult=Short)
        self.addCleanup(sys.modules.pop, inductor._MODULE)
        inductor.adopt()
        self.decided, self.takes = {}, {}
        self.result = Long()
        self.result.config = self.result.compile_meta = self.result.inductor_meta = None
        self.result.kernel = types.SimpleNamespace(src=types.SimpleNamespace(signature={"a": "*fp16", "m": "i32", "n": "i32", "B": "constexpr"}),
                                                   metadata=types.SimpleNamespace(name="kernel"), twill_short_way=Kernel("Triton's", 4, 100_000))
        self.result.call = self.call
        self.call.__dict__.update(decided=self.decided, integers=[1, 2])

    @property
    def call(self):
        """Stands for the drop-in's launcher, which decides at the second launch of a size."""
        if not hasattr(self, "_call"):
            def call(x, y, z, stream, function, packed, metadata, enter, exit, *rest):
                self.launched.append("long")
                key = (x, y, z, *rest[1:3])
                if self.takes.setdefault(key, 0) == 1:
                    self.decided[key] = False
                self.takes[key] += 1
            self._call = call
        return self._call

    def test_a_size_that_is_tritons_goes_the_short_way(self):
        launcher = self.result.make_launcher()
        self.assertEqual(launcher.config, "long")  # what Inductor reads of a launch function
        for m in (4096, 4096, 4096, 8192, 4096, 8192, 8192):
            launcher("a", m, 4096, stream=7)
        short = self.result.kernel.twill_short_way
        self.assertEqual(self.launched, ["long", "long", short, "long", short, "long", short])
        self.decided.clear()  # another kernel is finished: all is decided again
        launcher("a", 4096, 4096, stream=7)
        def walks():  # a kernel of Twill's that walks tiles has more arguments, which its own launcher passes
            pass

        def twills():
            pass
        metadata = types.SimpleNamespace(global_scratch_size=0, profile_scratch_size=None, num_warps=12, shared=200_000)
        twills.kernel = "Twill's", metadata
        for takes in (walks, twills):
            self.decided[32, 32, 1, 4096, 4096] = takes
            for _ in range(2):
                launcher("a", 4096, 4096, stream=7)
        self.assertEqual(self.launched[7:], ["long", "long", "long", "long", Kernel("Twill's", 12, 200_000)])
        metadata.global_scratch_size = 128
        other = self.decided[32, 32, 1, 4096, 4096] = types.FunctionType(twills.__code__, {})
        other.kernel = twills.kernel
        for _ in range(2):
            launcher("a", 4096, 4096, stream=7)
        self.assertEqual(self.launched[12:], ["long", "long"])

    def test_without_a_short_way_all_launches_go_the_long_one(self):
        """Protects every other PyTorch: unknown names, kernels that never race, a short way that cannot be made."""
        def broken(*_):
            raise TypeError("another PyTorch")
        del self.call.decided
        self.result.make_launcher()("a", 4096, 4096, stream=7)
        self.call.decided = self.decided
        with mock.patch.object(sys.modules[inductor._MODULE], "StaticTritonCompileResult", broken):
            self.result.make_launcher()("a", 4096, 4096, stream=7)
        signature = self.result.kernel.src.signature
        self.result.kernel.src.signature = {"elsewhere": "i32", **signature}  # an integer that Inductor's function does not have
        self.call.integers = [0, 2]
        self.result.make_launcher()("a", 4096, 4096, stream=7)
        self.result.kernel.src.signature, self.call.integers = signature, [1, 2]
        del self.result.kernel.twill_short_way
        self.result.make_launcher()("a", 4096, 4096, stream=7)
        self.assertEqual(self.launched, ["long"] * 4)


if __name__ == "__main__":
    unittest.main()
