#!/usr/bin/env python3
"""Compares the glossary with the identifiers. Usage: check_names.py

- A type that headers of two rooms or more define under one name is in docs/reference/type-names.md, with exactly these rooms.
- No type of a header is named by a word that docs/reference/glossary.md calls old.
- Files and folders in the last column of the glossary exist.
- Headers and sources that comments and documents name exist.
- A type or constant in an anonymous namespace occurs once in a room: presets compile a room's sources together.

A type is a struct, a class, an enum class or an alias at the beginning of a line, so one of a namespace.
"""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src/twill"
GLOSSARY = ROOT / "docs/reference/glossary.md"
TYPE_NAMES = ROOT / "docs/reference/type-names.md"
TYPE = re.compile(r"^(?:(?:struct|class|enum class) (\w+)\b[^;{]*\{|using (\w+) =)", re.MULTILINE)


def types_of(text):
    return [first or second for first, second in TYPE.findall(text)]


def rooms_by_type():
    rooms = collections.defaultdict(set)
    for path in sorted(SOURCES.rglob("*.h")):
        for name in types_of(path.read_text()):
            rooms[name].add(path.relative_to(SOURCES).parts[0])
    return rooms


def listed_types(text):
    """Rooms by type, as in the page: `name` | `room` what; `room` what."""
    return {name: set(re.findall(r"(?:^|; )`(\w+)` ", cell)) for name, cell in re.findall(r"^\| `(\w+)` \| (.*) \|$", text, re.MULTILINE)}


def homonyms_against(listed, rooms):
    """Complaints about a page that lists these rooms by type, while headers have others."""
    shared = {name: found for name, found in rooms.items() if len(found) > 1}
    for name in sorted(shared.keys() | listed.keys()):
        missing, stale = shared.get(name, set()) - listed.get(name, set()), listed.get(name, set()) - shared.get(name, set())
        if missing:
            yield f"lacks type {name} of {', '.join(sorted(missing))}: list it, or give it a name of its own"
        if stale:
            yield f"lists type {name} of {', '.join(sorted(stale))}, which is not there or shares its name no longer"


def old_words(glossary):
    """Words after *old:* in the second column."""
    return {word.strip() for cell in re.findall(r"\*old:\* ([^|;]+)", glossary) for word in cell.split(",")}


def words_of(name):
    """Each word of the name, and each two in a row, with and without the s of a plural: 'HandOffs' has hand-off."""
    parts = [it.lower() for it in re.findall(r"[A-Z][a-z0-9]*", name)]
    found = {*parts, *("-".join(pair) for pair in zip(parts, parts[1:]))}
    return found | {it.removesuffix("s") for it in found}


def old_names_among(names, words):
    for name in sorted(names):
        for word in sorted(words & words_of(name)):
            yield f"type {name} has the old word '{word}' (docs/reference/glossary.md has the new one)"


def places_of(glossary):
    """The line and each path in code style of the last column, in tables that say where."""
    inside = False
    for number, line in enumerate(glossary.splitlines(), 1):
        if not line.startswith("|"):
            inside = False
            continue
        cells = [it.strip() for it in line.strip().strip("|").split(" | ")]
        inside = inside or cells[-1] == "where"
        if inside:
            for path in re.findall(r"`([^`]*)`", cells[-1]):
                yield number, path


def files_named(text, is_code):
    """The line and the name, without folders, of each header or source that a comment or a document names."""
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("//")[2] if is_code else " ".join(re.findall(r"`([^`]*)`", line))
        for name in re.findall(r"(?<![\w-])[a-z][\w-]+\.(?:h|cpp|cuh)\b", words):
            yield number, name


def missing_files():
    sources = [path for folder in ("src", "runtime", "tests", "bench") for path in (ROOT / folder).rglob("*")]
    names = {path.name for path in sources}
    code = [path for path in sources if path.suffix in (".h", ".cpp", ".cuh")]
    for path in sorted([*code, ROOT / "ARCHITECTURE.md", *(ROOT / "docs").rglob("*.md")]):
        for line, name in files_named(path.read_text(), path in code):
            if name not in names:
                yield f"{path.relative_to(ROOT)}:{line}: there is no {name}"


def private_names(text):
    """Types and constants that an anonymous namespace at the beginning of a line defines."""
    for inside in re.findall(r"^namespace \{$(.*?)^\}  // namespace$", text, re.MULTILINE | re.DOTALL):
        yield from re.findall(r"^(?:struct|class|enum class) (\w+)\b[^;{]*\{", inside, re.MULTILINE)
        yield from re.findall(r"^(?:static |inline )*(?:constexpr|const) [^=({]*?\b(k[A-Z]\w*)\b", inside, re.MULTILINE)


def defined_twice(rooms):
    """Complaints about sources by room and file. Names of different namespaces do not meet."""
    for room, files in sorted(rooms.items()):
        where = collections.defaultdict(list)
        for file, text in files.items():
            space = re.search(r"^namespace ([\w:]+) \{$", text, re.MULTILINE)
            for name in private_names(text):
                where[space and space[1], name].append(file)
        for (_, name), found in sorted(where.items(), key=str):
            if len(found) > 1:
                yield f"{room}: {name} is defined in {' and '.join(found)}: share it in a header, or give one another name"


def sources_by_room():
    rooms = collections.defaultdict(dict)
    for path in sorted(SOURCES.rglob("*.cpp")):
        rooms[path.relative_to(SOURCES).parts[0]][str(path.relative_to(SOURCES))] = path.read_text()
    return rooms


def main():
    rooms, glossary = rooms_by_type(), GLOSSARY.read_text()
    page, list_of_words = TYPE_NAMES.relative_to(ROOT), GLOSSARY.relative_to(ROOT)
    wrong = [f"{page}: {it}" for it in homonyms_against(listed_types(TYPE_NAMES.read_text()), rooms)]
    wrong += [f"src/twill: {it}" for it in old_names_among(rooms, old_words(glossary))]
    wrong += [f"{list_of_words}:{line}: there is no {path}" for line, path in places_of(glossary)
              if not (SOURCES / path).exists() and not (ROOT / path).exists()]
    wrong += missing_files()
    wrong += [f"src/twill/{it}" for it in defined_twice(sources_by_room())]
    print("\n".join(wrong) or f"{len(rooms)} type names, and the glossary's places, are as listed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
