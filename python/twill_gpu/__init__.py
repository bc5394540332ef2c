"""Twill in Python: the fastest schedule of a Tensor Core kernel, and a drop-in by which Triton kernels run in that schedule."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .analysis import Analysis, analyze, explain, tasks_of
from .answers import Explanation, Help, Op, Schedule
from .launch import Gap, gap
from .problem import Problem
from .program import Diagnostic, Program, ProgramNotFound, Refused, TimedOut, TwillError, find_program
from .solving import Outcome, Progress, Task, schedule, solve, sweep, task
from .tensors import descriptor, tensor

if TYPE_CHECKING:
    from .dropin import Report, Settings, disable, enable, enabled, options, report, wait

# Names that need Triton, which is imported when one of them is first used.
_DROPIN = ("Report", "Settings", "disable", "enable", "enabled", "options", "report", "wait")

__all__ = ["Analysis", "Diagnostic", "Explanation", "Gap", "Help", "Op", "Outcome", "Problem", "Program", "ProgramNotFound", "Progress",
           "Refused", "Report", "Schedule", "Settings", "Task", "TimedOut", "TwillError", "analyze", "descriptor", "disable",
           "enable", "enabled", "explain", "find_program", "gap", "options", "report", "schedule", "solve", "sweep", "task", "tasks_of",
           "tensor", "wait"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name in _DROPIN:
        return getattr(importlib.import_module(".dropin", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
