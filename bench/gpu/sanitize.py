"""Runs compute-sanitizer over kernels, one process each, and keeps its findings: the part of check.py that needs no GPU itself."""
import json
import pathlib
import re
import subprocess
import time

TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
KEPT = 40  # lines of findings that are kept for each kernel


def verdict_of(output, returncode):
    """The verdict: "clean", "findings" or "failed" (without a verdict of the tool, since the run or the check itself failed); the number of findings,
    and their lines.
    """
    summaries = re.findall(r"^=+ (?:ERROR|RACECHECK) SUMMARY: (\d+) (?:error|hazard)", output, re.MULTILINE)
    lines = [line for line in output.splitlines() if line.startswith("=========")]
    if not summaries:
        return "failed", 0, output.splitlines()[-KEPT:]
    count = int(summaries[-1])
    if count:
        return "findings", count, lines[:KEPT]
    return ("clean", 0, []) if returncode == 0 else ("failed", 0, output.splitlines()[-KEPT:])


def read(path):
    """The recorded verdicts, by kernel and tool."""
    entries = json.loads(path.read_text()) if path.exists() else []
    return {(entry["kernel"], entry["tool"]): entry for entry in entries}


def write(path, entries):
    """Writes the file, whole or not at all."""
    half = path.with_name(path.name + ".new")
    half.write_text(json.dumps(list(entries.values()), indent=1) + "\n")
    half.rename(path)


def run(labels, tool, path, command_of, timeout):
    """Runs the tool over every kernel without a verdict in the file `path`, and records each verdict there at once. Failed runs are tried again by
    the next run. `command_of(label)`: command that checks that kernel alone. Returns the number of kernels that are not clean.
    """
    entries = read(path)
    for label in labels:
        known = entries.get((label, tool))
        if not known or known["verdict"] == "failed":
            began = time.monotonic()
            command = ["compute-sanitizer", "--tool", tool, *command_of(label)]
            try:
                done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout)
                verdict, count, lines = verdict_of(done.stdout, done.returncode)
            except subprocess.TimeoutExpired:
                verdict, count, lines = "failed", 0, [f"took more than {timeout} s"]
            known = dict(kernel=label, tool=tool, verdict=verdict, count=count, lines=lines, seconds=round(time.monotonic() - began))
            entries[label, tool] = known
            write(path, entries)
        print(f"{known['verdict']:8} {label} {tool} {known['count'] or ''}".rstrip(), flush=True)
    return sum(entries[label, tool]["verdict"] != "clean" for label in labels)
