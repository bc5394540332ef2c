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
        except Exception as wrong:  # no program ends because of a switch
            say(f"off: {wrong}" if isinstance(wrong, TwillError) else f"off: {type(wrong).__name__}: {wrong}")


def say(what: str) -> None:
    """A line on standard error, if there is one."""
    try:
        print(f"twill: {' '.join(what.split())}", file=sys.stderr, flush=True)
    except Exception:
        pass


def without_abstract_methods(backend: Any) -> Any:
    """A class that Triton takes for a whole one, also where its base has methods that we have never heard of.

    Triton is not imported at all where a backend's class is not whole.
    """
    backend.__abstractmethods__ = frozenset()
    return backend
