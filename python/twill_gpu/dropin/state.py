"""The drop-in's state in this process: settings, and Triton's own entries in its registry."""

from __future__ import annotations

import threading

from .settings import Settings

lock = threading.RLock()
_current: list[Settings | None] = [None]


def current() -> Settings:
    """The settings in force; the defaults while the drop-in is off."""
    return _current[0] or Settings()


def active() -> Settings | None:
    """The settings in force, or None while the drop-in is off."""
    return _current[0]


def set_active(settings: Settings | None) -> None:
    """Replaces the settings in force. Callers hold `lock`."""
    _current[0] = settings


def adopt_driver() -> None:
    """Makes the active driver use the drop-in's launchers while the drop-in is on, and its own while it is off.

    The driver may have been made before the drop-in was switched on. Called when Triton makes a backend, which it does
    before each kernel that it loads.
    """
    from triton.backends.nvidia.driver import CudaDriver, CudaLauncher
    from triton.runtime import driver

    from .race import launcher

    found = driver._active
    if not isinstance(found, CudaDriver):
        return
    if active() is not None and found.launcher_cls is CudaLauncher:
        found.launcher_cls = launcher
    elif active() is None and found.launcher_cls is launcher:
        found.launcher_cls = CudaLauncher
