"""TWILL=1 in the environment, read once."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

from ..program import TwillError

_lock = threading.Lock()
_asked = False


def at_first_question() -> None:
    """Switches the drop-in on at Triton's first question to any backend, when its list of backends is complete."""
    global _asked
    with _lock:
        first, _asked = not _asked, True
    asked = os.environ.get("TWILL", "0")
    if first and asked not in ("", "0", "1"):
        say(f"off: TWILL is 1 or 0, not {asked!r}")
    if first and asked == "1":
        try:
            from .. import enable

            enable()
        except Exception as wrong:  # a switch must not end a program
            say(f"off: {wrong}" if isinstance(wrong, TwillError) else f"off: {type(wrong).__name__}: {wrong}")


def say(what: str) -> None:
    """Prints a line on standard error, if there is one."""
    try:
        print(f"twill: {' '.join(what.split())}", file=sys.stderr, flush=True)
    except Exception:
        pass


def without_abstract_methods(backend: Any) -> Any:
    """A class that Triton accepts as complete, also if its base has methods that this version does not know.

    Triton cannot be imported at all if a backend's class is not complete.
    """
    backend.__abstractmethods__ = frozenset()
    return backend
