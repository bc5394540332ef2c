"""Sweeps on Dask's own scheduler, with worker processes, one of which is killed."""

import os
import pathlib
import signal
import unittest

from distributed import Client, LocalCluster

import twill_gpu

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LOOPS = [ROOT / "loops" / name for name in ("fig1.loop", "gemm.loop", "fwd_h1.loop", "fwd_h2.loop")]


class Dask(unittest.TestCase):
    def test_a_cluster_carries_a_sweep_and_outlives_a_worker(self):
        expected = [twill_gpu.schedule(path).interval for path in LOOPS]
        with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, Client(cluster) as client:
            executor = client.get_executor()
            tasks = [twill_gpu.task(path) for path in LOOPS]
            self.assertEqual([outcome.schedule.interval for outcome in twill_gpu.sweep(tasks, executor)], expected)
            workers, heard = list(client.run(os.getpid).values()), []

            def hear(outcome):  # a worker is killed in the middle, while others of its tasks are on their way
                heard.append(outcome.number)
                if len(heard) == 2:
                    os.kill(workers[0], signal.SIGKILL)
            outcomes = twill_gpu.sweep(tasks * 4, executor, on_outcome=hear)
            self.assertEqual([outcome.schedule.interval for outcome in outcomes], expected * 4)
            self.assertEqual(sorted(heard), list(range(len(tasks * 4))))


if __name__ == "__main__":
    unittest.main()
