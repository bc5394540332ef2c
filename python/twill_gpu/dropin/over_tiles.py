"""Turns a kernel of one tile for each CTA into a kernel that walks tiles: the same module, with a loop around a CTA's work.

A CTA with linear number p of n takes tiles p, p + n, p + 2n, ..., in the order in which a GPU starts CTAs. The grid for which the
kernel was written comes in three more arguments at the end. Each tile is computed by the same operations as before, in the same
layouts. Its plan may differ, so that the compiler fuses other products and sums: then some elements differ by a rounding.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Sequence

from ..program import TwillError
from . import store

GRID = ("twill_x", "twill_y", "twill_z")  # the arguments after the kernel's own, i32 each
MOST_TILES = 2**30  # of a launch: a tile's number plus the number of CTAs is an i32

_FUNCTION = re.compile(r"  tt\.func public @[^ (]+\((?P<arguments>.*)\)(?P<rest> attributes \{.*\})? \{")
_RESULTS = r"(?P<results>%[\w$.-]+(?::\d+)?(?:, %[\w$.-]+(?::\d+)?)*)"
_OPERATION = re.compile(rf' *(?:{_RESULTS} = )?"?(?P<name>[a-z]\w*(?:\.\w+)+)\b"?(?P<rest>.*)')
_VALUE = re.compile(r"%[\w$.-]+")
_AXIS = re.compile(r" ([xyz]) : i32\b")
_BETWEEN = re.compile(r" *(?:\}.*|\^bb0\(.*\):.*)?")  # lines of an operation's regions that begin no operation

# Operations that do the same inside and outside a loop: on values, and on memory to which arguments point.
_PURE = frozenset({
    "tt.addptr", "tt.bitcast", "tt.broadcast", "tt.cat", "tt.clampf", "tt.dot", "tt.dot_scaled", "tt.expand_dims", "tt.fp_to_fp", "tt.gather",
    "tt.get_num_programs", "tt.get_program_id", "tt.histogram", "tt.int_to_ptr", "tt.join", "tt.make_range", "tt.mulhiui", "tt.precise_divf",
    "tt.precise_sqrt", "tt.ptr_to_int", "tt.reduce", "tt.reduce.return", "tt.reshape", "tt.scan", "tt.scan.return", "tt.splat", "tt.split",
    "tt.trans", "tt.unsplat", "ttg.convert_layout", "ttg.local_alloc", "ttg.local_load", "ttg.memdesc_reinterpret", "ttg.memdesc_reshape",
    "ttg.memdesc_subslice", "ttg.memdesc_trans", "ttng.warp_group_dot", "ub.poison", "scf.for", "scf.if", "scf.yield",
})
_WITH_MEMORY = frozenset({
    "tt.load", "tt.store", "tt.descriptor_load", "tt.descriptor_store", "tt.descriptor_gather", "tt.descriptor_scatter",
    "tt.make_tensor_descriptor", "llvm.intr.assume",
})
# Computed once for all tiles if they are the same for each: operations that only compute, and descriptors, which are memory of the CTA.
_ONCE = frozenset({"tt.make_tensor_descriptor", "llvm.intr.assume"})

# The loop, before its contents: CTA `first` of `step` takes every step-th tile.
_LOOP = ("    %twill_first = tt.get_program_id x : i32 loc(unknown)",
         "    %twill_step = tt.get_num_programs x : i32 loc(unknown)",
         "    %twill_plane = arith.muli %twill_x, %twill_y : i32 loc(unknown)",
         "    %twill_tiles = arith.muli %twill_plane, %twill_z : i32 loc(unknown)",
         "    scf.for %twill_tile = %twill_first to %twill_tiles step %twill_step  : i32 {")
_IN_TILE = ("      %twill_tile_x = arith.remsi %twill_tile, %twill_x : i32 loc(unknown)",
            "      %twill_row = arith.divsi %twill_tile, %twill_x : i32 loc(unknown)",
            "      %twill_tile_y = arith.remsi %twill_row, %twill_y : i32 loc(unknown)",
            "      %twill_tile_z = arith.divsi %twill_row, %twill_y : i32 loc(unknown)")


class NoTiles(TwillError):
    """The kernel cannot walk tiles; has the reason."""


def key_of(key: str) -> str:
    """The key of the answer about a module over tiles, from the key of the answer about the module."""
    return store.key_of("over tiles", key, _source())


@functools.lru_cache(maxsize=None)
def _source() -> str:
    return Path(__file__).read_text(encoding="utf-8")


def over_tiles(text: str) -> str:
    """TTGIR before pipelining, as a module that walks the tiles of the grid in its last three arguments. Raises NoTiles."""
    if "%twill_" in text:
        raise NoTiles("it walks tiles already")
    lines = text.split("\n")
    begin, end = _body(lines)
    function = _FUNCTION.fullmatch(lines[begin - 1])
    if function is None:
        raise NoTiles("its function is written in an unknown way")
    groups = _grouped(lines[begin:end])
    if not groups or _name(groups[-1]) != "tt.return":
        raise NoTiles("its last operation is no return")
    names: dict[str, str] = {}
    for group in groups[:-1]:
        _look_at(group, names)
    if not any(name.startswith("%twill_tile_") for name in names.values()):
        raise NoTiles("each of its CTAs does the same")
    front, inside = _parted(groups[:-1])
    tile = [line for line in _IN_TILE if _results(line)[0] in _needed(names)]
    arguments = ", ".join([*filter(None, [function["arguments"]]), *(f"%{name}: i32 loc(unknown)" for name in GRID)])
    head = function[0][:function.start("arguments")] + arguments + function[0][function.end("arguments"):]
    return "\n".join([*lines[:begin - 1], head, *_written(front, names), *_LOOP, *tile,
                      *("  " + line for line in _written(inside, names)), "    } loc(unknown)", *groups[-1], *lines[end:]])


def _needed(names: dict[str, str]) -> set[str]:
    """The values of _IN_TILE that the kernel uses."""
    used = set(names.values())
    return used | ({"%twill_row"} if used & {"%twill_tile_y", "%twill_tile_z"} else set())


def _body(lines: Sequence[str]) -> tuple[int, int]:
    """Numbers of the lines of a module's only function, without its closing line."""
    begins = [number for number, line in enumerate(lines) if line.startswith("  tt.func ")]
    if len(begins) != 1:
        raise NoTiles("it calls functions" if begins else "it has no function")
    for number in range(begins[0] + 1, len(lines)):
        if lines[number].startswith("  }"):
            return begins[0] + 1, number
        if lines[number].startswith("  ^"):
            raise NoTiles("it returns early")
    raise NoTiles("its function is not closed")


def _grouped(lines: Sequence[str]) -> list[list[str]]:
    """Operations of a function's body, each with the lines of its regions."""
    groups: list[list[str]] = []
    for line in lines:
        if re.match(r"    [^ }^]", line):
            groups.append([line])
        elif groups:
            groups[-1].append(line)
        elif line.strip():
            raise NoTiles("its function is written in an unknown way")
    return groups


def _look_at(group: Sequence[str], names: dict[str, str]) -> None:
    """Refuses operations that cannot be in a loop over tiles; adds to `names` the values of program ids in that loop."""
    for line in group:
        operation = _OPERATION.fullmatch(line)
        if operation is None:
            if not _BETWEEN.fullmatch(line):
                raise NoTiles(f"a line is not understood: {line.strip()[:60]}")
            continue
        name = operation["name"]
        if name not in _PURE and name not in _WITH_MEMORY and not name.startswith(("arith.", "math.")):
            raise NoTiles(f"{name} in a loop over tiles")
        program = _program(line)
        if program is not None:
            names[program[0]] = program[1]


def _program(line: str) -> tuple[str, str] | None:
    """For an operation that reads a CTA's place, or the grid: its result, and the result's value in the loop over tiles."""
    operation = _OPERATION.fullmatch(line)
    if operation is None or operation["name"] not in ("tt.get_program_id", "tt.get_num_programs"):
        return None
    axis = _AXIS.match(operation["rest"])
    if axis is None or not operation["results"]:
        raise NoTiles(f"{operation['name']} is written in an unknown way")
    return operation["results"], f"%twill_{'tile_' if operation['name'] == 'tt.get_program_id' else ''}{axis[1]}"


def _written(groups: Sequence[Sequence[str]], names: dict[str, str]) -> list[str]:
    """Lines of operations, without those that read a CTA's place: `names` has their results' values in the loop over tiles."""
    lines = [line for group in groups for line in group if _program(line) is None]
    return [_VALUE.sub(lambda value: names.get(value[0], value[0]), line) for line in lines]


def _name(group: Sequence[str]) -> str:
    operation = _OPERATION.fullmatch(group[0])
    return operation["name"] if operation else ""


def _results(line: str) -> list[str]:
    """Names of an operation's results."""
    operation = _OPERATION.fullmatch(line)
    return _VALUE.findall(operation["results"] or "") if operation else []


def _parted(groups: Sequence[list[str]]) -> tuple[list[list[str]], list[list[str]]]:
    """Operations that are the same for each tile, before the loop, and the others, each in their order."""
    front: list[list[str]] = []
    inside: list[list[str]] = []
    of_tile: set[str] = set()
    for group in groups:
        name, values = _name(group), set(_VALUE.findall(group[0]))
        computes = name in _PURE and not name.startswith("ttg.local") or name in _ONCE or name.startswith(("arith.", "math."))
        if len(group) == 1 and computes and name != "tt.get_program_id" and not values & of_tile:
            front.append(group)
        else:
            inside.append(group)
            of_tile.update(_results(group[0]))
    return front, inside
