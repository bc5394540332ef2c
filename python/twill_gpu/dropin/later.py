"""Answers in preparation in this process: each is requested once, however many kernels wait for it."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import os
import threading
import time
from typing import Any, Callable

from triton.compiler import make_backend

from ..locations import placed
from ..program import TwillError, find_program
from . import beside, over_tiles, settings, state, store
from .answer import Answer, Request, answer
from .records import first_line

# Answers that are made at the same time: an autotuner begins dozens, and Triton's own compilations must not wait for cores.
AT_ONCE = max(1, len(os.sched_getaffinity(0)) // 4)

_turns = threading.Semaphore(AT_ONCE)
_lock = threading.Lock()
_running: dict[str, concurrent.futures.Future[Answer]] = {}
_at_work: set[concurrent.futures.Future[None]] = set()  # one for each answer in preparation, until all that wait for it know the result
_LOOK_AGAIN = 0.05  # seconds between looks at the state of another process
_STUCK = 600.0  # seconds after which another process is no longer waited for
_MOST = 1000  # answers kept that are on no disk
GONE = "Twill's kernel is no longer in the cache"


def begin(request: Request, key: str) -> concurrent.futures.Future[Answer]:
    """The answer about a module, in a thread. Returns the future of an earlier call that is still at work. The future never fails."""
    return _begin(key, lambda: _by_one_process(request, key), request.text)


def begin_over_tiles(key: str, metadata: Any, first: concurrent.futures.Future[Answer],
                     prepare: Callable[[Answer], Any]) -> concurrent.futures.Future[Answer]:
    """The answer about a kernel that walks tiles, beside the answer about the kernel itself: `first`, by `key`. The future never fails.

    metadata: of Triton's kernel, which has the options of its compilation. prepare: called where the answer was made.
    """
    its_key = over_tiles.key_of(key)

    def make() -> Answer:
        if first.done() and not first.result().accepted:
            return Answer(its_key, "the kernel itself is refused")
        request = _request_again(key, metadata)
        try:
            text = over_tiles.over_tiles(request.text)
        except over_tiles.NoTiles as wrong:
            return Answer(its_key, placed(str(wrong), request.text))
        store.write_whole(store.text_path(its_key), text.encode())
        found = _by_one_process(dataclasses.replace(request, text=text), its_key)
        if found.accepted:
            prepare(found)
        return found

    with _lock:
        running = _running.get(its_key)
    return running or on_disk(its_key) or _begin(its_key, make, "", awaited=False)  # a program has a kernel of Twill's without it


def _begin(key: str, make: Callable[[], Answer], text: str, awaited: bool = True) -> concurrent.futures.Future[Answer]:
    """Runs `make` in a thread; the future has its result. text: the module's, for reasons. awaited: by the end of the process, for some seconds."""
    future: concurrent.futures.Future[Answer] = concurrent.futures.Future()
    heard: concurrent.futures.Future[None] = concurrent.futures.Future()
    with _lock:
        running = _running.get(key)
        if running is not None and not running.done():
            return running
        _running[key] = future
        _at_work.add(heard)

    def end(found: Answer) -> None:
        future.set_result(found)
        with _lock:
            if store.read_json(store.answer_path(key)) is not None and _running.get(key) is future:
                del _running[key]
            while len(_running) > _MOST:
                del _running[next(iter(_running))]
            _at_work.discard(heard)
        heard.set_result(None)

    def work() -> None:
        try:
            with _turns:
                found = make()
        except BaseException as wrong:  # others wait for the future
            found = Answer(key, placed(first_line(wrong), text))
        end(found)

    try:
        beside.start(work, awaited=awaited)
    except BaseException as wrong:  # the system may have no more threads
        end(Answer(key, placed(first_line(wrong), text)))
    return future


def _by_one_process(request: Request, key: str) -> Answer:
    """The answer. If another process is at work on it, such as a worker of Inductor's or another rank, the answer of that process."""
    latest = time.monotonic() + _STUCK
    while request.settings.cache and not store.claim(key) and time.monotonic() < latest:
        time.sleep(_LOOK_AGAIN)
    try:
        return answer(request, key)
    finally:
        if request.settings.cache:
            store.release(key)


def known(key: str) -> concurrent.futures.Future[Answer] | None:
    """The answer with this key: of this process, if it is finished or in preparation, or from disk. Raises TwillError if none can be made."""
    with _lock:
        running = _running.get(key)
    found = running or on_disk(key)
    if found is None and not store.text_path(key).is_file():
        raise TwillError(GONE)
    return found


def find(key: str, metadata: Any) -> concurrent.futures.Future[Answer]:
    """The answer with this key. It is requested if it was not yet, or if the process that had begun is gone. The future never fails.

    metadata: of Triton's kernel, which has the options of its compilation.
    """
    try:
        return known(key) or begin(_request_again(key, metadata), key)
    except Exception as wrong:  # the module may be gone
        return _ended(Answer(key, first_line(wrong)))


def on_disk(key: str) -> concurrent.futures.Future[Answer] | None:
    """A finished future with the answer that is on disk."""
    found = store.get_answer(key)
    return _ended(Answer(key=key, from_cache=True, **found)) if found is not None else None


def _ended(answer: Answer) -> concurrent.futures.Future[Answer]:
    future: concurrent.futures.Future[Answer] = concurrent.futures.Future()
    future.set_result(answer)
    return future


def _request_again(key: str, metadata: Any) -> Request:
    from .backend import TwillOptions

    try:
        text = store.text_path(key).read_text(encoding="utf-8")
    except OSError:
        raise TwillError(GONE) from None
    backend = make_backend(metadata.target)
    fields = [field.name for field in dataclasses.fields(TwillOptions) if hasattr(metadata, field.name)]
    options = TwillOptions(**{name: _as_given(getattr(metadata, name)) for name in fields})
    chosen = state.current().changed(**settings.parse_overlay(options.twill))
    return Request(text, options, {"target": metadata.target, **vars(options)}, backend._parse_arch(options.arch), backend, chosen,
                   find_program())


def _as_given(value: Any) -> Any:
    """An option's value before it became JSON, which turns tuples into lists. Options are hashed, so none was a list."""
    return tuple(map(_as_given, value)) if isinstance(value, list) else value


def wait(timeout_s: float | None = None) -> bool:
    """Waits until all kernels of Twill's in preparation in this process are finished, at most `timeout_s` seconds.

    Returns whether all are. The next launch of each races, so call this before measurements and captures.
    """
    with _lock:
        running = list(_at_work)
    return not concurrent.futures.wait(running, timeout_s).not_done


def clear() -> None:
    """Forgets the answers of this process; answers in preparation have no more readers."""
    with _lock:
        _running.clear()
        _at_work.clear()


def _after_fork() -> None:
    global _at_work, _lock, _running, _turns
    _lock, _running, _turns = threading.Lock(), {}, threading.Semaphore(AT_ONCE)  # the work itself stays in the parent
    _at_work = set()


os.register_at_fork(after_in_child=_after_fork)
