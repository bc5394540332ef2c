"""Sweeps over workers: order, errors of single inputs, and workers that break."""

import concurrent.futures
import os
import pathlib
import threading
import unittest
from unittest import mock

import twill_gpu
from twill_gpu import solving

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LOOPS = [ROOT / "loops" / name for name in ("fig1.loop", "gemm.loop", "fwd_h1.loop")]
INTERVALS = [twill_gpu.schedule(path).interval for path in LOOPS]


def die():
    """The first call of a worker of a broken pool."""
    os._exit(1)


class Flaky(concurrent.futures.Executor):
    """Breaks on every second task of its first round."""

    def __init__(self):
        self.submitted = 0
        self.pool = concurrent.futures.ThreadPoolExecutor(2)

    def submit(self, function, /, *arguments, **more):
        self.submitted += 1
        if self.submitted <= 3 and self.submitted % 2 == 1:
            future = concurrent.futures.Future()
            future.set_exception(ConnectionError("the worker is gone"))
            return future
        return self.pool.submit(function, *arguments, **more)


class Sweep(unittest.TestCase):
    def intervals(self, **how):
        return [outcome.schedule.interval for outcome in twill_gpu.sweep([twill_gpu.task(path) for path in LOOPS], **how)]

    def test_outcomes_come_in_the_order_of_the_tasks(self):
        self.assertEqual(self.intervals(), INTERVALS)

    def test_sources_are_tasks(self):
        self.assertEqual([(outcome.label, outcome.schedule.interval) for outcome in twill_gpu.sweep(LOOPS[:1])], [(str(LOOPS[0]), INTERVALS[0])])

    def test_processes(self):
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            self.assertEqual(self.intervals(executor=pool), INTERVALS)

    def test_a_broken_pool_loses_nothing(self):
        with concurrent.futures.ProcessPoolExecutor(2, initializer=die) as pool:
            self.assertEqual(self.intervals(executor=pool), INTERVALS)

    def test_tasks_of_a_lost_worker_are_tried_again_there(self):
        flaky = Flaky()
        self.assertEqual(self.intervals(executor=flaky), INTERVALS)
        self.assertEqual(flaky.submitted, 5)  # three tasks, and two again

    def test_outcomes_are_heard_of_as_they_come(self):
        """Protects observers: a long task once held up all later ones."""
        gate, heard = threading.Event(), []

        class Slow(concurrent.futures.ThreadPoolExecutor):
            def submit(self, function, one):
                return super().submit(lambda: (one.label != "slow" or gate.wait(60)) and function(one))
        tasks = [twill_gpu.task(LOOPS[0], label=label) for label in ("slow", "fast", "last")]

        def hear(outcome):
            heard.append(outcome.label)
            if len(heard) == 2:
                gate.set()
        with Slow(3) as slow:
            outcomes = twill_gpu.sweep(tasks, slow, on_outcome=hear)
        self.assertEqual((heard[2], [outcome.label for outcome in outcomes]), ("slow", ["slow", "fast", "last"]))

    def test_what_on_outcome_raises_ends_the_sweep(self):
        def stop(_):
            raise ValueError("enough")
        with self.assertRaisesRegex(ValueError, "enough"):
            twill_gpu.sweep([twill_gpu.task(path) for path in LOOPS], on_outcome=stop)

    def test_where_nobody_has_an_answer_the_reason_is_kept(self):
        with mock.patch.dict(os.environ, TWILL_PROGRAM="/nowhere/twill"):
            outcome, = twill_gpu.sweep([twill_gpu.task(LOOPS[0])])
        self.assertIsNone(outcome.schedule)
        self.assertRegex(outcome.error, "^no worker had an answer: ProgramNotFound: .*/nowhere/twill")

    def test_an_input_that_is_refused_stops_nobody(self):
        heard = []
        tasks = [twill_gpu.task(LOOPS[0]), twill_gpu.task("loop x\nnonsense\n", label="bad"), twill_gpu.task(LOOPS[1])]
        outcomes = twill_gpu.sweep(tasks, on_outcome=heard.append)
        self.assertEqual([outcome.error == "" for outcome in outcomes], [True, False, True])
        self.assertIn("2:1", outcomes[1].error)
        self.assertEqual((outcomes[1].label, len(heard)), ("bad", 3))
        self.assertRegex(str(outcomes[1]), "^bad: .*2:1")
        for outcome in outcomes:  # in notebooks
            self.assertIn(outcome.label, outcome._repr_html_())
            self.assertEqual("<table>" in outcome._repr_html_(), outcome.schedule is not None)

    def test_a_refusal_is_at_the_line_of_the_users_source(self):
        """Protects sweeps over tiles of a Triton function, whose texts the user never sees."""
        refused = twill_gpu.Refused(3, twill_gpu.Diagnostic("standard input", 1, 4, "no such thing"))
        with mock.patch.object(solving, "run_task", side_effect=refused):
            outcomes = twill_gpu.sweep([twill_gpu.task(text, label="k, BM=64") for text in ('%0 = x loc("/home/k.py":7:3)\n', "%0 = x\n")])
        self.assertEqual([outcome.error for outcome in outcomes], ["k.py:7: no such thing", "k, BM=64:1:4: no such thing"])


if __name__ == "__main__":
    unittest.main()
