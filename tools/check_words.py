#!/usr/bin/env python3
"""Holds the project to words that anybody understands. Usage: check_words.py

- A block of comment lines begins with a verb or a noun, never with What, Who, Whose, Of, Nothing or Nobody.
- Comments and documents name the thing, never nobody, somebody, anybody or whoever.
- A sentence of a comment has at most 25 words. Indented lines are drawings and formulas, and not counted.
- A sentence of the documents has at most 40 words. Code, tables of numbers and links' targets are no words.
- Documents use the glossary's names, not the old ones that REPLACED has; code and file formats may.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OPENERS = ("What", "Who", "Whose", "Of", "Nothing", "Nobody")
PERSON = re.compile(r"\b(?:nobody|somebody|anybody|whoever)\b", re.IGNORECASE)
MOST_WORDS = 40
MOST_IN_COMMENT = 25
REPLACED = {"hand-off": "transfer op", "hand-over": "transfer", "errand": "transfer op", "knob": "what-if", "resident": "loop-invariant buffer"}
OF_THEIR_TIME = ("docs/hardware-log.md", "docs/reference/glossary.md")  # a log, and the page that lists old names
SOURCES = {".h": "//", ".cpp": "//", ".cuh": "//", ".cu": "//", ".py": "#", ".sh": "#", ".cmake": "#"}
FOLDERS = ("src/twill", "runtime", "tests", "tools", "bench", "python", "cmake")


def comment_blocks(text, mark):
    """The line and the words of each block of lines that are comments and nothing else."""
    block, begin = [], 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        line = line.strip()
        if line.startswith(mark) and not (mark == "#" and line.startswith("##")):  # a heading in a text
            begin = begin or number
            block.append(line.lstrip(mark + "!<").strip())
        elif block:
            yield begin, " ".join(block).strip()
            block, begin = [], 0


def begins_badly(words):
    return re.match(r"[\w-]*", words)[0] in OPENERS


def bad_openers():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in SOURCES or "build" in path.parts:
                continue
            for line, words in comment_blocks(path.read_text(errors="replace"), SOURCES[path.suffix]):
                if begins_badly(words):
                    yield path, line, words[:100]


def comment_prose(text, mark):
    """The line and the text of each paragraph and list item of the comments; a comment behind code counts, too."""
    block, begin, in_item, kind = [], 0, False, ""
    for number, line in enumerate([*text.splitlines(), ""], 1):
        found = None if line.startswith("#!") else re.match(rf"(?:(.*)\s)?({re.escape(mark)}[/!<]*) ?(\s*)(.*)$", line)
        code, now, indent, words = (found[1] or "", found[2], len(found[3]), found[4].strip()) if found else ("", "", 0, "")
        trailing, is_item = bool(code.strip()), words.startswith("- ")
        drawing = indent > 1 and not in_item and not trailing
        if block and (not words or drawing or is_item or trailing or now != kind):
            yield begin, " ".join(block)
            block, in_item = [], False
        if words and not drawing:
            begin, in_item, kind = begin if block else number, in_item or is_item, now
            block.append(words)


def long_comments():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in SOURCES or "build" in path.parts:
                continue
            for line, prose in comment_prose(path.read_text(errors="replace"), SOURCES[path.suffix]):
                for sentence in sentences_of(prose):
                    count = len(words_in(sentence))
                    if count > MOST_IN_COMMENT:
                        yield path, line, f"{count} words: {sentence[:90]}"


def persons():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in SOURCES or "build" in path.parts:
                continue
            for line, prose in comment_prose(path.read_text(errors="replace"), SOURCES[path.suffix]):
                for name in PERSON.findall(re.sub(r"`[^`]*`", "code", prose)):
                    yield path, line, f"'{name}' in: {prose[:80]}"
    for path in documents():
        for line, prose in prose_of(path.read_text()):
            for name in PERSON.findall(re.sub(r"`[^`]*`", "code", prose)):
                yield path, line, f"'{name}' in: {prose[:80]}"


def prose_of(text):
    """The line and the text of each paragraph, list item and cell of a table; code is left out."""
    block, begin, fenced = [], 0, False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        stripped = line.strip()
        if stripped.startswith("```"):
            fenced = not fenced
            stripped = ""
        elif fenced or line.startswith("    ") and not block:
            continue
        is_row, is_item = stripped.startswith("|"), re.match(r"([-*]|\d+\.) ", stripped)
        if block and (not stripped or is_row or is_item or stripped.startswith("#")):
            yield begin, " ".join(block)
            block = []
        if is_row:
            for cell in stripped.strip("|").split(" | "):
                yield number, cell
        elif stripped and not stripped.startswith("#"):
            begin = begin if block else number
            block.append(stripped)


def sentences_of(prose):
    prose = re.sub(r"`[^`]*`", "code", prose)
    prose = re.sub(r"\]\([^)]*\)", "]", prose)
    prose = re.sub(r"\b(e\.g|i\.e|etc|vs)\.", r"\1", prose)
    return [it for it in re.split(r"(?<=[.!?;])[)\"*]*\s+", prose) if it]  # a semicolon ends one, too


def documents():
    return [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def words_in(sentence):
    return [it for it in sentence.split() if re.search(r"[A-Za-z]", it)]


def long_sentences():
    for path in documents():
        for line, prose in prose_of(path.read_text()):
            for sentence in sentences_of(prose):
                count = len(words_in(sentence))
                if count > MOST_WORDS:
                    yield path, line, f"{count} words: {sentence[:90]}"


def old_names_in(prose):
    pattern = r"\b(?:" + "|".join(REPLACED) + r")s?\b"
    return re.findall(pattern, re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "code", prose)), re.IGNORECASE)


def old_names():
    for path in documents():
        if str(path.relative_to(ROOT)) in OF_THEIR_TIME:
            continue
        for line, prose in prose_of(path.read_text()):
            for name in old_names_in(prose):
                yield path, line, f"'{name}' is called {REPLACED[name.lower().rstrip('s')]} (docs/reference/glossary.md)"


def main():
    found = [*bad_openers(), *persons(), *long_comments(), *long_sentences(), *old_names()]
    for path, line, what in found:
        print(f"{path.relative_to(ROOT)}:{line}: {what}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
