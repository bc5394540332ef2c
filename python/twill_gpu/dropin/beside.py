"""Work beside the program: threads that compile while the program goes on, and that let it end."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
import time
from typing import Any, Callable, Iterator

from ..program import TwillError


class Ending(TwillError):
    """The process is about to end, and must not begin new work."""


class _Workers:
    """Threads at work beside the program, and the number of threads inside Triton's compiled code."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.threads: set[threading.Thread] = set()
        self.inside = 0
        self.ending = False


_workers = _Workers()
_PATIENT = 3.0  # seconds that the end of a process waits for work beside it
_NICER = 10  # steps by which the program has priority; with 2 cores and other work, Triton's own compilation took up to 2.6 times as long without them


def start(work: Callable[[], Any], awaited: bool = True) -> None:
    """Runs `work` in a thread of its own, which native() stops when the process ends. Threads run long, and are few.

    The program itself comes first where there are too few cores: the thread, and programs that it starts, have a lower priority.

    awaited: the end of the process gives it some seconds.
    """

    def run() -> None:
        try:
            _give_way()
            work()
        finally:
            _workers.threads.discard(threading.current_thread())

    thread = threading.Thread(target=run, name="twill", daemon=True)
    if awaited:
        _workers.threads.add(thread)
    try:
        thread.start()
    except BaseException:  # the system may have no more threads
        _workers.threads.discard(thread)
        raise


def _give_way() -> None:
    """Lowers the priority of this thread, and of programs that it starts. Only Linux has priorities of threads."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # a sandbox may forbid even this
            os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) + _NICER)


@contextlib.contextmanager
def native() -> Iterator[None]:
    """Surrounds calls of Triton's compiled code beside which other threads run. Raises Ending if the process is about to end.

    A daemon thread that returns from such code into an interpreter that is gone aborts the process.
    """
    workers = _workers
    with workers.changed:
        if workers.ending:
            raise Ending("the process is about to end")
        workers.inside += 1
    try:
        yield
    finally:
        with workers.changed:
            workers.inside -= 1
            workers.changed.notify_all()


def _end() -> None:
    """Stops work beside the program: waits some seconds for its end, and without a limit until it leaves compiled code."""
    with _workers.changed:
        _workers.ending = True
    last = time.monotonic() + _PATIENT
    for thread in list(_workers.threads):
        thread.join(max(0.0, last - time.monotonic()))
    with _workers.changed:
        _workers.changed.wait_for(lambda: _workers.inside == 0)


def _forget() -> None:
    global _workers
    _workers = _Workers()  # threads stay behind in the parent


atexit.register(_end)
os.register_at_fork(after_in_child=_forget)
