"""Scheduling problems without a kernel: from the documented JSON (docs/reference/problem-json.md) or `.loop` text."""

from __future__ import annotations

import dataclasses
from typing import Any, Iterable, Iterator, Mapping

from .program import Program, TwillError, find_program



@dataclasses.dataclass(frozen=True)
class Problem:
    """One loop to be scheduled, as `.loop` text (docs/reference/loop-format.md)."""

    text: str

    @classmethod
    def from_dict(cls, problem: Mapping[str, Any]) -> Problem:
        """The problem of a JSON object as `twill loop --json` prints it.

        Raises TwillError for another format or version, and for a member that is missing or unknown. What the numbers mean
        is judged by the program when the problem is solved.
        """
        if not isinstance(problem, Mapping) or problem.get("format") != "twill-problem" or problem.get("version") != 1:
            raise TwillError("a problem has format \"twill-problem\" and version 1")
        try:
            return cls("\n".join(_lines(problem)) + "\n")
        except KeyError as missing:
            raise TwillError(f"the problem lacks {missing}") from None
        except (AttributeError, IndexError, TypeError) as wrong:
            raise TwillError(f"a member of the problem has another form than problem-json.md says: {wrong}") from None

    def to_dict(self, program: Program | None = None) -> dict[str, Any]:
        """The problem as JSON, by the program. Raises Refused for text that is no problem."""
        return (program or find_program()).ask(["loop", "-"], self.text)


def _lines(problem: Mapping[str, Any]) -> Iterator[str]:
    yield f"loop {problem['name']}"
    if problem["relaxed"]:
        yield f"relax {' '.join(problem['relaxed'])}"
    yield f"minimize {' '.join(problem['objectives']) or 'nothing'}"
    yield f"minimum-compute-groups {problem['minimum_compute_groups']}"
    yield from _resources(problem)
    for op in problem["ops"]:
        yield from _op(op)
    handed = {op: hand_off for hand_off in problem["hand_offs"] for op in _ops_of(hand_off)}
    for dependence in problem["dependences"]:
        if dependence["from"] not in handed and dependence["to"] not in handed:
            yield _dependence(dependence)
    for ops in problem["same_group"]:
        yield f"same-group {' '.join(ops)}"
    for hand_off in problem["hand_offs"]:
        loads = "".join(f" load {load['load']} for {load['reader']}" for load in hand_off["loads"])
        yield f"hand-off {hand_off['value']} store {hand_off['store']}{loads}"


def _ops_of(hand_off: Mapping[str, Any]) -> Iterable[str]:
    return [hand_off["store"], *(load["load"] for load in hand_off["loads"])]


def _resources(problem: Mapping[str, Any]) -> Iterator[str]:
    for unit in problem["units"]:
        yield f"unit {unit['name']}"
    for pipe in problem["pipes"]:
        yield f"pipe {pipe['name']}{' port' if pipe['port'] else ''}"
    for memory in problem["memories"]:
        yield f"memory {memory['name']} capacity {memory['capacity']}"
    for group in problem["groups"]:
        loads = " loads" if group["loads"] else ""
        yield f"group {group['name']} warps {group['warps']} registers {group['registers']}{loads}"
    for budget in problem.get("register_budgets", ()):
        yield (f"register-budget {budget['total']} step {budget['step']} reserve {budget['reserve']} "
               f"of {' '.join(budget['groups'])}")


def _op(op: Mapping[str, Any]) -> Iterator[str]:
    ways = op["ways"]
    alone = len(ways) == 1 and not ways[0]["name"]
    words = ["op", op["name"], *(_way(ways[0]) if alone else ())]
    words += ["warps", str(op["warps"]), "registers", str(op["registers"])]
    for footprint in op["footprint"]:
        words += ["occupies", footprint["memory"], str(footprint["amount"])]
    flags = (("asynchronous", "async"), ("variable_latency", "variable-latency"), ("streaming", "streaming"))
    words += [word for member, word in flags if op[member]]
    yield " ".join(words)
    for source in op["source"]:
        yield f"  source {_quoted(source)}"
    if not alone:
        for way in ways:
            yield " ".join(["  way", way["name"], *_way(way)])


def _way(way: Mapping[str, Any]) -> list[str]:
    words = [] if way["unit"] is None else ["on", way["unit"], "for", str(way["occupancy"])]
    words += ["latency", str(way["latency"]), "issue", str(way["issue"])]
    for pipe in way["pipes"]:
        words += ["uses", pipe["pipe"], str(pipe["demand"])]
    return words


def _dependence(dependence: Mapping[str, Any]) -> str:
    words = [dependence["from"], "->", dependence["to"], "distance", str(dependence["distance"])]
    if dependence["delay"] is not None:
        words += ["delay", str(dependence["delay"])]
    if dependence["blocking"]:
        words.append("blocking")
    if not dependence["carries_value"]:
        words.append("order-only")
    if dependence["read_hold"] is not None:
        words += ["read-hold", str(dependence["read_hold"])]
    if dependence["in_place"]:
        words.append("in-place")
    words += ["transfer", str(dependence["transfer"])]
    if dependence.get("through_memory"):
        words.append("through-memory")
    return " ".join(words)


def _quoted(text: str) -> str:
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
    return '"' + "".join(escapes.get(c) or (c if c.isprintable() else "".join(f"\\x{b:02x}" for b in c.encode()))
                         for c in text) + '"'
