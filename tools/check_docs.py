#!/usr/bin/env python3
"""Runs the commands that the documents show. Usage: check_docs.py --program build/release/twill [--write] [FILE.md ...]

Every line `$ command` of a ```console block in README.md, CONTRIBUTING.md and docs/ is run by bash as if from the root
of the repository, and must exit with 0, or with N if it ends in `# exit N`. Lines below it must occur in its output,
in order and exactly but for spaces at the end; a line `...` stands for any lines. Files that commands write go to a
scratch folder, which the commands of one document share. Commands that build or install are not run; files that they
name must exist. Relative links must lead to a file or heading.

--write puts the real output in place of output that is shown in full (without `...`) and differs.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOT_RUN = ("./demo", "./test", ".ci/run", "cmake", "ctest", "git", "bench/run", "bench/solvers", "bench/plot", "bench/batch",
           "tools/bootstrap-debian.sh", "pip")
SECONDS_MAX = 120


@dataclasses.dataclass
class Command:
    line: int
    text: str
    exit_code: int = 0
    shown: list = dataclasses.field(default_factory=list)


def commands_of(text):
    """The commands of the ```console blocks, with the output shown for each."""
    commands, inside = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            inside = not inside and line.strip() == "```console"
        elif inside and line.startswith("$ "):
            code = re.search(r"\s+# exit (\d+)$", line)
            commands.append(Command(number, line[2:code.start()] if code else line[2:], int(code[1]) if code else 0))
        elif inside and commands and commands[-1].text.endswith("\\"):
            commands[-1].text = commands[-1].text[:-1] + line.lstrip("> ")
        elif inside and commands:
            commands[-1].shown.append(line.rstrip())
    return commands


def first_missing(shown, output):
    """The first line of `shown` that is missing in `output` at its place, or None."""
    chunks = [[]]
    for line in shown:
        if line.strip() == "...":
            chunks.append([])
        else:
            chunks[-1].append(line)
    at = 0
    for chunk in chunks:
        places = range(at, len(output) - len(chunk) + 1)
        found = next((place for place in places if output[place:place + len(chunk)] == chunk), None)
        if found is None:
            return next((line for line in chunk if line not in output[at:]), chunk[0])
        at = found + len(chunk)
    return None


def check_not_run(command):
    words = command.text.split()
    if "/" in words[0] and not (ROOT / words[0]).exists():
        yield f"there is no {words[0]}"
    if words[:2] == ["cmake", "--preset"] or words[:3] == ["cmake", "--build", "--preset"]:
        presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
        preset = words[words.index("--preset") + 1]
        if preset not in [known["name"] for known in presets]:
            yield f"there is no preset {preset}"


def check_command(command, folder, environment, outputs):
    """The complaint about a command, if any; its lines of output go to `outputs`."""
    if command.text.split()[0] in NOT_RUN:
        yield from check_not_run(command)
        return
    try:
        done = subprocess.run(["bash", "-c", command.text], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=SECONDS_MAX, check=False)
    except subprocess.TimeoutExpired:
        yield f"took longer than {SECONDS_MAX} seconds"
        return
    if done.returncode != command.exit_code:
        yield f"exited with {done.returncode}, not {command.exit_code}:\n{done.stdout}"
        return
    output = [line.rstrip() for line in done.stdout.splitlines()]
    missing = first_missing(command.shown, output)
    if missing is not None:
        outputs.append((command, output))
        yield f"does not print\n{missing}\nbut\n{done.stdout}"


def make_scratch(folder, program):
    """A folder with links to the repository, with the program on PATH and in the place of the release preset."""
    for entry in ROOT.iterdir():
        if entry.name not in ("build", ".git"):
            (folder / entry.name).symlink_to(entry)
    (folder / "build" / "release").mkdir(parents=True)
    (folder / "build" / "release" / "twill").symlink_to(program)
    return {**os.environ, "PATH": f"{folder}/build/release:{os.environ['PATH']}"}


def rewrite(path, outputs):
    """Puts the new output of each command below that command."""
    lines = path.read_text().splitlines()
    for command, output in reversed(outputs):
        end = command.line + len(command.shown)
        if "..." not in command.shown and lines[command.line:end] == command.shown:
            lines[command.line:end] = output
    path.write_text("\n".join(lines) + "\n")


def anchors_of(text):
    """Names that a link may have after '#': each heading, in the words that GitHub makes of it."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", re.sub(r"\]\([^)]*\)", "]", it)).strip().lower().replace(" ", "-") for it in headings}


def broken_links(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", line):
            if "://" in target:
                continue
            to = path.parent / target if target else path
            if not to.exists():
                yield number, f"the link {target} leads nowhere"
            elif anchor and to.suffix == ".md" and anchor not in anchors_of(to.read_text()):
                yield number, f"the link {target}#{anchor} names no heading there"


def check_document(path, program, write=False):
    text = path.read_text()
    yield from broken_links(path, text)
    commands = commands_of(text)
    if not commands:
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        environment = make_scratch(folder, program)
        outputs = []
        for command in commands:
            for problem in check_command(command, folder, environment, outputs):
                yield command.line, f"`{command.text}` {problem}"
    if write:
        rewrite(path, outputs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("documents", type=pathlib.Path, nargs="*")
    arguments = parser.parse_args()
    documents = arguments.documents or [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md",
                                        ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
    failed = False
    for document in documents:
        for number, problem in check_document(document, arguments.program.resolve(), arguments.write):
            failed = True
            print(f"{document}:{number}: {problem}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
