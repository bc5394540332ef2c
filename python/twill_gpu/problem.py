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
        """The problem of a JSON object, in the format of `twill loop --json`, version 2 or 1.

        Raises TwillError for another format or version, and for a member that is missing or unknown. The program
        checks the numbers when the problem is solved.
        """
        if not isinstance(problem, Mapping) or problem.get("format") != "twill-problem" or problem.get("version") not in (1, 2):
            raise TwillError("a problem has format \"twill-problem\" and version 1 or 2")
        try:
            if problem["version"] == 1:
                problem = _of_version_1(problem)
            return cls("\n".join(_lines(problem)) + "\n")
        except KeyError as missing:
            raise TwillError(f"the problem lacks {missing}") from None
        except (AttributeError, IndexError, TypeError) as wrong:
            raise TwillError(f"a member of the problem has another form than problem-json.md says: {wrong}") from None

    def to_dict(self, program: Program | None = None) -> dict[str, Any]:
        """The problem as JSON, by the program. Raises Refused for text that is no problem."""
        return (program or find_program()).ask(["loop", "-"], self.text)


def _of_version_1(problem: Mapping[str, Any]) -> Mapping[str, Any]:
    """The problem under the names of version 2."""
    ops = [{**op, "alternatives": op["ways"]} for op in problem["ops"]]
    return {**problem, "ops": ops, "transfers": problem["hand_offs"]}


def _lines(problem: Mapping[str, Any]) -> Iterator[str]:
    yield f"loop {problem['name']}"
    if problem["relaxed"]:
        yield f"relax {' '.join(problem['relaxed'])}"
    yield f"minimize {' '.join(problem['objectives']) or 'nothing'}"
    yield f"minimum-compute-groups {problem['minimum_compute_groups']}"
    yield from _resources(problem)
    for op in problem["ops"]:
        yield from _op(op)
    transfer_ops = {op for transfer in problem["transfers"] for op in _ops_of(transfer)}
    for dependence in problem["dependences"]:
        if dependence["from"] not in transfer_ops and dependence["to"] not in transfer_ops:
            yield _dependence(dependence)
    for ops in problem["same_group"]:
        yield f"same-group {' '.join(ops)}"
    for transfer in problem["transfers"]:
        loads = "".join(f" load {load['load']} for {load['reader']}" for load in transfer["loads"])
        yield f"transfer {transfer['value']} store {transfer['store']}{loads}"


def _ops_of(transfer: Mapping[str, Any]) -> Iterable[str]:
    return [transfer["store"], *(load["load"] for load in transfer["loads"])]


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
    alternatives = op["alternatives"]
    alone = len(alternatives) == 1 and not alternatives[0]["name"]
    words = ["op", op["name"], *(_alternative(alternatives[0]) if alone else ())]
    words += ["warps", str(op["warps"]), "registers", str(op["registers"])]
    for footprint in op["footprint"]:
        words += ["occupies", footprint["memory"], str(footprint["amount"])]
    flags = (("asynchronous", "async"), ("variable_latency", "variable-latency"), ("streaming", "streaming"))
    words += [word for member, word in flags if op[member]]
    yield " ".join(words)
    for source in op["source"]:
        yield f"  source {_quoted(source)}"
    if not alone:
        for alternative in alternatives:
            yield " ".join(["  alternative", alternative["name"], *_alternative(alternative)])


def _alternative(alternative: Mapping[str, Any]) -> list[str]:
    words = [] if alternative["unit"] is None else ["on", alternative["unit"], "for", str(alternative["occupancy"])]
    words += ["latency", str(alternative["latency"]), "issue", str(alternative["issue"])]
    for pipe in alternative["pipes"]:
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
