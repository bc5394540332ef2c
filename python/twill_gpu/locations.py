"""Lines of the user's source for lines of a module's text."""

from __future__ import annotations

import re

from .program import Diagnostic

_ALIAS = re.compile(r"^(#loc\d*) = loc\((.*)\)$", re.M)
_PLACE = re.compile(r'"([^"]+)":(\d+):\d+')
_FUNCTION = re.compile(r"^ *tt\.func public", re.M)
_PLACED = re.compile(r"[^:\n]+:\d+: ")


def placed(why: str, text: str) -> str:
    """A reason that begins with FILE:LINE of the user's source: the line of the kernel in `text` if the reason names no line itself."""
    if _PLACED.match(why):
        return why
    function = _FUNCTION.search(text)
    place = user_line(text, text.count("\n", 0, function.start()) + 1) if function else None
    return f"{place}: {why}" if place else why


def of_source(said: Diagnostic, text: str) -> Diagnostic:
    """A message of the program about `text`, at the line of the user's source. Unchanged if the text has no locations."""
    place = user_line(text, said.line) if said.line else None
    if place is None:
        return said
    file, line = place.rsplit(":", 1)
    message = re.sub(r" \([^()]*:\d+ of the source\)$", "", said.message)  # the place is stated once, by the file's short name
    return Diagnostic(file, int(line), 0, message)


def user_line(text: str, line: int) -> str | None:
    """FILE:LINE of the user's source for line `line` (from 1) of MLIR `text` with locations; None if it has none.

    An operation with regions has its location at the end of its last region.
    """
    lines = text.split("\n")
    if not 1 <= line <= len(lines):
        return None
    found = re.search(r"loc\((.*)\)\s*$", lines[_last_line(lines, line) - 1])
    if not found:
        return None
    aliases = dict(_ALIAS.findall(text))
    place = _place(found[1], aliases)
    return f"{_unescaped(place[0]).rsplit('/', 1)[-1]}:{place[1]}" if place else None


def _unescaped(text: str) -> str:
    """The text of a string of MLIR: bytes beyond ASCII are \\ and two hexadecimal digits there."""
    whole = re.sub(rb"\\([0-9A-F]{2})", lambda found: bytes.fromhex(found[1].decode()), text.encode())
    return whole.decode(errors="replace")


def _last_line(lines: list[str], line: int) -> int:
    """The last line of the operation that begins on `line`."""
    while lines[line - 1].endswith("{"):
        indent = len(lines[line - 1]) - len(lines[line - 1].lstrip())
        for number in range(line + 1, len(lines) + 1):
            here = lines[number - 1]
            if here.strip() and len(here) - len(here.lstrip()) <= indent and not here.lstrip().startswith("^"):
                line = number
                break
        else:
            return line
    return line


def _place(location: str, aliases: dict[str, str]) -> tuple[str, str] | None:
    """The first file and line to which `location` leads, through names and callers."""
    for _ in range(len(aliases) + 1):
        found = _PLACE.search(location)
        if found:
            return found[1], found[2]
        alias = re.search(r"#loc\d*", location)
        if not alias:
            return None
        location = aliases.get(alias[0], "")
    return None
