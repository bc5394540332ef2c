"""The race without a GPU: contenders, winners, stored decisions, and Triton's kernel in case of doubt. Launches are recorded, times are invented."""

import collections
import concurrent.futures
import itertools
import random
import threading
import types
import unittest
from unittest import mock

from kernels_under_test import fresh_cache
from no_gpu import steps

from triton.backends.nvidia.driver import CudaLauncher
from triton.runtime import driver
from twill_gpu.dropin import call, contest, later, race, records, settings
from twill_gpu.dropin.answer import Answer


REAL_LOAD = race.load


class Array:
    """A tensor that has a place in memory."""

    def __init__(self, at):
        self.at = at

    def untyped_storage(self):
        return types.SimpleNamespace(data_ptr=lambda: self.at)


Metadata = collections.namedtuple("Metadata", ["name", "twill"])


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
        self.capturing, self.device, self.loaded = False, "GPU 1", 0
        self.begun, self.over_tiles = 0, concurrent.futures.Future()  # the kernel that walks tiles
        for owner, name, stub in ((contest, "decide", self.decide), (contest, "timer_on", lambda stream: stream), (race, "load", self.load),
                                  (race, "_capturing", lambda: self.capturing), (later, "known", lambda key: self.answer), (later, "begin_over_tiles", self.begin_over_tiles),
                                  (race, "_processors", lambda: 132), (race, "_current_device", lambda: 0)):
            self.addCleanup(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, stub)
        self.answer = concurrent.futures.Future()
        self.answer.set_result(Answer("KEY", "", cubin="theirs"))

    def decide(self, twill, triton, stream, chosen):
        self.measured.append(stream)
        twill()
        triton()
        return contest.Verdict(max(self.times[0]) <= (1 - chosen.margin) * max(self.times[1]), *self.times, 8)

    def load(self, source, metadata, found, processors=0):
        self.loaded += 1
        name = "over tiles" if processors else "twill"
        return (lambda *arguments: self.launches.append((name, arguments))), self.device

    def begin_over_tiles(self, *_):
        self.begun += 1
        return self.over_tiles

    def launcher(self, key="KEY", twill="", **changes):
        real, race.state.current = race.state.current, lambda: settings.Settings(**changes)
        try:
            source = types.SimpleNamespace(fn=None, constants={}, signature={"x": "*fp32", "y": "*fp32", "n": "i32"})
            made = race.Racer(source, Metadata("k", twill), {"key": key, "read": [0], "written": [1]},
                              lambda *arguments: self.launches.append(("triton", arguments)))
            made.look()
        finally:
            race.state.current = real
        return made.call

    def launch(self, launcher, n=1000, read=100, written=200, grid=(8, 1, 1)):
        self.launches.clear()
        launcher(*grid, 77, "function", "facts", "metadata", "enter", "exit", Array(read), Array(written), n)
        return self.launches[-1][0]


class Race(Case):
    def test_the_faster_one_takes_this_and_later_launches(self):
        launcher = self.launcher()
        self.assertEqual(self.launch(launcher), "twill")
        self.assertEqual(self.launch(launcher), "twill")
        self.assertEqual((self.measured, len(self.launches)), ([77], 1))

    def test_both_sides_get_the_whole_launch(self):
        launcher = self.launcher()
        self.launch(launcher)
        _, arguments = self.launches[-1]
        self.assertEqual(arguments[:9], (8, 1, 1, 77, "function", "facts", "metadata", "enter", "exit"))
        self.times = self.times[::-1]
        self.launch(self.launcher("OTHER"))
        self.assertEqual((self.launches[-1][0], self.launches[-1][1][:9]), ("triton", arguments[:9]))

    def test_neither_side_of_a_contest_goes_a_longer_way(self):
        """Protects small launches: Triton's launcher takes the host longer than our call, and a contest must not see that."""
        ways, real = [], call.one_kernel
        self.addCleanup(setattr, call, "one_kernel", real)
        call.one_kernel = lambda *arguments: ways.append(arguments[1:]) or real(*arguments)
        self.launch(self.launcher())
        self.assertEqual(ways, [("function", "facts")])

    def test_launch_hooks_hear_nothing_of_a_race(self):
        self.launch(self.launcher())
        for _, arguments in self.launches[:-1]:
            self.assertEqual(arguments[6:9], (None, None, None))

    def test_ties_are_tritons(self):
        for twill, takes in ((10.0, "twill"), (18.9, "twill"), (19.1, "triton"), (20.0, "triton"), (25.0, "triton")):
            self.times = ((twill, 1.0), (20.0, 1.0))
            self.assertEqual(self.launch(self.launcher(str(twill))), takes, twill)

    def test_sizes_of_as_many_bits_share_a_decision_and_others_do_not(self):
        launcher = self.launcher()
        for n, races in ((1000, 1), (600, 1), (1023, 1), (1024, 2), (5000, 3)):
            self.launch(launcher, n)
            self.assertEqual(len(self.measured), races, n)

    def test_a_bucket_is_looked_for_on_disk_once(self):
        """Protects programs whose sizes differ with each launch: the disk is not asked for each of them."""
        read, real = [], race.store.read_json
        self.addCleanup(setattr, race.store, "read_json", real)
        race.store.read_json = lambda path: read.append(path) or real(path)
        launcher = self.launcher()
        for n in range(512, 1024, 50):
            self.launch(launcher, n)
        self.assertEqual((len(read), len(self.measured)), (1, 1))

    def test_sizes_that_never_repeat_are_not_kept_for_ever(self):
        self.addCleanup(setattr, call, "MOST_SIZES", call.MOST_SIZES)
        call.MOST_SIZES = 4
        launcher = self.launcher()
        for n in range(512, 532):
            self.assertEqual(self.launch(launcher, n), "twill")
            self.assertLessEqual(len(launcher.decided), 4)

    def test_decisions_outlive_the_process(self):
        self.launch(self.launcher())
        self.assertEqual(self.launch(self.launcher()), "twill")
        self.assertEqual(len(self.measured), 1)

    def test_decisions_belong_to_a_margin(self):
        """Protects users who lower the margin: a kernel that was not fast enough then may be now."""
        self.times = ((19.5e-6, 1e-6), (20e-6, 1e-6))
        self.assertEqual(self.launch(self.launcher()), "triton")
        self.assertEqual(self.launch(self.launcher(margin=0.01)), "twill")
        self.assertEqual(len(self.measured), 2)

    def test_decisions_belong_to_a_device(self):
        self.launch(self.launcher())
        self.device = "GPU 2"
        self.launch(self.launcher())
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


class Devices(Case):
    """Three GPUs of two models in one process."""

    MODELS = ("H100", "H100", "H200")

    def setUp(self):
        super().setUp()
        self.current, self.loads = 0, []
        active = types.SimpleNamespace(utils=types.SimpleNamespace(load_binary=self.load_binary), get_current_device=lambda: self.current)
        answer = Answer("KEY", "", cubin=race.store.put_cubin(b"code"), metadata={"shared": 1000, "num_warps": 12})
        self.answer = concurrent.futures.Future()
        self.answer.set_result(answer)
        for owner, name, stub in ((driver, "_active", active), (race, "_current_device", lambda: self.current), (race, "load", REAL_LOAD), (race, "_device_name", self.MODELS.__getitem__),
                                  (race, "CudaLauncher", lambda source, metadata: self.launched),
                                  (race.CUDABackend, "pack_metadata", lambda _, metadata: metadata.num_warps)):
            self.addCleanup(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, stub)

    def load_binary(self, name, cubin, shared, device):
        self.loads.append((name, cubin, shared, device))
        return None, f"function on {device}", 0, 0, 1024

    def launched(self, x, y, z, stream, function, packed, *rest):
        self.launches.append(("twill", (function, packed)))

    def on(self, device, **changes):
        """A kernel that is compiled for a device, as Triton does for each, and its first launch there."""
        self.current = device
        launcher = self.launcher(**changes)
        self.assertEqual(self.launch(launcher), "twill")
        self.assertEqual(self.launches[-1][1], (f"function on {device}", 12))
        return launcher

    def test_each_has_a_kernel_of_its_own_and_models_decide_apart(self):
        launchers = [self.on(device) for device in range(3)]
        self.assertEqual(self.loads, [("k", b"code", 1000, device) for device in range(3)])
        self.assertEqual(len(self.measured), 2)  # GPUs of one model share a decision on disk
        self.assertEqual([(row.device, row.from_cache) for row in records.report().races], [("H100", False), ("H100", True), ("H200", False)])
        for device in (2, 0, 1, 2):
            self.current = device
            self.assertEqual(self.launch(launchers[device]), "twill")
            self.assertEqual(self.launches[-1][1][0], f"function on {device}")
        self.assertEqual(len(self.measured), 2)

    def test_a_kernel_that_walks_has_a_cta_for_each_sm_of_its_own_device(self):
        """Protects several devices: function, number of SMs and the grid that is handed over are those of the device."""
        code = race.store.put_cubin(b"walks")
        self.over_tiles.set_result(Answer("", "", cubin=code, metadata={"shared": 2000, "num_warps": 8}))
        sources, grid = [], (20, 10, 5)
        race.CudaLauncher = lambda source, metadata: sources.append(source) or (lambda *arguments: self.launches.append(("twill", arguments)))
        for device, processors in ((0, 132), (2, 78)):
            race._processors = lambda processors=processors: processors
            self.current = device
            launcher = self.launcher()
            self.assertEqual(self.launch(launcher, grid=grid), "twill")
            arguments = self.launches[-1][1]
            self.assertEqual(arguments[:9], (processors, 1, 1, 77, f"function on {device}", 8, "metadata", "enter", "exit"))
            self.assertEqual(arguments[-4:], (1000, *grid))
            self.assertEqual(self.loads[-1], ("k", b"walks", 2000, device))
        self.assertEqual([list(source.signature) for source in sources[:2]], [["x", "y", "n"], ["x", "y", "n", *race.over_tiles.GRID]])

    def test_one_that_decides_otherwise_changes_nothing_for_the_others(self):
        first = self.on(0)
        self.current, self.times = 2, self.times[::-1]
        other = self.launcher()
        self.assertEqual(self.launch(other), "triton")
        for device, launcher, takes in ((0, first, "twill"), (2, other, "triton"), (0, first, "twill")):
            self.current = device
            self.assertEqual(self.launch(launcher), takes)

    def test_a_kernel_is_loaded_and_measured_on_no_other_device(self):
        """Protects launches by a stream of one device while another is current: a kernel that is loaded there fails on this one."""
        self.answer, answer = concurrent.futures.Future(), self.answer
        self.current = 1
        launcher = self.launcher()
        self.assertEqual(self.launch(launcher), "triton")
        self.answer.set_result(answer.result())
        for device in (0, 2):
            self.current = device
            self.assertEqual(self.launch(launcher), "triton")
        self.assertEqual((self.loads, self.measured, launcher.decided), ([], [], {}))
        self.current = 1
        self.assertEqual(self.launch(launcher), "twill")
        self.assertEqual(self.loads, [("k", b"code", 1000, 1)])

    def test_without_a_cache_each_decides(self):
        for device in range(3):
            self.on(device, cache=False)
        self.assertEqual(len(self.measured), 3)


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

    def test_launches_are_tritons_until_the_other_kernel_is_there(self):
        """Protects first launches: no launch waits for Twill's kernel, which races when it is finished."""
        there, self.answer = self.answer, concurrent.futures.Future()
        launcher = self.launcher()
        self.assertEqual([self.launch(launcher) for _ in range(3)], ["triton"] * 3)
        self.assertEqual((self.measured, self.loaded), ([], 0))
        self.answer.set_result(there.result())
        self.capturing = True  # a GPU that captures must not load kernels
        self.assertEqual((self.launch(launcher), self.loaded), ("triton", 0))
        self.capturing = False
        self.assertEqual((self.launch(launcher), self.loaded), ("twill", 1))

    def test_a_refusal_that_comes_late_is_said_once(self):
        self.answer = concurrent.futures.Future()
        launcher = self.launcher()
        self.launch(launcher)
        self.answer.set_result(Answer("KEY", "k.py:3: cannot be planned"))
        for n in (5, 50, 500):
            self.assertEqual(self.launch(launcher, n), "triton")
        row, = records.report().races
        self.assertEqual(row.why, "k.py:3: cannot be planned")

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
        contest.decide = broken
        launcher = self.launcher()
        self.assertEqual(self.launch(launcher), "triton")
        row, = records.report().races
        self.assertEqual((row.takes, row.why), ("triton", "RuntimeError: out of resources"))

    def test_a_launch_that_cannot_even_be_looked_at_is_tritons(self):
        """Protects launches with unknown arguments, or in unknown processes, such as one without PyTorch. One line is enough."""
        def gone():
            raise ImportError("no module torch")
        there, self.answer = self.answer, concurrent.futures.Future()
        launcher = self.launcher()
        self.answer.set_result(there.result())
        race._capturing = gone
        for n in (5, 50, 500):
            self.assertEqual(self.launch(launcher, n), "triton")
        launcher = self.launcher("OTHER")
        self.assertEqual(self.launch(launcher, "no number"), "triton")
        self.assertEqual([row.why for row in records.report().races],
                         ["ImportError: no module torch", "ValueError: invalid literal for int() with base 10: 'no number'"])

    def test_threads_race_once(self):
        launcher = self.launcher()
        threads = [threading.Thread(target=launcher, args=(8, 1, 1, 77, "f", "p", None, None, None, Array(1), Array(2), 9)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(self.measured), 1)


class OverTiles(Case):
    """The kernel that walks tiles: another kernel that comes after the first, for launches of many tiles."""

    MANY = (20, 5, 4)

    def setUp(self):
        super().setUp()
        self.came = Answer("KEY OVER TILES", "", cubin="walks")

    def many(self, launcher, **more):
        return self.launch(launcher, grid=self.MANY, **more)

    def test_it_races_when_it_is_there(self):
        """Protects launches: none waits for it, and decisions without it are taken again, once."""
        launcher = self.launcher()
        self.assertEqual([self.many(launcher) for _ in range(2)], ["twill"] * 2)
        self.assertEqual((self.begun, self.loaded, len(self.measured)), (1, 1, 1))
        self.over_tiles.set_result(self.came)
        self.assertEqual([self.many(launcher) for _ in range(2)], ["over tiles"] * 2)
        self.assertEqual((self.begun, self.loaded, len(self.measured)), (1, 2, 2))
        first, second = records.report().races
        self.assertEqual((first.new, first.held, first.takes), ("twill", "triton", "twill"))
        self.assertEqual((second.new, second.held, second.takes), ("twill over tiles", "twill", "twill over tiles"))
        self.assertIn("takes twill over tiles: twill over tiles 10.0 us, twill 20.0 us (2.00x)", str(second))

    def test_it_races_the_one_that_has_such_launches(self):
        self.times = self.times[::-1]
        launcher = self.launcher()
        self.assertEqual(self.many(launcher), "triton")
        self.times = self.times[::-1]
        self.over_tiles.set_result(self.came)
        self.assertEqual(self.many(launcher), "over tiles")
        self.assertEqual(records.report().races[-1].held, "triton")

    def test_ties_leave_what_was(self):
        launcher = self.launcher()
        self.many(launcher)
        self.times = ((19.1e-6, 1e-6), (20e-6, 1e-6))
        self.over_tiles.set_result(self.came)
        self.assertEqual(self.many(launcher), "twill")

    def test_both_are_there_at_once_in_the_next_process(self):
        self.over_tiles.set_result(self.came)
        for _ in range(2):
            self.assertEqual(self.many(self.launcher()), "over tiles")
            self.assertEqual(len(self.measured), 2)
        self.capturing = True
        launcher = self.launcher()
        self.assertEqual(self.many(launcher), "twill")  # a GPU that captures must not load kernels
        self.capturing = False
        self.assertEqual(self.many(launcher), "over tiles")

    def test_a_decision_against_another_one_is_made_again(self):
        """Protects "never slower": a kernel that is faster than Twill's other kernel may still be slower than Triton's."""
        self.over_tiles.set_result(self.came)
        self.many(self.launcher())
        bucket = race.bucket_of((*self.MANY, 1000))
        path = race.store.race_path("KEY", "GPU 1", bucket)
        race.store.write_json(path, {**race.store.read_json(path), "wins": False})
        self.times = self.times[::-1]
        self.assertEqual(self.many(self.launcher()), "triton")
        path = race.store.race_path(race.over_tiles.key_of("KEY"), "GPU 1", bucket)
        self.assertEqual(race.store.read_json(path)["held"], "triton")

    def test_launches_of_few_tiles_are_not_walked(self):
        launcher = self.launcher()
        self.over_tiles.set_result(self.came)
        for grid, begun, takes in (((8, 1, 1), 0, "twill"), ((263, 1, 1), 0, "twill"), ((1, 264, 1), 1, "over tiles"), ((8, 1, 1), 1, "twill"),
                                   ((2**15, 2**15, 1), 1, "twill")):
            self.assertEqual((self.launch(launcher, grid=grid), self.begun), (takes, begun), grid)

    def test_off(self):
        for launcher in (self.launcher("A", persistent=False), self.launcher("B", twill="persistent=0")):
            self.assertEqual(self.many(launcher), "twill")
        self.assertEqual(self.begun, 0)

    def test_a_capture_takes_what_has_such_launches(self):
        launcher = self.launcher()
        self.many(launcher)
        self.over_tiles.set_result(self.came)
        self.capturing = True
        self.assertEqual((self.many(launcher), self.loaded), ("twill", 1))
        self.capturing = False
        self.assertEqual((self.many(launcher), self.loaded), ("over tiles", 2))
        self.capturing = True
        self.assertEqual(self.many(launcher), "over tiles")

    def test_memory_that_is_read_and_written_is_not_raced_on(self):
        launcher = self.launcher()
        self.many(launcher)
        self.over_tiles.set_result(self.came)
        self.assertEqual(self.many(launcher, read=7, written=7), "twill")
        self.assertEqual((len(self.measured), self.many(launcher)), (1, "over tiles"))

    def test_a_refusal_leaves_the_others_and_one_line(self):
        launcher = self.launcher()
        self.many(launcher)
        self.over_tiles.set_result(Answer("KEY OVER TILES", "k.py:3: tt.atomic_rmw in a loop over tiles"))
        self.assertEqual([self.many(launcher, n=n) for n in (5, 50, 500)], ["twill"] * 3)
        row, = (row for row in records.report().races if row.why)
        self.assertEqual(str(row), "k on GPU 1: takes twill, not twill over tiles: k.py:3: tt.atomic_rmw in a loop over tiles")

    def test_one_that_cannot_be_loaded_or_begun_leaves_the_others(self):
        def broken(*_):
            raise RuntimeError("out of memory")
        launcher = self.launcher()
        self.many(launcher)
        self.over_tiles.set_result(self.came)
        race.load = broken
        self.assertEqual([self.many(launcher, n=n) for n in (5, 50)], ["twill"] * 2)
        race.load, race._processors = self.load, broken
        self.assertEqual(self.many(self.launcher("OTHER")), "twill")
        self.assertEqual([row.why for row in records.report().races if row.why], ["RuntimeError: out of memory"] * 2)

    def test_where_the_first_is_refused_no_word_is_said_of_it(self):
        there, self.answer = Answer("KEY", "k.py:3: cannot be planned"), concurrent.futures.Future()
        launcher = self.launcher()
        self.many(launcher)
        self.answer.set_result(there)
        self.over_tiles.set_result(Answer("KEY OVER TILES", "the kernel itself is refused"))
        self.assertEqual([self.many(launcher, n=n) for n in (5, 50)], ["triton"] * 2)
        row, = records.report().races
        self.assertEqual(row.why, "k.py:3: cannot be planned")


class Parts(unittest.TestCase):
    def test_positions_of_arguments(self):
        signature = ["tensordesc<fp16[128, 64]>", "*fp32", "constexpr", "i32", "tensordesc<fp16[64]>"]
        self.assertEqual(race.positions(signature), [0] * 5 + [1, 3] + [4] * 3)
        for unknown in (("i32", "i32"), "tensordesc_im2col<fp16[8,8]>"):
            with self.assertRaises(ValueError):
                race.positions([unknown])

    def test_kernels_without_a_second_keep_tritons_launcher(self):
        """Protects the cost of a launch: kernels that do not race have no additional code."""
        records.clear()
        gone = types.SimpleNamespace(name="k", twill_kernel={"key": "not there", "read": [], "written": []})
        with mock.patch.object(race, "CudaLauncher", lambda source, metadata: "Triton's own"), \
                mock.patch.object(race, "_current_device", lambda: 0):
            self.assertEqual(race.launcher(None, types.SimpleNamespace(name="k")), "Triton's own")
            self.assertEqual(race.launcher(types.SimpleNamespace(signature={}), gone), "Triton's own")
        self.assertIn("no longer in the cache", records.report().races[0].why)


class Clock:
    """A timer of made-up kernels: seconds of the sides' next turns, and how often each was launched."""

    def __init__(self, twill, triton, host=1e-6):
        self.sides, self.host, self.launches = {"twill": twill, "triton": triton}, host, {"twill": 0, "triton": 0}
        self.turns = {"twill": 0, "triton": 0}

    def decide(self, **changes):
        return contest.decide(lambda: "twill", lambda: "triton", self.turn, settings.Settings(**changes))

    def turn(self, launch, launches):
        side = launch()
        self.launches[side] += launches
        self.turns[side] += 1
        return next(self.sides[side]), self.host[side] if isinstance(self.host, dict) else self.host


def steady(seconds):
    return itertools.repeat(seconds)


def noisy(seconds, noise, seed):
    source = random.Random(seed)
    return (seconds * (1 + abs(source.gauss(0, noise))) for _ in itertools.count())


class Contest(unittest.TestCase):
    def test_clear_ones_are_short(self):
        for twill, wins in ((80e-6, True), (94e-6, True), (96e-6, False), (100e-6, False), (150e-6, False)):
            found = Clock(steady(twill), steady(100e-6)).decide()
            self.assertEqual((found.wins, found.turns), (wins, contest.TURNS), twill)

    def test_sides_take_milliseconds(self):
        """Protects small kernels, whose single launches say nothing: each side has milliseconds of launches."""
        for seconds in (5e-6, 50e-6, 1e-3):
            clock = Clock(steady(0.5 * seconds), steady(seconds))
            clock.decide(race_ms=6.0)
            self.assertGreaterEqual(clock.launches["triton"] * seconds, min(6e-3, 0.9 * contest.TURNS * contest.MOST_LAUNCHES * seconds), seconds)

    def test_long_kernels_are_not_launched_often(self):
        clock = Clock(steady(0.2), steady(0.3))
        self.assertTrue(clock.decide().wins)
        self.assertLessEqual(clock.launches["triton"], 2 + 1 + contest.FEWEST_TURNS)

    def test_a_gain_that_a_warm_gpu_takes_back_is_none(self):
        """Protects programs that launch nothing else: a kernel over tiles won short turns by 8 %, and then ran at 0.96 of Triton's speed."""
        for warm, wins in ((104e-6, False), (99e-6, False), (96e-6, True)):
            clock = Clock(steady(0.0), steady(100e-6))
            cold = clock.turn

            def turn(launch, launches, warm=warm, clock=clock, cold=cold):
                clock.sides["twill"] = steady(warm if launches * 92e-6 > 0.8 * contest.LASTING else 92e-6)
                return cold(launch, launches)
            clock.turn = turn
            found = clock.decide()
            self.assertEqual((found.wins, found.new[0]), (wins, warm))

    def test_what_long_turns_take_is_little(self):
        """Protects first launches: some ten turns of ten milliseconds, and none where Triton wins, or where a launch is as long."""
        for seconds, more in ((100e-6, 10), (20e-3, 0), (200e-3, 0)):
            won, lost = (Clock(steady(twill * seconds), steady(seconds)) for twill in (0.8, 1.2))
            self.assertEqual((won.decide().wins, lost.decide().wins), (True, False))
            self.assertEqual(sum(won.turns.values()) - sum(lost.turns.values()), more, seconds)
            self.assertLessEqual(won.launches["triton"] * seconds, 10 * contest.LASTING + 5 * seconds + 0.4)

    def test_noise_makes_no_winner(self):
        """Protects "never slower": of kernels that are equally fast, or a little slower, none wins by luck."""
        for seed in range(200):
            for ratio in (0.97, 1.0, 1.03):
                clock = Clock(noisy(ratio * 35e-6, 0.06, seed), noisy(35e-6, 0.06, seed + 1000))
                self.assertFalse(clock.decide().wins, (seed, ratio))

    def test_a_gain_is_seen_through_noise(self):
        wins = [Clock(noisy(80e-6, 0.03, seed), noisy(100e-6, 0.03, seed + 1000)).decide().wins for seed in range(100)]
        self.assertGreater(sum(wins), 97)

    def test_a_busy_moment_of_one_side_is_no_win(self):
        """Protects against bursts: most of Triton's turns are disturbed, its best one is not."""
        burst = itertools.chain([35e-6] * 4, [60e-6] * 6, steady(35e-6))
        self.assertFalse(Clock(steady(34.5e-6), burst).decide().wins)

    def test_a_gain_in_some_turns_only_is_looked_at_longer_and_left(self):
        found = Clock(itertools.cycle([80e-6, 80e-6, 80e-6, 99e-6]), steady(100e-6)).decide()
        self.assertEqual((found.wins, found.turns), (False, contest.MOST_TURNS))

    def test_what_the_host_takes_counts(self):
        """Protects small launches, which take as long as the host takes to launch them."""
        self.assertFalse(Clock(steady(10e-6), steady(20e-6), host=52e-6).decide().wins)
        self.assertTrue(Clock(steady(100e-6), steady(200e-6), host=52e-6).decide().wins)

    def test_the_host_alone_decides_nothing(self):
        """Protects small launches: both kernels are launched by the same code, so what the host takes says nothing of them."""
        self.assertFalse(Clock(steady(5e-6), steady(5e-6), host={"twill": 9e-6, "triton": 10e-6}).decide().wins)
        self.assertFalse(Clock(steady(5e-6), steady(4e-6), host={"twill": 9e-6, "triton": 12e-6}).decide().wins)


class Calls(unittest.TestCase):
    """The function that is written for a kernel passes on the arguments of Triton's launcher."""

    ARGUMENTS = (8, 4, 2, 77, "function", "facts", "metadata", "enter", "exit", "a", "b", 512)

    def setUp(self):
        self.heard = []
        self.real = driver._active
        driver._active = types.SimpleNamespace(utils=None, allocate_default_profile_scratch=None)
        self.addCleanup(setattr, driver, "_active", self.real)

    def launcher(self, **changes):
        """Triton's own launcher, as its constructor leaves it, without a GPU."""
        made = CudaLauncher.__new__(CudaLauncher)
        facts = {"num_ctas": 1, "launch_cooperative_grid": False, "launch_pdl": False, "gsan_enabled": False, "arg_annotations": ["a"],
                 "kernel_signature": b"s", "launch": lambda *arguments: self.heard.append(arguments)}
        scratch = {f"{name}_scratch_{what}": value for name in ("global", "profile") for what, value in (("size", 0), ("align", 1))}
        made.__dict__.update({**facts, **scratch, **changes})
        return made

    def test_the_same_launch_as_by_tritons_launcher(self):
        """Protects every version: the order of arguments of each Triton's launcher."""
        launcher = self.launcher()
        launcher(*self.ARGUMENTS)
        self.assertIsNotNone(call.handed_on(launcher))
        for takes in (False, None):
            made = call.decided_call(launcher, [2], {} if takes is None else {(8, 4, 2, 512): False}, lambda *_: False)
            made(*self.ARGUMENTS)
        call.one_kernel(launcher, "function", "facts")(*self.ARGUMENTS[:4], "another", "other facts", *self.ARGUMENTS[6:])
        self.assertEqual(len(self.heard), 4)
        self.assertEqual(set(map(str, self.heard)), {str(self.heard[0])})

    def test_a_kernel_that_walks_tiles_gets_the_grid_and_a_cta_for_each_processor(self):
        """Protects every version: the real grid behind the arguments, hooks and stream as ever."""
        launcher = self.launcher()
        for grid, processors, ctas in (((8, 4, 2), 132, 64), ((80, 40, 2), 132, 132)):
            self.heard.clear()
            call.walking_kernel(launcher, "another", "other facts", processors)(*grid, *self.ARGUMENTS[3:])
            launcher(ctas, 1, 1, 77, "another", "other facts", *self.ARGUMENTS[6:], *grid)
            self.assertEqual(*map(str, self.heard))

    def test_a_decided_launch_takes_the_host_no_longer_than_tritons(self):
        """Protects the cost of a launch: with its decision, it is fewer instructions than Triton's launcher alone."""
        launcher = self.launcher(launch=lambda *_: None)
        plain = steps(lambda: launcher(*self.ARGUMENTS))
        for decision, more in ((False, 0), (call.one_kernel(launcher, "another", "other facts"), 0),
                               (call.walking_kernel(launcher, "another", "other facts", 132), 20)):  # it cuts the grid, and hands it on
            made = call.decided_call(launcher, [2], {(8, 4, 2, 512): decision}, None)
            self.assertLess(steps(lambda: made(*self.ARGUMENTS)), plain + more)
        integers = [2] * 12  # as a kernel through pointers has, sizes and strides
        made = call.decided_call(launcher, integers, {(8, 4, 2, *[512] * 12): False}, None)
        self.assertLess(steps(lambda: made(*self.ARGUMENTS)), plain + 10)

    def test_decisions_are_by_grid_and_integers(self):
        asked = []
        made = call.decided_call(self.launcher(), [0, 2], {}, lambda *rest: asked.append(rest) or (lambda *arguments: self.heard.append("twill")))
        made(*self.ARGUMENTS)
        self.assertEqual(asked, [((8, 4, 2, "a", 512), 77, "function", "facts", ("a", "b", 512))])
        self.assertEqual(self.heard, ["twill"])
        made.decided[8, 4, 2, "a", 512] = False
        made(*self.ARGUMENTS)
        self.assertEqual(len(self.heard[-1]) > 3, True)

    def test_a_launcher_that_does_more_is_called_itself(self):
        """Protects kernels with scratch memory: it is allocated for each launch."""
        launcher = self.launcher(global_scratch_size=128)
        self.assertIsNone(call.handed_on(launcher))
        self.assertIsNone(call.handed_on(lambda *arguments: None))
        launches = []
        call.decided_call(lambda *arguments: launches.append(arguments), [], {}, lambda *_: False)(*self.ARGUMENTS)
        self.assertEqual(launches, [self.ARGUMENTS])


if __name__ == "__main__":
    unittest.main()
