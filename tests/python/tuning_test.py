"""Candidates of autotuners: one of them is launched again, and Twill's kernel is made for that one alone. Without a GPU."""

import gc
import sys
import threading
import types
import unittest
from unittest import mock

import triton
from dropin_test import Case
from kernels_under_test import compile_gemm, generated_product
from no_gpu import Array, no_gpu

import twill_gpu
from twill_gpu.dropin import contest, inductor, later, tuning


class Tuned(Case):
    """A product with three configurations, of which the second one wins."""

    def setUp(self):
        super().setUp()
        gpu = no_gpu()
        gpu.__enter__()
        self.addCleanup(gpu.__exit__, None, None, None)
        for name, stub in (("decide", lambda *_: contest.Verdict(False, (1.0, ), (1.0, ), 8)), ("timer_on", lambda stream: None)):
            patch = mock.patch.object(contest, name, stub)
            patch.start()
            self.addCleanup(patch.stop)
        self.set(TWILL_PATIENCE="0", TWILL_PERSISTENT="0")
        self.begun = []
        configs = [triton.Config({"BM": 64, "BN": n, "BK": k}, num_warps=4) for n, k in ((64, 64), (64, 32), (128, 32))]
        self.function = triton.jit(generated_product.fn)
        self.kernel = triton.autotune(configs, key=["K"], do_bench=self.bench)(self.function)
        self.addCleanup(self.forget)

    def forget(self):
        """While there is a driver, which kernels that go are unloaded by."""
        twill_gpu.disable()
        self.function.device_caches.clear()
        self.function.__dict__.pop("_twill_kernels", None)
        gc.collect()

    def bench(self, launch, quantiles):
        launch()
        launch()
        self.begun.append(len(later._at_work))
        return [0.0 if len(self.begun) == 2 else 1.0] * 3

    def launch(self):
        arrays = [Array((4096, 4096), "fp16", at) for at in (4096, 8192, 12288, 16384)]
        self.kernel[1, 1](*arrays, 4096, 4096, 4096, GROUP=8)

    def rows(self):
        return [(row.runs, row.why) for row in twill_gpu.report().compilations]

    def test_only_the_kernel_that_wins_is_made(self):
        """Protects the time of autotuning: twenty candidates of torch.compile were each compiled twice, which took 2.3 times as long."""
        with twill_gpu.enabled():
            self.launch()
            self.assertEqual(self.begun, [0, 0, 0])
            self.assertTrue(twill_gpu.wait())
            self.assertEqual(len(self.asked()), 1)
            self.launch()
        self.assertEqual([runs for runs, _ in self.rows()], ["race"] * 3)
        self.assertTrue(all("made when the program launches" in why for _, why in self.rows()))
        self.assertEqual([row.takes for row in twill_gpu.report().races], ["triton"])

    def test_with_patience_the_tuner_compares_finished_kernels(self):
        with twill_gpu.enabled(patience=float("inf")):
            self.launch()
        self.assertEqual((len(self.asked()), self.rows()), (3, [("race", "")] * 3))


class Inductors(Case):
    def test_what_inductor_may_compile_is_made_when_it_is_launched(self):
        """Protects Inductor's workers, which compile candidates and never launch."""
        self.set(TWILL_PATIENCE="0")
        for name in (inductor._MODULE, "torch._inductor.autotune_process"):
            sys.modules[name] = types.SimpleNamespace()
            self.addCleanup(sys.modules.pop, name)
        with twill_gpu.enabled():
            kernel = compile_gemm()
            self.assertEqual((self.asked(), later._running), ([], {}))
            found = later.find(kernel.metadata.twill_kernel["key"], kernel.metadata).result()
        self.assertEqual((found.why, len(self.asked())), ("", 1))


class Watched(unittest.TestCase):
    def test_calls_of_one_thread_are_heard_and_once(self):
        heard = []

        class Tuner:
            def bench(self, launch):
                launch()
                other = threading.Thread(target=launch)
                other.start()
                other.join()

        tuning.watch(Tuner, "bench")
        watched = Tuner.bench
        tuning.watch(Tuner, "bench")
        self.assertIs(Tuner.bench, watched)
        Tuner().bench(lambda: heard.append(tuning.now()))
        with self.assertRaises(ZeroDivisionError):
            Tuner().bench(lambda: 1 // 0)
        self.assertEqual((heard, tuning.now()), ([True, False], False))

    def test_tuners_with_other_names_are_left_alone(self):
        tuning.watch(None, "bench")
        tuning.watch(types.SimpleNamespace(), "bench")


if __name__ == "__main__":
    unittest.main()
