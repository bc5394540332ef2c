#!/usr/bin/env python3
"""Runs emitted kernels on the CPU, all of them or a sample: sweep.py --program build/ci/twill [--folder sweep.out] [--sample N]

Protects: whatever `twill emit cuda` prints does what the kernel's text does, whoever arranged it, by `twill run`: every kernel that can be
printed, by every strategy, with the alternatives to the optimum, with registers kept free, with hand-offs, in other sub-tiles, in clusters,
one tile for each CTA or several, with 0 to 4 iterations of its loop.

Variants that print the same text are run once. What has a verdict in FOLDER/verdicts.jsonl by the same program is not run again, so a sweep
that was interrupted goes on; the folders of kernels that fail are kept in FOLDER/failed. With --sample, every kernel by strategy twill, those of this
folder by every strategy, and N of the rest, drawn by --seed (of this commit, if none is given).
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import samples  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRATEGIES = ("twill", "modulo", "triton", "cypress", "sequential")
VARIANTS = [("--strategy", strategy, *more)
            for strategy in STRATEGIES
            for more in ((), ("--tiles", "one"), ("--tiles", "persistent"), ("--cluster", "2"), ("--subtile", "0"), ("--subtile", "64"))]
VARIANTS += [("--strategy", "triton", "--ping-pong"), ("--strategy", "modulo", "--transfer-ops"), ("--pins",)]
VARIANTS += [("--alternative", str(n)) for n in range(1, 5)]
VARIANTS += [("--spare-registers", str(n), *more) for n in range(0, 49, 8) for more in ((), ("--transfer-ops",)) if n or more]
PLAIN = ("--strategy", "twill")


def kernels():
    found = sorted(path for path in ROOT.glob("kernels/*/sm_90/*.pre.ttgir"))
    found += sorted(ROOT.glob("tests/emit/*.ttgir")) + sorted(ROOT.glob("tests/run/*.ttgir")) + sorted(ROOT.glob("tests/execute/flat/*.sm_90.ttgir"))
    return [path.relative_to(ROOT) for path in found]


class Sweep:
    def __init__(self, options):
        self.options = options
        self.folder = options.folder
        if options.anew:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.program = str(options.program.resolve())
        self.made_by = hashlib.sha256(options.program.read_bytes()).hexdigest()[:16]
        self.verdicts = self.folder / "verdicts.jsonl"
        self.lock = threading.Lock()
        self.known = {}  # by label
        self.texts = {}  # hash of kernel.cu -> label that runs it
        if self.verdicts.exists():
            for line in self.verdicts.read_text().splitlines():
                verdict = json.loads(line)
                if verdict["program"] == self.made_by:
                    self.known[verdict["label"]] = verdict
                    self.texts.setdefault(verdict["text"], verdict["label"])

    def record(self, label, verdict, detail="", seconds=0.0):
        text = next((text for text, first in self.texts.items() if first == label), "")
        entry = dict(label=label, verdict=verdict, detail=detail, seconds=round(seconds, 1), program=self.made_by, text=text)
        with self.lock:
            self.known[label] = entry
            with self.verdicts.open("a") as file:
                file.write(json.dumps(entry) + "\n")
            if verdict == "WRONG":
                print(f"WRONG {label}\n{detail}", flush=True)

    def emit(self, label, kernel, variant, scratch):
        """The folder of a kernel to run; None if it cannot be printed, or its text is known."""
        folder = scratch / re.sub(r"[^\w.]+", "_", label)
        done = subprocess.run([self.program, "emit", "cuda", str(kernel), "--machine", "h200", "--no-compile", *variant, "-o",
                               str(folder)], cwd=ROOT, capture_output=True, text=True)
        if done.returncode != 0:
            reason = (done.stderr.strip().splitlines() or ["?"])[0]
            self.record(label, "refused" if done.returncode > 2 else "WRONG", reason)
            return None
        with self.lock:
            first = self.texts.setdefault(hashlib.sha256((folder / "kernel.cu").read_bytes()).hexdigest(), label)
        if first != label:
            self.record(label, "same", first)
            return None
        return folder

    def run(self, batch):
        """Emits and runs a few (label, kernel, variant) in one process, since common parts are compiled once."""
        with tempfile.TemporaryDirectory() as name:
            folders = {}
            for label, kernel, variant in batch:
                folder = self.emit(label, kernel, variant, pathlib.Path(name))
                if folder:
                    folders[label] = folder
            if not folders:
                return
            # An interrupted sweep must not leave a child process.
            done = subprocess.run([self.program, "run", *map(str, folders.values()), "--json", "--seed", str(self.options.run_seed), "--trips",
                                   self.options.trips, "--completion", self.options.completion], cwd=ROOT, capture_output=True, text=True)
            reports = documents(done.stdout)
            if len(reports) != len(folders):
                for label, folder in folders.items():
                    self.judge_alone(label, folder)
                return
            for (label, folder), report in zip(folders.items(), reports):
                self.judge(label, folder, report)

    def judge_alone(self, label, folder):
        done = subprocess.run([self.program, "run", str(folder), "--json", "--seed", str(self.options.run_seed), "--trips", self.options.trips,
                               "--completion", self.options.completion], cwd=ROOT, capture_output=True, text=True)
        reports = documents(done.stdout)
        if reports:
            self.judge(label, folder, reports[0])
        else:
            self.keep(label, folder)
            self.record(label, "WRONG", done.stderr.strip())

    def judge(self, label, folder, report):
        seconds = sum(trial["seconds"] for trial in report["trials"])
        if report["agrees"]:
            rounded = any(output["rounded"] for trial in report["trials"] for output in trial["outputs"])
            self.record(label, "rounded" if rounded else "exact", f"{len(report['trials'])} calls", seconds)
            return
        self.keep(label, folder)
        lines = report["complaints"][:3]
        for trial in report["trials"]:
            if trial["agrees"]:
                continue
            arguments = " ".join(f"--arg {name}={value:g}" for name, value in trial["arguments"].items())
            lines.append(f"  {trial['trips']} trips, grid {trial['grid']}, {trial['completion']}: {trial['refusal']}{trial['fault']}")
            lines += [f"    kernel.cu:{it['line']}: {it['kind']}: {it['message']}" for it in trial["findings"][:3]]
            lines += [f"    %{it['name']}: {it['differing']} of {it['written']} differ" for it in trial["outputs"] if not it["agrees"]]
            lines.append(f"    {arguments}")
        self.record(label, "WRONG", "\n".join(lines[:14]), seconds)

    def keep(self, label, folder):
        target = self.folder / "failed" / folder.name
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(folder, target)

    def chosen(self):
        every = [(f"{kernel} {' '.join(variant)}", kernel, variant) for kernel in kernels() for variant in VARIANTS]
        every = [it for it in every if re.search(self.options.only, it[0])]
        if self.options.sample is None:
            return every
        plain = [it for it in every if len(it[2]) == 2 and it[2][0] == "--strategy"]
        first = [it for it in plain if it[2] == PLAIN or str(it[1]).startswith("tests/run/")]
        rest = [it for it in every if it not in first]
        return first + random.Random(self.options.seed).sample(rest, min(self.options.sample, len(rest)))

    def table(self, labels):
        columns = ("exact", "rounded", "same", "refused", "WRONG")
        rows = {}
        for label in labels:
            kernel = label.split(" ")[0]
            row = rows.setdefault(kernel, dict.fromkeys(columns, 0) | dict(seconds=0.0))
            row[self.known[label]["verdict"]] += 1
            row["seconds"] += self.known[label]["seconds"]
        width = max(map(len, rows))
        print(f"{'kernel':{width}}  " + "  ".join(f"{it:>7}" for it in (*columns, "seconds")))
        for kernel, row in rows.items():
            print(f"{kernel:{width}}  " + "  ".join(f"{row[it]:7}" for it in columns) + f"  {row['seconds']:7.1f}")
        total = {it: sum(row[it] for row in rows.values()) for it in columns}
        print(f"{'all':{width}}  " + "  ".join(f"{total[it]:7}" for it in columns))
        return total["WRONG"]


def batches_of(cases, most, jobs):
    """The cases, in order, as large batches first: a process compiles the executor once for its batch, while small batches
    at the end keep all jobs busy. A single job has large ones only."""
    found, at = [], 0
    while at < len(cases):
        size = most if jobs == 1 else min(most, max(4, (len(cases) - at) // (2 * jobs)))
        found.append(cases[at:at + size])
        at += size
    return found


def documents(text):
    """The JSON values that follow each other in a text."""
    found, decoder = [], json.JSONDecoder()
    text = text.lstrip()
    while text:
        value, end = decoder.raw_decode(text)
        found.append(value)
        text = text[end:].lstrip()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("sweep.out"))
    parser.add_argument("--only", default="", metavar="REGEX", help="kernels and options, as in the label")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", default=samples.seed(), help="of the sample")
    parser.add_argument("--run-seed", type=int, default=1, help="of `twill run`: sizes and the order of threads")
    parser.add_argument("--trips", default="0,1,2,3,4")
    parser.add_argument("--completion", default="both", choices=("late", "random", "both"))
    parser.add_argument("--anew", action="store_true", help="forget what FOLDER has")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--batch", type=int, default=12, help="kernels for each process, at most")
    options = parser.parse_args()
    sweep = Sweep(options)
    chosen = sweep.chosen()
    if not chosen:
        sys.exit("nothing matches")
    if options.sample is not None:
        print(f"a sample of {options.sample}, drawn by --seed {options.seed}", flush=True)
    left = [it for it in chosen if it[0] not in sweep.known]
    batches = batches_of(left, options.batch, options.jobs)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for _ in pool.map(sweep.run, batches):
            pass
    wrong = sweep.table([label for label, _, _ in chosen])
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
