"""Fastest interval that a Triton kernel could reach, with reasons: without a GPU and without a launch."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, Callable, Iterable, Mapping, Sequence

from .answers import Explanation, Schedule
from .program import TwillError
from .solving import Task, explain_text, is_text, schedule, text_of

# Architectures of the machine descriptions that come with the program.
ARCHS = {"h100": 90, "h200": 90, "b200": 100}


@dataclasses.dataclass(frozen=True)
class Analysis:
    """A kernel before Triton's pipelining, and the fastest schedule of its main loop on a machine."""

    ttgir: str
    target: str
    schedule: Schedule
    grid: tuple[int, ...] = ()

    @property
    def bound(self) -> int:
        """Proven bound: cycles of an iteration that no schedule in scope can beat."""
        return self.schedule.at_least

    @property
    def expected(self) -> float | None:
        """Simulated cycles of an iteration of Twill's plan; None without a plan."""
        return self.schedule.simulated

    @property
    def why(self) -> str:
        """The facts that limit the loop, with lines of the source."""
        return self.schedule.limited_by

    @property
    def programs(self) -> int | None:
        """Programs of the grid; None if no grid was given."""
        return math.prod(self.grid) if self.grid else None

    @functools.cached_property
    def explanation(self) -> Explanation:
        """Reasons why the loop is no faster, and changes that would help. Computed when first read, which takes seconds."""
        return explain_text(self.ttgir, self.target)

    def __str__(self) -> str:
        return str(self.schedule)

    def _repr_html_(self) -> str:
        return self.schedule._repr_html_()


def analyze(kernel: Any, args: Mapping[str, Any] | Sequence[Any] = (), grid: Sequence[int] = (), target: str = "h200",
            **options: Any) -> Analysis:
    """Compiles a Triton kernel up to Triton's own pipelining, and schedules its main loop for `target`.

    kernel   a function with @triton.jit, or TTGIR: a path that ends in .ttgir, or its text.
    args     its arguments, by name or in order: real arguments, or results of twill_gpu.tensor() and twill_gpu.descriptor();
             constants too. They decide how Triton specializes the kernel.
    grid     programs, for the answer's `programs`.
    target   "h100", "h200", "b200", or the path of a machine description for sm_90.
    options  launch options, as num_warps=8.

    Raises Refused if the program has no answer, and Triton's own errors for kernels that it does not compile.
    """
    if is_text(kernel):
        return Analysis(text_of(kernel), target, schedule(kernel, target), programs_of(grid))
    text = ttgir_of(kernel, args, target, **options)
    return Analysis(text, target, schedule(text, target), programs_of(grid))


def explain(kernel: Any, args: Mapping[str, Any] | Sequence[Any] = (), target: str = "h200", **options: Any) -> Explanation:
    """Explains why a kernel is no faster, and which changes would help. Arguments as in analyze().

    A function without `args` is explained as the drop-in last compiled it in this process.
    """
    if is_text(kernel):
        return explain_text(kernel, target)
    if args:
        return explain_text(ttgir_of(kernel, args, target, **options), target)
    from .dropin import records, store

    name = _function(kernel).__name__
    rows = [row for row in records.report().compilations if row.kernel == name and row.key]
    if not rows:
        raise TwillError(f"{name} was not compiled while the drop-in was on: give arguments, as to analyze()")
    return explain_text(store.text_path(rows[-1].key), target)


def tasks_of(kernel: Any, args: Mapping[str, Any] | Sequence[Any] | Callable[[Mapping[str, Any]], Any] = (),
             configs: Iterable[Any] | None = None, targets: Sequence[str] = ("h200", ), **options: Any) -> list[Task]:
    """Tasks for sweep(): a Triton kernel in each of some configurations for each target, target after target for a configuration.

    args     as in analyze(), without the values that a configuration sets; or a function that makes the arguments of a
             configuration, as blocks of descriptors need it.
    configs  tiles and launch options by name, as {"BM": 128, "num_warps": 8}, or values of triton.Config; None: those of the
             kernel's @triton.autotune.
    options  launch options of all configurations.

    A configuration that Triton does not compile, or that does not fit `args`, has an error in place of a text. The error is its outcome in the sweep.
    """
    function = _function(kernel)
    found = []
    for config in _configs(kernel) if configs is None else configs:
        chosen = dict(config) if isinstance(config, Mapping) else dict(config.all_kwargs())
        label = ", ".join([function.__name__, *(f"{name}={value}" for name, value in chosen.items())])
        for target in targets:
            text, wrong = "", ""
            try:
                given = named_arguments(function, args(chosen) if callable(args) else args)
                given.update((name, value) for name, value in chosen.items() if name in function.arg_names)
                more = {name: value for name, value in chosen.items() if name not in function.arg_names}
                text = ttgir_of(function, given, target, **{**options, **more})
            except Exception as error:  # Triton raises exceptions of any kind, and the other configurations are still useful
                wrong = f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}"
            found.append(Task(text, target, (), f"{label}, {target}", wrong))
    return found


def _configs(kernel: Any) -> Sequence[Any]:
    """The configurations of an autotuned kernel."""
    function = _function(kernel)
    while not hasattr(kernel, "configs"):
        if kernel is function:
            raise TwillError(f"{function.__name__} has no @triton.autotune: give configs")
        kernel = kernel.fn
    configs: Sequence[Any] = kernel.configs
    return configs


def ttgir_of(kernel: Any, args: Mapping[str, Any] | Sequence[Any], target: str = "h200", **options: Any) -> str:
    """The TTGIR of a kernel before Triton's own pipelining, with locations. Raises Triton's own errors."""
    from .dropin import lowering, versions  # first, since it reports missing parts

    import triton
    from triton.backends.compiler import GPUTarget
    from triton.backends.nvidia.compiler import CUDABackend
    from triton.compiler import ASTSource

    why = versions.why_not(triton.__version__)
    if why:
        raise TwillError(why)
    function, arch = _function(kernel), ARCHS.get(target, 90)
    backend = CUDABackend(GPUTarget("cuda", arch, 32))
    given = named_arguments(function, args)
    parsed, signature, constants, attributes = _specialize(function, backend, given, options)
    source = ASTSource(function, signature, constants, attributes)
    context = lowering.new_context(backend)
    module = source.make_ir(backend.target, parsed, backend.get_codegen_implementation(parsed), backend.get_module_map(), context)
    ttir = backend.make_ttir(module, {}, parsed, arch)
    return lowering.before_pipelining(str(ttir), parsed, arch, backend)


def programs_of(grid: Sequence[int], least: int = 0) -> tuple[int, ...]:
    """A grid's programs in each of `least` to 3 directions. Raises TwillError for other objects, such as a function, which needs a launch."""
    try:
        found = tuple(int(number) for number in grid)
    except (TypeError, ValueError):
        found = (0, )
    if not least <= len(found) <= 3 or min(found, default=1) < 1:
        raise TwillError(f"a grid is one to three numbers, as (32, 16), not {grid!r}")
    return found


def named_arguments(kernel: Any, args: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    """A Triton function's arguments by name, from arguments given by name or in order. Raises TwillError for surplus arguments."""
    if isinstance(args, Mapping):
        return dict(args)
    function = _function(kernel)
    if len(args) > len(function.arg_names):
        raise TwillError(f"{function.__name__}(): takes {len(function.arg_names)} arguments, not {len(args)}")
    return dict(zip(function.arg_names, args))


def _function(kernel: Any) -> Any:
    from triton.runtime.jit import JITFunction

    while not isinstance(kernel, JITFunction):
        if not hasattr(kernel, "fn"):
            raise TwillError(f"{kernel!r} is no function with @triton.jit, or one that is interpreted (TRITON_INTERPRET=1)")
        kernel = kernel.fn
    return kernel


def _specialize(function: Any, backend: Any, given: dict[str, Any], options: dict[str, Any]) -> Any:
    """Options, signature, constants and attributes, by the code that a launch uses."""
    from triton.runtime.jit import create_function_from_signature

    bind = create_function_from_signature(function.signature, function.params, backend)
    try:
        bound, specialization, more = bind(**given, **options)
    except TypeError as wrong:
        raise TwillError(f"{function.__name__}(): {str(wrong).removeprefix('dynamic_func() ')}") from None
    try:
        return function._pack_args(backend, dict(more), bound, specialization, more)
    except KeyError as wrong:  # neither an argument nor an option
        raise TwillError(f"{function.__name__}(): {wrong.args[0]}") from None
