"""The drop-in for Triton: unmodified kernels run as Twill plans them where that is faster."""

from .later import wait
from .records import Compilation, Race, Report, report
from .settings import Settings
from .switch import disable, enable, enabled, options

__all__ = ["Compilation", "Race", "Report", "Settings", "disable", "enable", "enabled", "options", "report", "wait"]
