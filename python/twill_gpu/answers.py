"""Answers of the program as typed values. `raw` is the whole JSON, in its documented format."""

from __future__ import annotations

import dataclasses
import html
from typing import Any

from .tables import table


@dataclasses.dataclass(frozen=True)
class Op:
    """One operation of a schedule: the cycle in which iteration 0 issues it, and its group."""

    name: str
    issue_cycle: int
    stage: int
    group: str
    line: str  # in the user's source; "" if it is unknown


@dataclasses.dataclass(frozen=True)
class Schedule:
    """The answer of `twill schedule` (docs/reference/schedule-json.md). Durations are cycles of one SM.

    Without a plan for the schedule, `simulated` is None, and `raw["plan"]["refusal"]` has the reason.
    """

    raw: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.raw["problem"]["name"])

    @property
    def verdict(self) -> str:
        """"optimal", "feasible", "infeasible" or "undecided"."""
        return str(self.raw["verdict"])

    @property
    def interval(self) -> int | None:
        """The initiation interval, or None without a schedule."""
        interval: int | None = self.raw["initiation_interval"]
        return interval

    @property
    def at_least(self) -> int:
        """Proven bound: no schedule in scope that can be built takes fewer cycles an iteration."""
        if self.raw["bracket"]:
            return int(self.raw["bracket"]["fastest"])
        return int((self.raw.get("bound_with_room") or self.raw["lower_bound"])["value"])

    @property
    def simulated(self) -> float | None:
        """Simulated cycles of an iteration of Twill's plan; None without a plan."""
        plan = self.raw["plan"]
        return plan["simulated"] if plan else None

    @property
    def limited_by(self) -> str:
        limiter = self.raw["limiter"]
        if not limiter:
            return ""
        lines = f" ({limiter['lines']})" if limiter["lines"] else ""
        return f"{limiter['what']}, {limiter['cycles']} cycles{lines}"

    @property
    def ops(self) -> tuple[Op, ...]:
        return tuple(Op(op["name"], op["issue_cycle"], op["stage"], op["group"], op["line"]) for op in self.raw.get("ops", ()))

    def __str__(self) -> str:
        took = f"{self.simulated:.1f} cycles an iteration, simulated" if self.simulated is not None else self.verdict
        interval = f"II {self.interval}, {self.verdict}" if self.interval is not None else self.raw["argument"]
        lines = [f"{self.name}{' on ' + self.raw['machine'] if self.raw['machine'] else ''}: {took}", f"  at least    {self.at_least} cycles, proven"]
        lines += [f"  limited by  {self.limited_by}"] if self.limited_by else []
        lines += [f"  schedule    {interval}"]
        lines += [f"  no plan     {self.raw['plan']['refusal']}"] if self.raw["plan"] and self.raw["plan"]["refusal"] else []
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [(op.group, op.name, op.issue_cycle, op.stage, op.line) for op in sorted(self.ops, key=lambda op: op.issue_cycle)]
        return paragraphs(str(self)) + table(("group", "op", "cycle", "stage", "line"), rows)


@dataclasses.dataclass(frozen=True)
class Help:
    """A change that makes the loop faster: its subject, old and new value, and the interval that it allows.

    Interval 0: the loop has no schedule, and the change makes one possible.
    """

    what: str
    before: str
    after: str
    interval: int


@dataclasses.dataclass(frozen=True)
class Explanation:
    """The answer of `twill explain`: reasons why no smaller interval exists, and changes that would help."""

    raw: dict[str, Any]

    @property
    def status(self) -> str:
        """"held", "reachable", "infeasible" or "undecided"."""
        return str(self.raw["status"])

    @property
    def helps(self) -> tuple[Help, ...]:
        """Changes that help, the best interval first."""
        found = [Help(help_["what"], help_["from"], point["to"], point["initiation_interval"])
                 for help_ in self.raw["helps"] for point in help_["points"]]
        return tuple(sorted(found, key=lambda help_: help_.interval))

    @property
    def useless(self) -> tuple[str, ...]:
        """Changes that are proven not to help, by any amount."""
        return tuple(self.raw["useless"])

    def __str__(self) -> str:
        lines = [self.raw["story"].rstrip() or self.status]
        for help_ in self.helps:
            change = f"from {help_.before} to {help_.after}" if help_.before else help_.after
            lines.append(f"  {help_.what} {change}" + (f": {help_.interval} cycles" if help_.interval else " makes it possible"))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [(help_.what, help_.before, help_.after, help_.interval) for help_ in self.helps]
        return paragraphs(self.raw["story"]) + table(("change", "from", "to", "cycles"), rows)


def paragraphs(text: str) -> str:
    """Shows a text as HTML in notebooks, line by line."""
    return f"<pre>{html.escape(text.rstrip())}</pre>"
