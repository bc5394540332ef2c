"""Inductor's own classes, without a GPU: a worker process compiles a template's kernel under TWILL=1 and passes it to its parent, which launches it.

PyTorch takes 3 GB, so its environment, build/torch-2.11.0, is made by hand (`pip install torch==2.11.0`); without it this test is skipped.
"""

import importlib
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

import torch._inductor.runtime.triton_helpers
import triton
from kernels_under_test import HERE, gemm, generated_product
from no_gpu import Array, descriptor, no_gpu, steps
from torch._inductor import autotune_process
from torch._inductor.runtime import static_triton_launcher, triton_heuristics
from torch._inductor.runtime.hints import DeviceProperties

import twill_gpu
from twill_gpu.dropin import contest, inductor, later, records, tuning

H100 = DeviceProperties(type="cuda", index=0, multi_processor_count=132, cc=90, major=9, regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048,
                        max_threads_per_block=1024, warp_size=32)
PACKAGE = pathlib.Path(twill_gpu.__file__).resolve().parent.parent


def template():
    """A product as Inductor decorates it."""
    signature = {**dict.fromkeys(("a_ptr", "b_ptr", "bias_ptr", "c_ptr"), "*fp16"), **dict.fromkeys("MNK", "i32"),
                 **dict.fromkeys(("GROUP", "BM", "BN", "BK"), "constexpr")}
    meta = {"signature": signature, "device": H100, "constants": {"GROUP": 8, "BM": 128, "BN": 128, "BK": 64},
            "configs": [{(number, ): [["tt.divisibility", 16]] for number in range(7)}]}
    decorate = triton_heuristics.template(num_stages=3, num_warps=8, triton_meta=meta, filename=str(HERE / "kernels_under_test.py"),
                                          inductor_meta={"kernel_name": "generated_product", "grid_type": "FixedGrid", "fixed_grid": ["32", "1", "1"]})
    return decorate(generated_product)


def work():
    """The work of an Inductor worker: compile_tasks._worker_compile_triton, with the given kernel."""
    with mock.patch.object(torch._inductor.runtime.triton_helpers, "set_driver_to_gpu", lambda: None):
        kernel = template()
        kernel.precompile(warm_cache_only=True)
    kernel.prepare_for_pickle()
    sys.stdout.buffer.write(pickle.dumps(kernel.compile_results))
    sys.stdout.flush()
    twill_gpu.wait()


class Inductor(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        triton.knobs.cache.dir = self.folder.name
        records.clear()
        later.clear()

    def results(self, **switches):
        """The kernel that a worker passes on under switches of the environment."""
        made = pathlib.Path(self.folder.name) / "twill_gpu-0.dist-info"
        made.mkdir(exist_ok=True)
        (made / "METADATA").write_text("Metadata-Version: 2.1\nName: twill-gpu\nVersion: 0\n")
        (made / "entry_points.txt").write_text("[triton.backends]\ntwill = twill_gpu.plugin\n")
        environment = {**os.environ, **switches, "TRITON_CACHE_DIR": self.folder.name, "PYTHONPATH": f"{self.folder.name}:{PACKAGE}:{HERE}"}
        done = subprocess.run([sys.executable, "-W", "ignore", __file__, "work"], check=True, capture_output=True, env=environment)
        return pickle.loads(done.stdout)

    def test_the_question_that_is_put_before_inductors_is_there(self):
        """Protects the setting inductor=True: the names that are looked for are those of this PyTorch."""
        self.assertTrue(callable(getattr(getattr(sys.modules[inductor._MODULE], inductor._CLASS), inductor._QUESTION)))

    def test_what_measures_candidates_is_watched(self):
        """Protects the time of autotuning: the names of Inductor's functions are those of this PyTorch, and each is heard."""
        for module, owner, name in inductor._MEASURE:
            importlib.import_module(module)
        inductor.adopt()
        for module, owner, name in inductor._MEASURE:
            self.assertTrue(getattr(getattr(sys.modules[module], owner), name).twill, name)
        heard = []
        with mock.patch.object(autotune_process.benchmarker, "benchmark", lambda launch, **_: launch()), \
                mock.patch.object(autotune_process, "get_interface_for_device", lambda _: mock.MagicMock()):
            autotune_process.GPUDeviceBenchmarkMixin().do_bench(lambda: heard.append(tuning.now()))
        self.assertEqual((heard, tuning.now()), ([True], False))

    def test_a_kernel_of_a_worker_is_raced_by_its_parent(self):
        """Protects templates: the kernel of a worker names Twill's kernel also after pickling, and the parent's launcher finds it."""
        result, = self.results(TWILL="1", TWILL_INDUCTOR="1")
        self.assertIsNone(later.known(result.kernel.metadata.twill_kernel["key"]))  # a worker does not know which kernels will be launched
        with no_gpu() as driver, mock.patch.object(contest, "timer_on", lambda stream: None), \
                mock.patch.object(contest, "decide", lambda *_: contest.Verdict(True, (1e-6, 1e-6), (2e-6, 2e-6), 8)), \
                twill_gpu.enabled(inductor=True, persistent=False):
            kernel = result.kernel
            launcher = kernel.run
            arrays = [Array((4096, 4096), "fp16", at) for at in (4096, 8192, 12288, 16384)]
            for _ in range(2):
                launcher(32, 1, 1, 77, kernel.function, kernel.packed_metadata, None, None, None, *arrays, 4096, 4096, 4096, 8, 128, 128, 64)
                self.assertTrue(twill_gpu.wait())
            self.assertEqual(len(driver.utils.loaded), 2)
            row, = twill_gpu.report().races
            self.assertEqual((row.kernel, row.takes), ("generated_product", "twill"))

    def launcher(self, result):
        """Inductor's launch function of a kernel, which takes the arrays."""
        made = result.make_launcher()
        arrays = [Array((4096, 4096), "fp16", at) for at in (4096, 8192, 12288, 16384)]
        return lambda m=4096: made(*arrays, m, 4096, 4096, stream=77)

    def test_what_is_decided_launches_by_inductors_own_launcher(self):
        """Protects the host's share of a launch: Triton's launcher, which races, stayed slower than Inductor's for good."""
        launched = []  # by Inductor's own launcher
        short = types.SimpleNamespace(_load_kernel=lambda *_: ("short way", 100, 0), _launch_kernel=lambda *arguments: launched.append(arguments[:4]))
        own, = self.results(TWILL="1")
        raced, = self.results(TWILL="1", TWILL_INDUCTOR="1")
        with no_gpu() as driver, mock.patch.object(contest, "timer_on", lambda stream: None), \
                mock.patch.object(static_triton_launcher.StaticallyLaunchedCudaKernel, "C_impl", short), \
                mock.patch.object(contest, "decide", lambda *_: contest.Verdict(self.wins, (1e-6, 1e-6), (2e-6, 2e-6), 8)), \
                twill_gpu.enabled(inductor=True, persistent=False):
            plain, self.wins = self.launcher(own), False
            plain()
            expected = steps(plain)
            inductor.adopt()
            launch = self.launcher(raced)
            for _ in range(2):
                launch()
                twill_gpu.wait()
            launch()
            del launched[:]
            self.assertLessEqual(steps(launch), expected + 40)
            self.assertEqual((launched, len(driver.utils.loaded)), ([("short way", 32, 1, 1)], 2))
            self.wins, before = True, len(driver.utils.launched)
            launch(8192)  # another size, which Twill's kernel wins
            launch(8192)
            self.assertEqual((driver.utils.launched[before:], launched[1:]), ([("function 2", (32, 1, 1))], [("function 2", 32, 1, 1)]))
            launch()
            self.assertEqual((len(driver.utils.launched), launched[2:]), (before + 1, [("short way", 32, 1, 1)]))

    def test_a_kernel_of_a_triton_op(self):
        """Protects operators of torch.library.triton_op: a wrapped kernel races as others do, also one with @options."""
        arrays = [descriptor(Array((4096, 4096), "fp16", at), 128, width) for at, width in ((4096, 64), (8192, 64), (12288, 128))]
        with no_gpu() as driver, mock.patch.object(contest, "timer_on", lambda stream: None), \
                mock.patch.object(contest, "decide", lambda *_: contest.Verdict(True, (1e-6, 1e-6), (2e-6, 2e-6), 8)), twill_gpu.enabled(persistent=False):
            for kernel, expected in ((triton.JITFunction(gemm.fn), ["race", "twill"]),
                                     (twill_gpu.options(decide="never")(triton.JITFunction(gemm.fn)), ["triton"])):
                records.clear()
                for _ in range(2):
                    torch.library.wrap_triton(kernel)[32, 32](*arrays, 4096, BM=128, BN=128, BK=64, num_warps=4, num_stages=3)
                    twill_gpu.wait()
                report = twill_gpu.report()
                self.assertEqual([row.runs for row in report.compilations] + [row.takes for row in report.races], expected)
                kernel.device_caches.clear()  # while there is a driver, which kernels that go are unloaded by
            self.assertEqual([function for function, _ in driver.utils.launched], ["function 1", "function 2", "function 3", "function 3"])

    def test_otherwise_inductors_launcher_has_tritons_kernel_alone(self):
        """Protects Inductor's launches, which are cheap, if they were not set to race."""
        result, = self.results(TWILL="1")
        self.assertIsInstance(result, triton_heuristics.StaticTritonCompileResult)


if __name__ == "__main__":
    if sys.argv[1:] == ["work"]:
        work()
    else:
        unittest.main()
