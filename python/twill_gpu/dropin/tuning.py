"""Launches that an autotuner measures. All but one of its candidates are never launched again, so Twill makes no kernels for them.

Triton's autotuner and Inductor's are watched while they measure. An autotuner whose functions have other names is not watched,
and its launches count as the program's own.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

_thread = threading.local()


def now() -> bool:
    """Whether this thread's launches are an autotuner's."""
    return getattr(_thread, "tuning", False)


def watch(owner: Any, name: str) -> None:
    """Makes now() see the calls of a function that measures a candidate. No effect if the function is missing, or watched already."""
    real = getattr(owner, name, None)
    if real is None or getattr(real, "twill", False):
        return

    @functools.wraps(real)
    def measure(*arguments: Any, **more: Any) -> Any:
        before, _thread.tuning = now(), True
        try:
            return real(*arguments, **more)
        finally:
            _thread.tuning = before

    measure.twill = True  # type: ignore[attr-defined]
    setattr(owner, name, measure)


def adopt() -> None:
    """Watches Triton's autotuner."""
    from triton.runtime.autotuner import Autotuner

    watch(Autotuner, "_bench")
