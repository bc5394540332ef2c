"""Scripts of tests/device without a GPU: their failures, their omissions, and the findings that an interrupted run leaves."""

import contextlib
import io
import json
import pathlib
import queue
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "device"))
sys.modules["torch"] = mock.MagicMock(float16="fp16", __version__="none")

import devices  # noqa: E402
import devices_checks  # noqa: E402
import dropin  # noqa: E402
import dropin_entries  # noqa: E402
import dropin_rows  # noqa: E402
import every  # noqa: E402
import every_cases  # noqa: E402

from twill_gpu.dropin import records  # noqa: E402

TURNS = dropin_rows.Turns([2e-4] * 4, [1e-4] * 4)


def race(**changes):
    return records.Race(**{"kernel": "k", "device": "d", "bucket": "1", "new_us": 1.0, "held_us": 2.0, "takes": "twill", **changes})


def refusal(why):
    return records.Compilation("k", 8, 3, 90, "triton", why, 0.1)


class Script(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.json = pathlib.Path(folder.name) / "found.json"
        records.clear()
        for owner, name, new in ((dropin_rows, "measured", lambda *_, **__: (TURNS, None)), (dropin_rows, "over_tiles", lambda _: (1.5, ["tiles"])),
                                 (dropin_rows, "forced_bits", lambda _: ["forced"]), (dropin_rows, "same_bits", lambda *_: True),
                                 (dropin_rows, "first_launch", lambda case: (0.1, [case.launch()])), (dropin_rows, "warm_up", lambda: None),
                                 (dropin.torch.cuda, "get_device_name", lambda: "a device"),
                                 (dropin_rows.twill_gpu, "enabled", lambda **_: contextlib.nullcontext())):
            patch = mock.patch.object(owner, name, new)
            patch.start()
            self.addCleanup(patch.stop)

    def ran(self, entries, *arguments):
        """Exit code, output, and the file."""
        said = io.StringIO()
        with mock.patch.object(dropin_entries, "entries", lambda: entries), mock.patch.object(sys, "argv", ["dropin.py", "--json", str(self.json), *arguments]), \
                contextlib.redirect_stdout(said):
            code = dropin.main()
        return code, said.getvalue(), json.loads(self.json.read_text())

    def entry(self, name, *rows, **more):
        """A case whose launches leave these rows in the report, once."""
        left = list(rows)

        def launch():
            while left:
                records.add(left.pop(0), False)
        return dropin_entries.Entry(name, lambda: dropin_rows.Case(name, launch, [], 1e9, **more))

    def test_a_row_says_how_much_faster(self):
        code, said, found = self.ran([self.entry("attention", race(), race(new="twill over tiles", takes="twill over tiles"), bar=1.15)])
        self.assertEqual((code, found["wrong"], found["rows"][0]["ratio"], found["rows"][0]["ratio_over_tiles"]), (0, [], 2.0, 1.5))
        self.assertIn("all right", said)

    def test_a_row_that_compares_triton_with_itself_fails(self):
        """Protects the table: a kernel that Twill refuses has Triton's speed on both sides, which is no result."""
        code, said, found = self.ran([self.entry("tutorial 08", refusal("a second loop")), self.entry("pointwise")])
        self.assertEqual((code, found["rows"]), (1, []))
        self.assertIn("tutorial 08: Nothing: nothing to compare: a second loop", found["wrong"])
        self.assertIn("pointwise: Nothing: nothing to compare: no kernel with a product was compiled", found["wrong"])

    def test_a_refusal_that_was_expected_is_said_and_not_timed(self):
        code, said, found = self.ran([self.entry("tutorial 08", refusal("a second loop"), refused="second loop")])
        self.assertEqual((code, found["wrong"], found["rows"][0]["refused"]), (0, [], "a second loop"))
        self.assertIn("Triton's alone, as expected: a second loop", said)

    def test_results_of_other_bits_must_be_right_and_near_plain_tritons_everywhere(self):
        """Protects the end of a launch: the reference has its first rows alone, and a tile that is left out is far from Triton's, or NaN."""
        def wrong(**changes):
            row = {"bits": True, "error_plain": 1e-3, "bits_over_tiles": False, "error_over_tiles": 1e-3, "apart_over_tiles": 1e-6, **changes}
            return list(dropin.wrong_results(row))
        self.assertEqual(wrong(), [])
        self.assertEqual(wrong(bits_over_tiles=True, error_plain=None, error_over_tiles=None, apart_over_tiles=0.0), [])
        self.assertIn("nothing says how far", *wrong(error_plain=None, error_over_tiles=None))
        for error in (2e-3, float("nan")):
            self.assertIn("error_over_tiles", *wrong(error_over_tiles=error))
        for apart in (3e-3, float("nan")):
            self.assertIn("from plain Triton's result", *wrong(apart_over_tiles=apart))

    def test_forced_decisions_are_forgotten_by_kernels_that_have_one_launcher_for_all_settings(self):
        """Protects kernels of Inductor's: decided once, they were never forced, and a forced one would be measured as the drop-in's choice."""
        decided = mock.Mock(_buckets={"bucket": True})
        dropin_rows.Racer.known.add(decided)
        dropin_rows.Racer.forget_all()
        self.assertEqual((decided._buckets, decided._decide_again.call_count, dropin_rows.race.Racer), ({}, 1, dropin_rows.Racer))

    def test_a_kernel_over_tiles_that_is_not_there_needs_its_reason(self):
        lost = race(new="twill over tiles", takes="twill", why="Twill's kernel is no longer in the cache")
        code, _, found = self.ran([self.entry("gemm", race(), lost), self.entry("prints", race(), lost, no_walk="in the cache")])
        self.assertEqual((code, found["wrong"]), (1, [f"gemm: no kernel walks its tiles: {lost.why}"]))

    def test_what_there_was_no_time_for_is_named(self):
        slow = dropin_entries.Entry("slow", lambda: self.fail("it was begun"), 100)
        code, said, found = self.ran([slow, self.entry("gemm", race())], "--seconds", "50")
        self.assertEqual((code, found["left_out"], found["wrong"]), (1, ["slow"], ["left out for want of time: slow"]))
        self.assertEqual([row["case"] for row in found["rows"]], ["gemm"])

    def test_what_no_bar_needs_may_be_left_out(self):
        larger = dropin_entries.Entry("larger", lambda: self.fail("it was begun"), 100, extra=True)
        code, said, found = self.ran([self.entry("gemm", race()), larger], "--seconds", "50")
        self.assertEqual((code, found["left_out"], found["wrong"]), (0, [], []))
        self.assertIn("no bar needs them: larger", said)

    def test_a_run_that_is_cut_short_leaves_what_it_had(self):
        def cut(_):
            raise KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):
            self.ran([self.entry("gemm", race()), dropin_entries.Entry("check cut", cut, 1, True)])
        self.assertEqual([row["case"] for row in json.loads(self.json.read_text())["rows"]], ["gemm"])

    def test_checks(self):
        """Protects the exit code: False, a number, None and a dear launch are failures; True and 0 are not."""
        host = {"race_more_us": 0.6, "plain_us": 20.0, "rounds": []}
        values = {"right": True, "none differ": 0, "wrong": False, "some differ": 3, "late": None, "host": host}
        entries = [dropin_entries.Entry(name, lambda _, value=value: value, 1, True) for name, value in values.items()]
        code, _, found = self.ran(entries)
        self.assertEqual((code, found["checks"]["host"]), (1, host))
        self.assertEqual([line.split(":")[0] for line in found["wrong"]], ["wrong", "some differ", "late", "host"])

    def test_a_check_may_have_bars_of_its_own(self):
        """Protects the model under torch.compile: each bar that it misses is a failure of the run, and its reports are in the file alone."""
        right = {"shared": False, "races_twill": 1, "ratio": 1.0, "error_twill": 1e-4, "error_plain": 1e-4, "first_twill_s": 19.0, "first_plain_s": 10.0, "report_twill": "rows"}
        missed = {**right, "races_twill": 0, "ratio": 0.97, "error_twill": float("nan"), "first_twill_s": 21.0}
        entries = [dropin_entries.Entry(name, lambda _, value=value: value, 1, True, dropin_entries.compiled.missed)
                   for name, value in (("right", right), ("missed", missed))]
        code, said, found = self.ran(entries)
        self.assertEqual((code, [line.split(" ")[1] for line in found["wrong"]]), (1, ["no", "ratio", "error", "first"]))
        self.assertNotIn("rows", said)
        self.assertEqual(found["checks"]["right"], right)

    def test_entries_are_chosen_by_words(self):
        names = [entry.name for entry in dropin_entries.entries()]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual([entry.name for entry in dropin_entries.chosen(["check host", "grouped"])], ["grouped", "check host"])
        code, _, found = self.ran([self.entry("gemm", race())], "--only", "attention")
        self.assertEqual((code, found["rows"]), (1, []))


def said_by(main, *arguments):
    """Exit code and output."""
    said = io.StringIO()
    with mock.patch.object(sys, "argv", ["script", *arguments]), contextlib.redirect_stdout(said):
        code = main()
    return code, said.getvalue()


class Devices(unittest.TestCase):
    def ran(self, found, cards=("a card", "a card")):
        with mock.patch.object(devices, "checked", lambda name, *_: {"check": name, "facts": [], "seconds": 1.0, **found}), \
                mock.patch.object(devices, "cards", lambda: list(cards)):
            return said_by(devices.main, "--only", "streams,graphs")

    def test_a_check_that_is_wrong_fails_the_run(self):
        self.assertEqual((self.ran({"wrong": []})[0], "all right" in self.ran({"wrong": []})[1]), (0, True))
        code, said = self.ran({"wrong": ["other bits"]})
        self.assertEqual((code, said.count("| other bits |"), "2 of 2 checks are wrong" in said), (1, 2, True))

    def test_one_gpu_is_not_enough(self):
        self.assertEqual(self.ran({"wrong": []}, ["a card"])[0], 1)

    def test_a_process_that_says_nothing_is_wrong(self):
        """Protects the table: a check whose process ends early, or has no end, was not passed."""
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(devices, "__file__", f"{folder}/ends.py"):
            pathlib.Path(devices.__file__).write_text("import sys; sys.exit('no GPU')")
            self.assertIn("no GPU", devices.checked("streams", folder, 60)["wrong"][0])
            pathlib.Path(devices.__file__).write_text("import time; time.sleep(60)")
            self.assertIn("no end within 0 s", devices.checked("streams", folder, 0.2)["wrong"][0])

    def test_each_check_is_described(self):
        text = (pathlib.Path(devices.__file__).parent / "README.md").read_text(encoding="utf-8")
        self.assertEqual([name for name in devices_checks.CHECKS if name not in text], [])


class Child:
    """Replaces a process at work: its output lines, one list for each process. `wait` is a process that stops."""

    tells = []

    def __init__(self, *_):
        self.told = self.tells.pop(0)

    def next(self, _):
        told = self.told.pop(0) if self.told else None
        if told == "wait":
            raise queue.Empty
        return told

    def end(self):
        return "its log"


class Every(unittest.TestCase):
    def rows(self, *tells, seconds=100.0):
        Child.tells = list(tells)
        with mock.patch.object(every, "Child", Child):
            return list(every.time_all(["a", "b"], "", every.time.monotonic() + seconds))

    def test_a_kernel_at_which_a_process_ends_is_a_failure_and_the_next_goes_on(self):
        row = {"name": "b", "right": True, "ratio": 1.0, "ratio_gpu": None}
        rows = self.rows([{"begins": "a"}], [{"begins": "b"}, {"row": row}])
        self.assertEqual([(one["name"], list(every.failures_of(one))) for one in rows], [("a", ["its process ended: its log"]), ("b", [])])
        rows = self.rows([{"begins": "a"}, "wait"], [{"begins": "b"}, {"row": row}])
        self.assertEqual(list(every.failures_of(rows[0])), ["no end in time: its log"])

    def test_what_there_was_no_time_for_is_a_failure(self):
        self.assertEqual([list(every.failures_of(row)) for row in self.rows(seconds=0.0)], [["left out for want of time"]] * 2)

    def test_slow_and_wrong_rows_fail(self):
        right = {"right": True, "ratio": 0.99, "ratio_gpu": 0.99}
        failures = [list(every.failures_of({**right, **change})) for change in ({}, {"ratio": 0.97}, {"ratio_gpu": 0.97}, {"right": False}, {"plain_fails": "no room"})]
        self.assertEqual([bool(lines) for lines in failures], [False, True, True, True, False])

    def test_results_of_other_bits_need_an_error_like_plain_tritons(self):
        rows = mock.Mock(same_bits=lambda *_: False, error_of=lambda _, left: left)
        case = mock.Mock(alike=True, reference=lambda: [0])
        for worst, expected in ((1.05e-3, True), (2e-3, False), (float("nan"), False)):
            self.assertEqual(every.right(rows, case, 1e-3, [1e-3, worst, 1e-3])["right"], expected)
        self.assertFalse(every.right(rows, mock.Mock(alike=True, reference=None), 1e-3, [1e-3])["right"])

    def test_each_bundled_kernel_is_there(self):
        """Protects the bar: a kernel without launches cannot count as slower."""
        texts = (pathlib.Path(every_cases.__file__).parents[2] / "kernels").glob("*/sm_90/*.pre.ttgir")
        wanted = {f"bundled {text.parts[-3]}.{text.name.removesuffix('.pre.ttgir')}" for text in texts if "dot" in text.read_text(encoding="utf-8")}
        self.assertEqual(wanted - set(every_cases.CASES), set())


if __name__ == "__main__":
    unittest.main()
