"""Inductor's kernels: which of them launch by Triton's launcher, so that the drop-in can race them, and until when.

Inductor has a launcher of its own for compiled kernels, which uses Triton's machine code without a question. Kernels that it
cannot launch go the long way, by Triton's launcher. So do the user's kernels that have a second kernel, and with the setting
`inductor` all kernels that have one. They go the short way again for launches that are decided; all other kernels always do.
"""

from __future__ import annotations

import copy
import functools
import sys
from typing import Any, Callable

from . import call, records, state, tuning

_MODULE = "torch._inductor.runtime.triton_heuristics"
_CLASS, _QUESTION = "StaticTritonCompileResult", "can_statically_launch"
_LONG_CLASS, _MAKER = "TritonCompileResult", "make_launcher"
_USERS = "USER_AUTOTUNE"  # name of the heuristic, an argument of the question, by which Inductor marks kernels that it has not written
_SHORT = "twill_short_way"  # attribute of a compiled kernel: the kernel that Inductor's launcher would launch.
# Functions by which Inductor measures candidates: for a product or attention, the configurations of a kernel, and whether to fuse.
_MEASURE = (("torch._inductor.autotune_process", "GPUDeviceBenchmarkMixin", "do_bench"), (_MODULE, "CachingAutotuner", "bench"),
            ("torch._inductor.codegen.triton", "TritonScheduling", "benchmark_codegened_module"))


def loaded() -> bool:
    """Whether kernels of this process may be Inductor's, whose workers compile candidates that other processes measure."""
    return _MODULE in sys.modules


def adopt() -> None:
    """Puts the drop-in's question before Inductor's, once, and watches Inductor's measurements. No effect in a process without Inductor.

    Called when Triton makes a backend, which it does for each kernel that Inductor, or one of its workers, compiles, and when a kernel
    that races is loaded.
    """
    for module, measures, name in _MEASURE:
        tuning.watch(getattr(sys.modules.get(module), measures, None), name)
    heuristics = sys.modules.get(_MODULE)
    _replace(getattr(heuristics, _CLASS, None), _QUESTION, _question, staticmethod)
    _replace(getattr(heuristics, _LONG_CLASS, None), _MAKER, _maker, lambda made: made)


def _replace(owner: Any, name: str, ours: Callable[[Any], Any], kind: Callable[[Any], Any]) -> None:
    """Replaces a function by a function made from it. No effect if the function is missing, or replaced already."""
    real = getattr(owner, name, None)
    if real is None or getattr(real, "twill", False):
        return
    made: Any = functools.wraps(real)(ours(real))
    made.twill = True
    setattr(owner, name, kind(made))


def _question(real: Callable[..., Any]) -> Callable[..., Any]:
    def question(kernel: Any, *arguments: Any, **more: Any) -> Any:
        """The kernel that Inductor's launcher shall launch, or None for the long way, which keeps it for later."""
        short = real(kernel, *arguments, **more)
        settings = state.active()
        users = any(getattr(value, "name", "") == _USERS for value in (*arguments, *more.values()))  # race as without Inductor
        if settings is None or not (settings.inductor or users) or not getattr(kernel.metadata, "twill_kernel", None):
            return short
        if short is not None:
            short.cubin_raw = None  # the kernel has it, too, and so has Triton's cache
            setattr(kernel, _SHORT, short)
        return None

    return question


def _maker(real: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def make_launcher(result: Any) -> Any:
        long = real(result)
        try:
            return _with_short_way(result, long)
        except Exception as wrong:  # unknown parts of PyTorch: all launches go the long way
            records.log.info("%s: the long way: %s", result.kernel.metadata.name, records.first_line(wrong))
            return long

    return make_launcher


def _with_short_way(result: Any, long: Any) -> Any:
    """Inductor's launch function of a kernel that races, with Inductor's own launcher for decided sizes.

    long: the function that Inductor makes for Triton's launcher; `runner` among its globals is the drop-in's, with the decisions. The
    grid of a launch depends on its integers alone. So the integers lead to the grid of an earlier launch, the grid to the decision,
    and the decision to a way.
    """
    short_kernel, ours = getattr(result.kernel, _SHORT, None), long.__globals__["runner"]
    decided = getattr(ours, "decided", None)
    if short_kernel is None or decided is None:
        return long
    integers: list[int] = ours.integers  # among the kernel's arguments
    given = long.__code__.co_varnames[:long.__code__.co_argcount]
    wanted = [list(result.kernel.src.signature)[integer] for integer in integers]
    if not set(wanted) <= set(given):
        return long
    ways: dict[Any, Any] = {False: _short_way(result, short_kernel)}
    places: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def runner(x: int, y: int, z: int, *rest: Any) -> None:
        ours(x, y, z, *rest)
        sizes = tuple([rest[6 + integer] for integer in integers])
        if len(places) >= call.MOST_SIZES:
            places.clear()
        places[sizes] = (x, y, z, *sizes)
        takes = decided.get(places[sizes])
        if takes and takes not in ways:
            ways[takes] = _way_of_twills(result, short_kernel, takes) or long

    scope = {"decided": decided, "places": places, "ways": ways, "long": long}
    exec(f"def launcher({', '.join(given)}):\n"  # noqa: S102 (names of arguments alone, as Inductor has written them)
         f"    ways.get(decided.get(places.get(({''.join(name + ', ' for name in wanted)}))), long)({', '.join(given)})\n", scope)
    long.__globals__["runner"] = runner
    launcher: Any = scope["launcher"]
    launcher.__dict__.update(long.__dict__)
    return launcher


def _short_way(result: Any, kernel: Any) -> Any:
    """The launch function that Inductor makes for its own launcher."""
    return getattr(sys.modules[_MODULE], _CLASS)(kernel, result.config, result.compile_meta, result.inductor_meta).make_launcher()


def _way_of_twills(result: Any, short_kernel: Any, takes: Any) -> Any:
    """The short way of Twill's kernel, which has the arguments of Triton's; None for a kernel that walks tiles or needs scratch memory."""
    try:
        function, metadata = takes.kernel
        if metadata.global_scratch_size or getattr(metadata, "profile_scratch_size", 0):
            return None
        kernel = copy.copy(short_kernel)
        kernel.function, kernel.num_warps, kernel.shared = function, metadata.num_warps, metadata.shared
        return _short_way(result, kernel)
    except Exception as wrong:  # as in make_launcher()
        records.log.info("%s: the long way: %s", result.kernel.metadata.name, records.first_line(wrong))
        return None
