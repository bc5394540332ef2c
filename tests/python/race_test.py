"""The race without a GPU: who may race, who wins, what is kept, and that doubt means Triton. Launches are recorded."""

import threading
import types
import unittest

from kernels_under_test import fresh_cache

from twill_gpu.dropin import race, records, settings


class Array:
    """A tensor that has a place in memory."""

    def __init__(self, at):
        self.at = at

    def untyped_storage(self):
        return types.SimpleNamespace(data_ptr=lambda: self.at)


class Descriptor:
    def __init__(self, at):
        self.base = Array(at)


class Case(unittest.TestCase):
    """A launcher without a GPU: arguments are an array that is read, one that is written, and a number."""

    def setUp(self):
        cache = fresh_cache()
        self.addCleanup(cache.cleanup)
        records.clear()
        self.launches = []
        self.measured = []
        self.times = ((10e-6, 1e-6), (20e-6, 1e-6))  # Twill's, Triton's
        for name, stub in (("measure", self.measure), ("_capturing", lambda: self.capturing)):
            self.addCleanup(setattr, race, name, getattr(race, name))
            setattr(race, name, stub)
        self.capturing = False

    def measure(self, twill, triton, stream, chosen):
        self.measured.append(stream)
        twill()
        triton()
        return self.times

    def launcher(self, **changes):
        made = race.RacingLauncher.__new__(race.RacingLauncher)
        made._plain = lambda *arguments: self.launches.append(("triton", arguments))
        made._twill = lambda *arguments: self.launches.append(("twill", arguments))
        made._function, made._packed, made._name, made._key, made._device = "their function", "their facts", "k", "KEY", "GPU 1"
        made._read, made._written, made._integers = [0], [1], [2]
        made._pick = lambda arguments: arguments[2]
        made._settings, made._decided, made._lock = settings.Settings(**changes), {}, threading.Lock()
        return made

    def launch(self, launcher, n=1000, read=100, written=200):
        self.launches.clear()
        launcher(8, 1, 1, 77, "function", "facts", "metadata", "enter", "exit", Array(read), Array(written), n)
        return self.launches[-1][0]


class Race(Case):
    def test_the_faster_one_takes_this_and_later_launches(self):
        launcher = self.launcher()
        self.assertEqual(self.launch(launcher), "twill")
        self.assertEqual(self.launch(launcher), "twill")
        self.assertEqual((self.measured, len(self.launches)), ([77], 1))

    def test_each_kernel_gets_its_own_function_and_facts(self):
        """Protects launches: Triton's kernel with Twill's number of warps once failed every launch."""
        launcher = self.launcher()
        self.launch(launcher)
        _, arguments = self.launches[-1]
        self.assertEqual(arguments[3:9], (77, "their function", "their facts", "metadata", "enter", "exit"))
        self.times = self.times[::-1]
        other = self.launcher()
        other._key = "OTHER"
        self.launch(other)
        self.assertEqual(self.launches[-1][1][3:9], (77, "function", "facts", "metadata", "enter", "exit"))

    def test_launch_hooks_hear_nothing_of_a_race(self):
        self.launch(self.launcher())
        for _, arguments in self.launches[:-1]:
            self.assertEqual(arguments[6:9], (None, None, None))

    def test_ties_are_tritons(self):
        for twill, takes in ((10.0, "twill"), (18.9, "twill"), (19.1, "triton"), (20.0, "triton"), (25.0, "triton")):
            self.times = ((twill, 1.0), (20.0, 1.0))
            launcher = self.launcher()
            launcher._key = str(twill)
            self.assertEqual(self.launch(launcher), takes, twill)

    def test_what_the_host_takes_counts(self):
        """Protects small launches, which take as long as the host takes to launch them."""
        self.assertFalse(race.takes_twill((10e-6, 52e-6), (20e-6, 52e-6), 0.05))
        self.assertFalse(race.takes_twill((10e-6, 69e-6), (20e-6, 52e-6), 0.05))
        self.assertTrue(race.takes_twill((100e-6, 52e-6), (200e-6, 52e-6), 0.05))

    def test_sizes_of_as_many_bits_share_a_decision_and_others_do_not(self):
        launcher = self.launcher()
        for n, races in ((1000, 1), (600, 1), (1023, 1), (1024, 2), (5000, 3)):
            self.launch(launcher, n)
            self.assertEqual(len(self.measured), races, n)

    def test_decisions_outlive_the_process(self):
        self.launch(self.launcher())
        self.assertEqual(self.launch(self.launcher()), "twill")
        self.assertEqual(len(self.measured), 1)

    def test_decisions_belong_to_a_device(self):
        self.launch(self.launcher())
        other = self.launcher()
        other._device = "GPU 2"
        self.launch(other)
        self.assertEqual(len(self.measured), 2)

    def test_nothing_is_kept_without_a_cache(self):
        for _ in range(2):
            self.launch(self.launcher(cache=False))
        self.assertEqual(len(self.measured), 2)

    def test_a_damaged_decision_is_made_again(self):
        self.launch(self.launcher())
        path = race.store.race_path("KEY", "GPU 1", race.bucket_of((8, 1, 1, 1000)))
        path.write_text("{")
        self.launch(self.launcher())
        self.assertEqual(len(self.measured), 2)


class Doubt(Case):
    def test_a_capture_takes_tritons_and_decides_nothing(self):
        launcher = self.launcher()
        self.capturing = True
        self.assertEqual(self.launch(launcher), "triton")
        self.capturing = False
        self.assertEqual(self.launch(launcher), "twill")

    def test_a_capture_takes_what_was_decided_before(self):
        self.launch(self.launcher())
        self.capturing = True
        self.assertEqual(self.launch(self.launcher()), "twill")

    def test_memory_that_is_read_and_written_is_not_raced_on(self):
        launcher = self.launcher()
        self.assertEqual(self.launch(launcher, read=100, written=100), "triton")
        self.assertEqual((self.measured, len(self.launches)), ([], 1))
        self.assertEqual(self.launch(launcher, read=100, written=200), "twill")

    def test_arguments_without_a_known_place_are_not_raced_on(self):
        self.assertIsNone(race.storage_of(4096))
        self.assertEqual((race.storage_of(Array(7)), race.storage_of(Descriptor(8))), (7, 8))
        launcher = self.launcher()
        launcher(8, 1, 1, 77, "function", "facts", None, None, None, 4096, Array(1), 5)
        self.assertEqual((self.launches[-1][0], self.measured), ("triton", []))

    def test_a_race_that_fails_leaves_triton_and_a_line(self):
        def broken(*_):
            raise RuntimeError("out of resources\nand more")
        race.measure = broken
        launcher = self.launcher()
        self.assertEqual(self.launch(launcher), "triton")
        row, = records.report().races
        self.assertEqual((row.takes, row.why), ("triton", "RuntimeError: out of resources"))

    def test_threads_race_once(self):
        launcher = self.launcher()
        threads = [threading.Thread(target=launcher, args=(8, 1, 1, 77, "f", "p", None, None, None, Array(1), Array(2), 9)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(self.measured), 1)


class Parts(unittest.TestCase):
    def test_positions_of_arguments(self):
        signature = ["tensordesc<fp16[128, 64]>", "*fp32", "constexpr", "i32", "tensordesc<fp16[64]>"]
        self.assertEqual(race.positions(signature), [0] * 5 + [1, 3] + [4] * 3)
        for unknown in (("i32", "i32"), "tensordesc_im2col<fp16[8,8]>"):
            with self.assertRaises(ValueError):
                race.positions([unknown])

    def test_kernels_without_a_second_keep_tritons_launcher(self):
        """Protects the cost of a launch: nothing of ours stands in the way of kernels that are not raced."""
        real, race.CudaLauncher = race.CudaLauncher, lambda source, metadata: "Triton's own"
        try:
            self.assertEqual(race.launcher(None, types.SimpleNamespace(name="k")), "Triton's own")
            gone = types.SimpleNamespace(name="k", twill_kernel={"cubin": "not there", "key": "", "metadata": {}, "read": [], "written": []})
            records.clear()
            self.assertEqual(race.launcher(None, gone), "Triton's own")
            self.assertIn("no longer in the cache", records.report().races[0].why)
        finally:
            race.CudaLauncher = real

    def test_medians(self):
        self.assertEqual(race._medians([(3.0, 30.0), (1.0, 10.0), (2.0, 90.0)]), (2.0, 30.0))


if __name__ == "__main__":
    unittest.main()
