"""TWILL=1 in the environment, read once."""

from __future__ import annotations

import os
import threading

_lock = threading.Lock()
_asked = False


def at_first_question() -> None:
    """Switches the drop-in on at Triton's first question to any backend, when its list of backends is complete."""
    global _asked
    with _lock:
        first, _asked = not _asked, True
    if first and os.environ.get("TWILL", "0") == "1":
        from ..dropin.switch import enable_by_environment

        enable_by_environment()
