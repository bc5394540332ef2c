"""Work beside the program: threads that compile while it goes on, and that let it end."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
from typing import Any, Callable, Iterator

from ..program import TwillError


class Ending(TwillError):
    """The process is about to end, and begins no new work."""


class _Workers:
    """Threads at work beside the program, and how many threads are inside of Triton's compiled code."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.threads: set[threading.Thread] = set()
        self.inside = 0
        self.ending = False


_workers = _Workers()
_PATIENT = 3.0  # seconds that the end of a process waits for work beside it


def start(work: Callable[[], Any], awaited: bool = True) -> None:
    """Runs `work` in a thread of its own, which native() stops when the process ends. Threads are long, and few.

    awaited: the end of the process gives it some seconds.
    """

    def run() -> None:
        try:
            work()
        finally:
            _workers.threads.discard(threading.current_thread())

    thread = threading.Thread(target=run, name="twill", daemon=True)
    if awaited:
        _workers.threads.add(thread)
    try:
        thread.start()
    except BaseException:  # there may be no more threads to be had
        _workers.threads.discard(thread)
        raise


@contextlib.contextmanager
def native() -> Iterator[None]:
    """Surrounds calls of Triton's compiled code that other threads run beside. Raises Ending where the process is about to end.

    A daemon thread that comes back from such code into an interpreter that is gone aborts the process.
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
    """Lets work beside the program come to a halt: some seconds to end, and as long as it takes to leave compiled code."""
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
