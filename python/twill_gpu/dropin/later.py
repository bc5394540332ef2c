"""Answers that are on their way in this process: each is asked for once, however many kernels wait for it."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import os
import threading
import time
from typing import Any

from triton.compiler import make_backend

from ..locations import placed
from ..program import TwillError, find_program
from . import beside, settings, state, store
from .answer import Answer, Request, answer
from .records import first_line

# Answers that are made at once: an autotuner begins dozens, and Triton's own compilations shall not wait for cores.
AT_ONCE = max(1, len(os.sched_getaffinity(0)) // 4)

_turns = threading.Semaphore(AT_ONCE)
_lock = threading.Lock()
_running: dict[str, concurrent.futures.Future[Answer]] = {}
_LOOK_AGAIN = 0.05  # seconds between looks at what another process is doing
_MOST = 1000  # answers kept that are on no disk


def begin(request: Request, key: str) -> concurrent.futures.Future[Answer]:
    """The answer about a module, in a thread; that of an earlier call where one is still at work. The future never fails."""
    with _lock:
        known = _running.get(key)
        if known is not None and not known.done():
            return known
        future: concurrent.futures.Future[Answer] = concurrent.futures.Future()
        _running[key] = future

    def work() -> None:
        try:
            with _turns:
                found = _by_one_process(request, key)
        except BaseException as wrong:  # others wait for the future
            found = Answer(key, placed(first_line(wrong), request.text))
        future.set_result(found)
        with _lock:
            if store.read_json(store.answer_path(key)) is not None and _running.get(key) is future:
                del _running[key]
            while len(_running) > _MOST:
                del _running[next(iter(_running))]

    beside.start(work)
    return future


def _by_one_process(request: Request, key: str) -> Answer:
    """The answer; where another process is at work on it, such as a worker of Inductor's or another rank, that one's."""
    while request.settings.cache and not store.claim(key):
        time.sleep(_LOOK_AGAIN)
    try:
        return answer(request, key)
    finally:
        if request.settings.cache:
            store.release(key)


def find(key: str, metadata: Any) -> concurrent.futures.Future[Answer]:
    """The answer with this key: from this process, from disk, or asked for anew where the process that had begun is gone.

    metadata: of Triton's kernel, which has the options it was compiled with. Raises TwillError where the module is gone.
    """
    with _lock:
        known = _running.get(key)
    if known is not None:
        return known
    on_disk = store.get_answer(key)
    if on_disk is not None:
        future: concurrent.futures.Future[Answer] = concurrent.futures.Future()
        future.set_result(Answer(key=key, from_cache=True, **on_disk))
        return future
    return begin(_request_again(key, metadata), key)


def _request_again(key: str, metadata: Any) -> Request:
    from .backend import TwillOptions

    try:
        text = store.text_path(key).read_text(encoding="utf-8")
    except OSError:
        raise TwillError("Twill's kernel is no longer in the cache") from None
    backend = make_backend(metadata.target)
    fields = [field.name for field in dataclasses.fields(TwillOptions) if hasattr(metadata, field.name)]
    options = TwillOptions(**{name: _as_given(getattr(metadata, name)) for name in fields})
    chosen = state.current().changed(**settings.parse_overlay(options.twill))
    return Request(text, options, {"target": metadata.target, **vars(options)}, backend._parse_arch(options.arch), backend, chosen,
                   find_program())


def _as_given(value: Any) -> Any:
    """An option's value as it was before it became JSON, which makes lists of tuples. Options are hashed, so none was a list."""
    return tuple(map(_as_given, value)) if isinstance(value, list) else value


def wait(timeout_s: float | None = None) -> bool:
    """Waits until every kernel of Twill's that is on its way in this process is there, at most `timeout_s` seconds.

    Returns whether all are. The next launch of each races, so this goes before measurements and captures.
    """
    with _lock:
        running = list(_running.values())
    return not concurrent.futures.wait(running, timeout_s).not_done


def clear() -> None:
    """Forgets the answers of this process; those at work end for nobody."""
    with _lock:
        _running.clear()


def _after_fork() -> None:
    global _lock, _running, _turns
    _lock, _running, _turns = threading.Lock(), {}, threading.Semaphore(AT_ONCE)  # what is at work stays behind in the parent


os.register_at_fork(after_in_child=_after_fork)
