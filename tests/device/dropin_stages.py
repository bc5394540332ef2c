"""Times of first launches by stage: Triton's compilation and the drop-in's, with begin, length and CPU time."""

import contextlib
import threading
import time

from triton.backends.nvidia.compiler import CUDABackend

from twill_gpu import program
from twill_gpu.dropin import answer, backend, lowering, race

STAGES = ((CUDABackend, "make_llir"), (CUDABackend, "make_ptx"), (lowering, "_make_cubin_with_log"),
          (program._Limit, "read"), (program._Limit, "end"), (answer, "compile_printed"), (backend.Sitting, "_name_contender"), (backend.Sitting, "_ttgir"),
          (backend.Sitting, "_cubin"), (race, "CudaLauncher"), (race, "load"), (race.Racer, "_contest"))


@contextlib.contextmanager
def watched():
    """A list that fills with a row for each stage while the block runs: seconds since its begin, its length, CPU time of its thread."""
    rows, zero = [], time.perf_counter()

    def timed(real, name):
        def stage(*arguments, **more):
            at, cpu = time.perf_counter(), time.thread_time()
            try:
                return real(*arguments, **more)
            finally:
                thread = "Triton's" if threading.current_thread() is threading.main_thread() else "beside"
                rows.append({"stage": name.strip("_"), "thread": thread, "begin_s": at - zero, "wall_s": time.perf_counter() - at,
                             "cpu_s": time.thread_time() - cpu})
        return stage
    before = [(owner, name, getattr(owner, name)) for owner, name in STAGES]
    try:
        for owner, name, real in before:
            setattr(owner, name, timed(real, name))
        yield rows
    finally:
        for owner, name, real in before:
            setattr(owner, name, real)


def lines(rows):
    """The rows as text, in order of their begin."""
    for row in sorted(rows, key=lambda row: row["begin_s"]):
        yield f"  {row['begin_s']:6.2f} {row['wall_s']:6.2f} s, of its thread {row['cpu_s']:5.2f} s  {row['thread']:8} {row['stage']}"
