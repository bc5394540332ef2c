"""Compares a timed launch with the proven bound and with the simulated time of Twill's plan, and accounts for the gap."""

from __future__ import annotations

import dataclasses
import numbers
import re
from typing import Any, Mapping, Sequence

from .analysis import named_arguments, programs_of, ttgir_of
from .answers import paragraphs
from .program import TwillError
from .solving import asked, is_text, text_of
from .tables import table


_TOO_FAST = "less than proven: another clock, other arguments, or not this loop"


@dataclasses.dataclass(frozen=True)
class Gap:
    """A timed launch beside its bound, in microseconds. `raw` is `launch` of `twill bound --json` (docs/reference/cli.md)."""

    raw: dict[str, Any]

    @property
    def measured_us(self) -> float:
        return float(self.raw["measured_us"])

    @property
    def bound_us(self) -> float:
        """Proven bound: no launch whose SMs do one CTA, and one tile of it, at a time runs the loop faster, at this clock."""
        return float(self.raw["bound_us"])

    @property
    def percent_of_bound(self) -> float:
        """Share of the bound in the measured time, in percent; 100: the launch cannot be made faster."""
        return float(self.raw["percent_of_bound"])

    @property
    def reached_us(self) -> float | None:
        """Simulated time of the launch's loops by Twill's plan; None without a plan."""
        reached: float | None = self.raw["reached_us"]
        return reached

    @property
    def percent_of_reached(self) -> float | None:
        percent: float | None = self.raw["percent_of_reached"]
        return percent

    @property
    def parts(self) -> dict[str, float]:
        """Microseconds of Twill's plan beyond the bound: schedule, shared pipes, signals, loads, prologue, waves."""
        return {part["what"]: float(part["microseconds"]) for part in self.raw["parts"]}

    @property
    def rest_us(self) -> float:
        """Measured time beyond Twill's plan: another schedule, and effects outside of the model, such as the epilogue and DRAM."""
        return self.measured_us - (self.bound_us if self.reached_us is None else self.reached_us)

    @property
    def is_too_fast(self) -> bool:
        """Whether the measured time is below the proven bound: then clock, grid, arguments or loop are not those of the launch."""
        return self.measured_us < self.bound_us

    def _rows(self) -> list[tuple[str, float]]:
        rows = [("bound", self.bound_us), *self.parts.items()]
        rows += [("twill", self.reached_us)] if self.reached_us is not None else []
        return [*rows, ("the rest", self.rest_us), ("measured", self.measured_us)]

    def __str__(self) -> str:
        lines = [f"{what:12} {value:10.1f} us {100.0 * value / self.measured_us:6.1f} %" for what, value in self._rows()]
        return "\n".join([*lines, *([_TOO_FAST] if self.is_too_fast else [])])

    def _repr_html_(self) -> str:
        rows = [(what, f"{value:.1f}", f"{100.0 * value / self.measured_us:.1f}") for what, value in self._rows()]
        said = f"{self.percent_of_bound:.1f} % of the proven bound" + (f"\n{_TOO_FAST}" if self.is_too_fast else "")
        return paragraphs(said) + table(("part", "us", "%"), rows)


def gap(kernel: Any, time_us: float, grid: Sequence[int], args: Mapping[str, Any] | Sequence[Any] = (), target: str = "h200", *,
        trips: int | None = None, clock_mhz: float | None = None, **options: Any) -> Gap:
    """Compares a launch that took `time_us` microseconds with the proven bound and Twill's plan.

    kernel, target, options: as in analyze(). grid: CTAs of the launch, one to three numbers.
    args       for a Triton function: its arguments, as in analyze(). For TTGIR: integers by their names in the text, on
               which the loop's trips depend.
    trips      iterations of the loop in each CTA, if they cannot be computed.
    clock_mhz  of the SMs during the launch; None: the machine's highest.

    Raises Refused if the program has no answer; the error names a missing argument.
    """
    if is_text(kernel):
        text, given, source = text_of(kernel), dict(args) if isinstance(args, Mapping) else {}, kernel
    else:
        text, given = ttgir_of(kernel, args, target, **options), named_arguments(kernel, args)
        source = text
    if not isinstance(time_us, numbers.Real):
        raise TwillError(f"time_us is a number of microseconds, not {time_us!r}")
    arguments = ["bound", "-", "--machine", target, "--time-us", str(float(time_us)), "--grid", ",".join(map(str, programs_of(grid, 1)))]
    sizes = [f"{name}={value}" for name, value in given.items() if _is_integer_of(text, name, value)]
    for option, value in (("--args", ",".join(sizes) or None), ("--trips", trips), ("--clock-mhz", clock_mhz)):
        if value is not None:
            arguments += [option, str(value)]
    return Gap(asked(arguments, source)["launch"])


def _is_integer_of(text: str, name: str, value: Any) -> bool:
    """Whether the function in `text` has an integer argument of this name; constants are no longer arguments."""
    return isinstance(value, int) and re.search(rf"tt\.func[^\n]*%{re.escape(name)}: i(?:32|64)\b", text) is not None
