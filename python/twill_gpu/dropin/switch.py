"""Switching the drop-in on and off, for the process, for a block, and for a kernel."""

from __future__ import annotations

import collections
import contextlib
import functools
import gc
import os
import sys
import weakref
from typing import Any, Callable, Iterator, TypeVar

import triton
import triton.backends
from triton.runtime import driver as driver_of_triton
from triton.runtime.jit import JITFunction

from ..program import TwillError, find_program
from . import records, state, tuning, versions
from .settings import Settings, from_environment, overlay_text

Kernel = TypeVar("Kernel")

# Functions by identity, and the kernels in memory that each had under other settings. Triton finds these without a call of the backend. A function's
# own hash is its cache key, which Triton computes at the first launch, when all functions that it calls are defined.
_functions: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
_plain: dict[str, Any] = {}


def enable(**changes: Any) -> bool:
    """Switches the drop-in on for this process: Triton kernels compiled from now on are also planned by Twill.

    `changes`: fields of Settings, on top of the environment's values, or of the settings in force. Returns whether they are in force
    now: under an unknown Triton, and if its cache folder cannot be written, nothing changes, and a line has the reason.
    Raises TwillError for unknown settings and for values out of range, and ProgramNotFound without a program.
    """
    with state.lock:
        return _switch((state.active() or from_environment()).changed(**changes))


def disable() -> None:
    """Switches the drop-in off: all kernels are Triton's own again, also those in memory."""
    with state.lock:
        _switch(None)


@contextlib.contextmanager
def enabled(**changes: Any) -> Iterator[None]:
    """Switches the drop-in on for a block, with `changes` to the settings in force; for all threads of the process. Raises like enable()."""
    with state.lock:
        before = state.active()
        _switch((before or from_environment()).changed(**changes))
    try:
        yield
    finally:
        with state.lock:
            _switch(before)


def options(**changes: Any) -> Callable[[Kernel], Kernel]:
    """Settings for one kernel, above `@triton.jit` or `@triton.autotune`: decide, machine, persistent, spare_registers.

    The same as the launch option `twill="..."`, and without effect while the drop-in is off, and on kernels that Triton interprets.
    """
    text = overlay_text(changes)

    def decorate(kernel: Kernel) -> Kernel:
        function: Any = kernel
        while not isinstance(function, JITFunction):
            if isinstance(function, getattr(sys.modules.get("triton.runtime.interpreter"), "InterpretedFunction", ())):  # TRITON_INTERPRET=1
                return kernel
            if not hasattr(function, "fn"):
                raise TwillError("twill_gpu.options goes above @triton.jit")
            function = function.fn
        run = function.run

        @functools.wraps(run)
        def with_option(*arguments: Any, **more: Any) -> Any:
            if state.active() is not None:
                more.setdefault("twill", text)
            return run(*arguments, **more)

        function.run = with_option
        return kernel

    return decorate


def _why_off() -> str:
    """Reason why this process cannot use the drop-in; "" if it can."""
    why = versions.why_not(triton.__version__)
    if why:
        return why
    if "nvidia" not in triton.backends.backends:
        return "this Triton has no NVIDIA backend"
    cache = str(triton.knobs.cache.dir)
    if os.path.isdir(cache) and not os.access(cache, os.W_OK):  # Triton compiles only kernels there that are new by its own keys
        return f"Triton's cache folder {cache} cannot be written"
    return ""


def _switch(settings: Settings | None) -> bool:
    """Whether these settings are in force now."""
    before = state.active()
    if settings == before:
        return True
    if settings is not None:
        find_program()
        why = _why_off()
        if why:
            records.stays_off(why)
            return False
    _know_functions()
    tuning.adopt()
    _register(settings is not None)
    state.set_active(settings)
    _swap_kernels(before, settings)
    if driver_of_triton._active is not None:
        state.adopt_driver()
    return True


def _register(on: bool) -> None:
    """Puts the drop-in's backend into Triton's registry, or puts Triton's own back."""
    from .backend import TwillBackend

    registry = triton.backends.backends
    if not _plain:
        _plain["nvidia"] = registry["nvidia"]
    entry = _plain["nvidia"]
    registry["nvidia"] = type(entry)(compiler=TwillBackend, driver=entry.driver) if on else entry


def _know_functions() -> None:
    """Finds all existing functions, once, and registers new functions from then on."""
    if getattr(JITFunction.__init__, "twill", False):
        return
    for thing in gc.get_objects():
        if JITFunction in type(thing).__mro__:
            _functions[id(thing)] = thing
    real = JITFunction.__init__

    @functools.wraps(real)
    def init(self: Any, *arguments: Any, **more: Any) -> None:
        real(self, *arguments, **more)
        _functions[id(self)] = self

    init.twill = True  # type: ignore[attr-defined]
    JITFunction.__init__ = init


def _swap_kernels(before: Settings | None, after: Settings | None) -> None:
    """Gives each function the kernels in memory that it had under these settings, so that a change back compiles no kernel."""
    for function in list(_functions.values()):
        kept = function.__dict__.setdefault("_twill_kernels", {})
        kept[before] = function.device_caches
        there = kept.pop(after, None)
        function.device_caches = collections.defaultdict(function.create_binder) if there is None else there
