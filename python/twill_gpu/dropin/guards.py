"""Kernels that the drop-in leaves to Triton before any pass runs."""

from __future__ import annotations

import dataclasses
from typing import Any

from triton import knobs

# Fields of Triton's options whose every value is understood: they reach the printed module through Triton's own stages.
_UNDERSTOOD = frozenset({
    "num_warps", "num_stages", "warp_size", "ptx_version", "ptx_options", "enable_fp_fusion", "enable_reflect_ftz",
    "supported_fp8_dtypes", "deprecated_fp8_dot_operand_dtypes", "default_dot_input_precision",
    "allowed_dot_input_precisions", "max_num_imprecise_acc_default", "extern_libs", "debug", "backend_name",
    "sanitize_overflow", "arch", "twill",
})


def refused_option(options: Any) -> str:
    """The first option that is neither understood nor at its default; "" if there is none."""
    defaults = {field.name: field.default for field in dataclasses.fields(options)}
    for name, value in vars(options).items():
        if name not in _UNDERSTOOD and value != defaults.get(name):
            return str(name)
    return ""


def refused_knob() -> str:
    """The setting by which other code changed Triton's stages; "" if there is none."""
    if knobs.compilation.override:
        return "TRITON_KERNEL_OVERRIDE is set"
    if knobs.runtime.add_stages_inspection_hook is not None:
        return "knobs.runtime.add_stages_inspection_hook is set"
    return ""


def refused_target(capability: int, blackwell: bool) -> str:
    """Reason why the drop-in leaves this architecture to Triton; "" if there is none."""
    if capability == 90 or capability == 100 and blackwell:
        return ""
    if capability == 100:
        return "kernels for sm_100 are left alone unless asked for (blackwell=True): what is printed for it was never run there"
    return f"kernels are printed for sm_90 and sm_100, and this is sm_{capability}"
