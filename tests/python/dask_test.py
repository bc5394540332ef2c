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
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
            self.assertEqual([outcome.schedule.interval for outcome in twill_gpu.sweep(tasks, executor)], expected)


if __name__ == "__main__":
    unittest.main()
