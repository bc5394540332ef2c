"""Inductor's kernels: which of them launch by Triton's launcher, where ours can race them.

Inductor has a launcher of its own for compiled kernels, which takes Triton's machine code and asks nobody. Kernels that it
cannot launch go the long way. With the setting `inductor`, kernels that have a second one count among these; all others keep
the short way.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

from . import state, tuning

_MODULE = "torch._inductor.runtime.triton_heuristics"
_CLASS, _QUESTION = "StaticTritonCompileResult", "can_statically_launch"
# Where Inductor measures candidates: those for a product or attention, the configurations of a kernel, and whether to fuse.
_MEASURE = (("torch._inductor.autotune_process", "GPUDeviceBenchmarkMixin", "do_bench"), (_MODULE, "CachingAutotuner", "bench"),
            ("torch._inductor.codegen.triton", "TritonScheduling", "benchmark_codegened_module"))


def loaded() -> bool:
    """Whether kernels of this process may be Inductor's, whose workers compile candidates that other processes measure."""
    return _MODULE in sys.modules


def adopt() -> None:
    """Puts our question before Inductor's, once, in a process that has loaded Inductor, and watches what measures there; nothing in all others.

    Called where Triton makes a backend, which it does for each kernel that Inductor, or one of its workers, compiles.
    """
    for module, measures, name in _MEASURE:
        tuning.watch(getattr(sys.modules.get(module), measures, None), name)
    owner = getattr(sys.modules.get(_MODULE), _CLASS, None)
    real = getattr(owner, _QUESTION, None)
    if real is None or getattr(real, "twill", False):
        return

    @functools.wraps(real)
    def question(kernel: Any, *arguments: Any, **more: Any) -> Any:
        settings = state.active()
        if settings is not None and settings.inductor and getattr(kernel.metadata, "twill_kernel", None):
            return None
        return real(kernel, *arguments, **more)

    question.twill = True  # type: ignore[attr-defined]
    setattr(owner, _QUESTION, staticmethod(question))
