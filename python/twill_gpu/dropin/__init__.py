"""The drop-in for Triton: unmodified kernels run by Twill's plan where that is faster."""

from ..program import TwillError
from . import versions

try:
    import triton
except ImportError as wrong:
    raise TwillError(f"Triton {versions.KNOWN} is needed: {wrong}") from None

try:
    from triton import knobs as _knobs  # noqa: F401 (older versions lack it, and newer ones may lack more)
except ImportError:
    raise TwillError(versions.why_not(triton.__version__) or f"Triton {triton.__version__} has no knobs") from None

from .later import wait
from .records import Compilation, Race, Report, report
from .settings import Settings
from .switch import disable, enable, enabled, options

__all__ = ["Compilation", "Race", "Report", "Settings", "disable", "enable", "enabled", "options", "report", "wait"]
