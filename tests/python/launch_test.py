"""Launches from beginning to end without a GPU, by a driver that launches nothing: their cost for the host, and their rows in reports."""

import unittest
from unittest import mock

from kernels_under_test import fresh_cache, gemm
from no_gpu import Array, descriptor, no_gpu, steps

import twill_gpu
from twill_gpu.dropin import contest, later, race, records, switch

TAKES = {True: "twill", False: "triton"}


class Case(unittest.TestCase):
    """A product of 4096, whose races `wins` decides."""

    def setUp(self):
        cache = fresh_cache()
        self.addCleanup(cache.cleanup)
        self.wins, self.contests = True, 0
        for context in (mock.patch.object(contest, "decide", self.decide), mock.patch.object(contest, "timer_on", lambda stream: None)):
            context.start()
            self.addCleanup(context.stop)
        gpu = no_gpu()
        self.driver = gpu.__enter__()
        self.addCleanup(gpu.__exit__, None, None, None)
        self.forget()
        self.addCleanup(self.forget)  # while there is a driver, which kernels that go are unloaded by
        self.arguments = [descriptor(Array((4096, 4096), "fp16", at), 128, width) for at, width in ((4096, 64), (8192, 64), (12288, 128))]

    def decide(self, *_):
        self.contests += 1
        return contest.Verdict(self.wins, (10e-6, 1e-6), (20e-6, 1e-6), 8)

    def forget(self):
        """Resets the state to that of a new process."""
        gemm.device_caches.clear()
        gemm.__dict__.pop("_twill_kernels", None)
        records.clear()
        later.clear()

    def launch(self, k=4096, grid=(32, 32)):
        gemm[grid](*self.arguments, k, BM=128, BN=128, BK=64, num_warps=4, num_stages=3)

    def decided(self):
        """Launches until all kernels are finished and have raced."""
        for _ in range(3):
            self.launch()
            twill_gpu.wait()
        self.launch()

    def cost(self, **more):
        self.launch(**more)
        return steps(lambda: self.launch(**more))


class Host(Case):
    def test_a_decided_launch_costs_no_more_than_tritons(self):
        """Protects the host's share of a launch, as a program launches: in Python's instructions, which no busy machine changes."""
        plain = self.cost()
        for self.wins in (True, False):
            for changes in ({"persistent": False}, {}, {"decide": "never"}, {"decide": "always"}):
                with self.subTest(wins=self.wins, changes=changes), twill_gpu.enabled(cache=False, **changes):
                    gemm.device_caches.clear()  # of the subtest before
                    self.decided()
                    walks = not changes and self.wins  # the grid is three more arguments, and Triton looks at each
                    self.assertLessEqual(self.cost(), plain + (80 if walks else 0))
        self.assertEqual(self.cost(), plain)

    def test_a_size_that_never_was_before_costs_little(self):
        """Protects programs whose sizes differ with each launch: the decision for sizes of as many bits took a long search."""
        plain = self.cost()
        with twill_gpu.enabled(cache=False, persistent=False):
            self.decided()
            sizes = iter(range(2048, 4096, 16))
            self.launch(next(sizes))
            self.assertLessEqual(steps(lambda: self.launch(next(sizes))), plain + 120)
            self.assertEqual(self.contests, 2)  # of two numbers of bits

    def test_launches_that_may_never_race_are_tritons_at_last(self):
        """Protects programs whose arguments always share memory: each launch once looked at all of them, and no report said why."""
        self.arguments[2] = descriptor(Array((4096, 4096), "fp16", 12288, storage=4096), 128, 128)
        plain = self.cost()
        with twill_gpu.enabled(persistent=False, cache=False):
            self.decided()
            for _ in range(race.MOST_SHARING):
                self.launch()
            self.assertLessEqual(self.cost(), plain)
            row, = twill_gpu.report().races
            self.assertEqual((row.takes, self.contests), ("triton", 0))
            self.assertIn("memory that is read and written", row.why)

    def test_an_option_for_one_kernel_costs_little(self):
        kernel = twill_gpu.options(decide="never")(switch.JITFunction(gemm.fn))

        def launch():
            kernel[32, 32](*self.arguments, 4096, BM=128, BN=128, BK=64, num_warps=4, num_stages=3)
        plain = self.cost()
        with twill_gpu.enabled():
            launch()
            self.assertLessEqual(steps(launch), plain + 60)


class Devices(Case):
    """Two GPUs of a model, current in turn, by Triton's own launches."""

    def launch_on(self, device):
        self.driver.set_current_device(device)
        done = len(self.driver.utils.launched)
        self.launch()
        found = [function for function, _ in self.driver.utils.launched[done:]]
        self.assertEqual([self.driver.utils.devices[function] for function in found], [device] * len(found))
        self.assertEqual(self.driver.utils.streams[done:], [77 + device] * len(found))
        return found[-1]

    def test_each_launch_is_by_a_function_of_its_own_device(self):
        """Protects several GPUs: kernels that come late, races and decisions of one never reach another."""
        with twill_gpu.enabled():
            plain = [self.launch_on(device) for device in (0, 1)]
            twill_gpu.wait()
            for _ in range(2):
                taken = [self.launch_on(device) for device in (1, 0)][::-1]
                twill_gpu.wait()
            self.assertEqual([self.launch_on(device) for device in (0, 1)], taken)
        self.assertEqual(len({*plain, *taken}), 4)
        for device in (0, 1):
            self.assertNotIn(self.launch_on(device), taken)  # off: Triton's again


class Reports(Case):
    """Kernels and decisions that a process finds in the caches are in its report, too."""

    def test_a_later_process_reports_what_an_earlier_one_measured(self):
        """Protects report() and explain() of a program's second run, which compiles nothing: both were empty."""
        for self.wins in (True, False):
            with self.subTest(wins=self.wins), twill_gpu.enabled(persistent=False, patience=float("inf"), spare_registers=(0, 8 * self.wins)):
                self.forget()
                self.decided()
                first = twill_gpu.report()
                self.forget()
                self.launch()
                second = twill_gpu.report()
                kernels, again = ([(row.kernel, row.num_warps, row.num_stages, row.arch, row.runs, row.why, row.key) for row in found.compilations]
                                  for found in (first, second))
                self.assertEqual(kernels, again)
                row, = second.races
                self.assertEqual((row.takes, row.new_us, row.held_us, row.from_cache), (TAKES[self.wins], 10.0, 20.0, True))
                self.assertIn("measured before", str(row))
                self.assertIn("kernels_under_test.py:", twill_gpu.explain(gemm).raw["story"])
        self.assertEqual(self.contests, 2)

    def test_a_refusal_is_still_known(self):
        with twill_gpu.enabled(decide="never"):
            self.launch()
            self.forget()
            self.launch()
        row, = twill_gpu.report().compilations
        self.assertEqual((row.runs, row.from_cache), ("triton", True))
        self.assertRegex(str(row), r"kernels_under_test\.py:\d+: decide is never \(from the cache\)$")


if __name__ == "__main__":
    unittest.main()
