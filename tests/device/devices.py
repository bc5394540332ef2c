#!/usr/bin/env python3
"""The drop-in on several GPUs of one host: on each of them, each launch has the results of plain Triton. README.md lists the checks.

Usage: devices.py [--only WORD,WORD...] [--seconds N] [--json FILE] [--list]

Each check runs in a process of its own, since a failing launch ends the use of a GPU. The processes share a cache folder that is empty at first.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "python"), str(pathlib.Path(__file__).parent)]

LONGEST = 150.0  # seconds of one check
MARK = "devices.py: "  # before each line of a check


def checked(name, cache, seconds):
    """Result of a check in its process: complaints, facts, seconds."""
    began = time.monotonic()
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TWILL_") or key == "TWILL_PROGRAM"}
    environment |= {"TRITON_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("TWILL", None)
    try:
        done = subprocess.run([sys.executable, __file__, "--check", name], env=environment, capture_output=True, text=True, timeout=seconds)
        lines = [line[len(MARK):] for line in done.stdout.splitlines() if line.startswith(MARK)]
        found = json.loads(lines[-1]) if lines else {"wrong": [f"its process ended with {done.returncode}: {done.stderr.strip()[-1500:]}"], "facts": []}
    except subprocess.TimeoutExpired as late:
        found = {"wrong": [f"no end within {seconds:.0f} s: {(late.stderr or b'').decode(errors='replace')[-500:]}"], "facts": []}
    return {"check": name, **found, "seconds": time.monotonic() - began}


def check(name):
    """Runs one check in its process and prints the result."""
    import devices_checks

    print(MARK + json.dumps(devices_checks.run(name)), flush=True)


def names():
    import devices_checks

    return list(devices_checks.CHECKS)


def cards():
    """The GPUs of this host, by name."""
    import torch

    return [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--only", default="", help="checks whose names have one of these words, which commas part")
    parser.add_argument("--seconds", type=float, default=480, help="no check is begun beyond them")
    parser.add_argument("--list", action="store_true", help="the names of the checks")
    parser.add_argument("--check", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.check:
        check(arguments.check)
        return 0
    words = [word for word in arguments.only.split(",") if word]
    chosen = [name for name in names() if not words or any(word in name for word in words)]
    if arguments.list:
        print("\n".join(chosen))
        return 0
    found, began, there = [], time.monotonic(), cards()
    print(f"{len(there)} GPUs: {', '.join(there)}", flush=True)
    if len(there) < 2 or not chosen:
        print("this needs two GPUs" if chosen else "no check has such a name (--list has them)")
        return 1
    with tempfile.TemporaryDirectory(prefix="twill-devices-") as cache:
        for name in chosen:
            left = arguments.seconds - (time.monotonic() - began)
            row = checked(name, cache, min(left, LONGEST)) if left > 5 else {"check": name, "wrong": ["left out for want of time"], "facts": [], "seconds": 0.0}
            found.append(row)
            print("\n".join([f"{name}: {'WRONG' if row['wrong'] else 'right'}, {row['seconds']:.0f} s", *(f"  WRONG {line}" for line in row["wrong"]),
                             *(f"  {line}" for line in row["facts"])]), flush=True)
            if arguments.json:
                arguments.json.write_text(json.dumps({"cards": there, "checks": found}, indent=1))
    print("\n| check | |\n|---|---|")
    for row in found:
        print(f"| {row['check']} | {'; '.join(row['wrong'])[:200].replace(chr(10), ' ') or 'right'} |")
    wrong = sum(bool(row["wrong"]) for row in found)
    print(f"{wrong} of {len(found)} checks are wrong" if wrong else "all right", f"after {time.monotonic() - began:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
