#!/usr/bin/env python3
"""Holds the sources to the table of rooms in ARCHITECTURE.md. Usage: check_rooms.py [ROOT]

Checked: every room has a row and every row a room; a file includes only what its room may include, directly or through
the rooms of its row; so does every CMakeLists.txt; solve and verify stay apart; third-party headers stay where they
belong; headers have `#pragma once`; no file outgrows its reader; no room behind a front end knows the names that a text
has for its operations, or asks an op for an attribute of the text.
"""

import pathlib
import re
import sys

APART = [("verify", "solve"), ("certify", "solve"), ("solve", "verify"), ("solve", "certify")]

# Third-party headers: the rooms and file kinds that may include them. Libraries that are not listed may not be included
# at all.
FOREIGN = {
    "tl/": (None, (".h", ".cpp")),
    "fmt/": (None, (".cpp",)),
    "nlohmann/": (None, (".cpp",)),
    "CLI/": ("cli", (".h", ".cpp")),
}

# Rooms behind a front end know tile operations (ir/op_kind.h). Only these folders know the names of Triton and MLIR for them.
SPELLINGS = re.compile(r"\b(?:tt|ttg|ttng|scf|arith|math|cf|ub|triton_gpu|triton_nvidia_gpu)[._][a-z]\w*")
ATTRIBUTES = re.compile(r"\b(?:integer_|string_|integers_)?attribute\((?=\*|\w+[,(])")
SPELLED_IN = ("src/twill/dialect/", "src/twill/emit/ttgir/", "src/twill/frontend/tasks/", "src/twill/frontend/ttgir/")

LINES_MAX = 500
# "src/twill/ROOM/FILE": lines, for files with a reason to be longer; the reason is a comment here.
LINES_ALLOWED = {}


def read_table(architecture):
    """{room: [rooms of its row]} from the table under the heading "Rooms"."""
    section = architecture.split("\n## Rooms\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", section, re.MULTILINE)
    return {room: re.findall(r"\w+", uses) for room, uses in rows}


def may_include(table, room):
    """The room itself, the rooms of its row, and the rooms of their rows."""
    seen, todo = set(), [room]
    while todo:
        at = todo.pop()
        if at not in seen:
            seen.add(at)
            todo.extend(table.get(at, []))
    return seen


def check_table(table, rooms):
    for room in sorted(set(table) - rooms):
        yield f"ARCHITECTURE.md: there is no room src/twill/{room}"
    for room in sorted(rooms - set(table)):
        yield f"src/twill/{room}: has no row in ARCHITECTURE.md"
    for room, uses in table.items():
        for used in uses:
            if used not in table:
                yield f"ARCHITECTURE.md: {room} may include {used}, which is no room"
            elif room in may_include(table, used):
                yield f"ARCHITECTURE.md: {room} and {used} may include each other"
    for room, other in APART:
        if other in may_include(table, room):
            yield f"ARCHITECTURE.md: {room} may not include {other}"


def check_foreign(room, path, header):
    if "/" not in header:
        return  # the standard library
    for prefix, (only_room, suffixes) in FOREIGN.items():
        if header.startswith(prefix):
            if only_room not in (None, room):
                yield f"<{header}> belongs in {only_room} only"
            elif path.suffix not in suffixes:
                yield f"<{header}> belongs in {' and '.join(suffixes)} files only"
            return
    if not header.startswith("sys/"):
        yield f"<{header}> is not a library Twill is built on"


def check_file(room, allowed, path, most_lines):
    text = path.read_text()
    lines = text.splitlines()
    if len(lines) > most_lines:
        yield 1, f"has {len(lines)} lines, more than {most_lines}"
    if path.suffix == ".h" and "#pragma once" not in text:
        yield 1, "has no #pragma once"
    for number, line in enumerate(lines, 1):
        match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
        if not match:
            continue
        quote, header = match.groups()
        if quote == "<":
            for problem in check_foreign(room, path, header):
                yield number, problem
            continue
        own = re.match(r"twill/(\w+)/", header)
        if not own:
            yield number, f'write "{header}" as "twill/ROOM/..."'
        elif own[1] not in allowed:
            yield number, f"{room} may not include {own[1]}"


def check_spellings(where, text):
    for number, line in enumerate(text.splitlines(), 1):
        code = line.split("//", 1)[0]
        if not where.startswith(SPELLED_IN) and (found := SPELLINGS.search(code)):
            yield number, f"{found[0]} is a name of the text: ask for a kind of ir/op_kind.h"
        if not where.startswith(SPELLED_IN) and ATTRIBUTES.search(code):
            yield number, "asks for an attribute of the text: lower it to a field of ir::Traits"


def check_links(room, allowed, path):
    for uses in re.findall(r"\bUSES\s+([^)]*?)(?=\bLINKS\b|\bSOURCES\b|\))", path.read_text()):
        for used in uses.split():
            if used not in allowed:
                yield f"{room} may not use {used}"


def check(root):
    table = read_table((root / "ARCHITECTURE.md").read_text())
    source = root / "src" / "twill"
    rooms = {folder.name for folder in source.iterdir() if folder.is_dir()}
    yield from check_table(table, rooms)
    for room in sorted(rooms & set(table)):
        allowed = may_include(table, room)
        for path in sorted((source / room).rglob("*")):
            where = path.relative_to(root).as_posix()
            if path.suffix in (".h", ".cpp"):
                most_lines = LINES_ALLOWED.get(where, LINES_MAX)
                found = [*check_file(room, allowed, path, most_lines), *check_spellings(where, path.read_text())]
                for number, problem in found:
                    yield f"{where}:{number}: {problem}"
            elif path.name == "CMakeLists.txt":
                for problem in check_links(room, allowed, path):
                    yield f"{where}: {problem}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    problems = list(check(root))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
