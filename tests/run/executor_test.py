#!/usr/bin/env python3
"""Builds and runs the small kernels of executor_cases.cpp: executor_test.py CXX

Protects: the executor of printed kernels (runtime/host) finds each kind of mistake that it promises to find, at its line, and nothing in
kernels that are right; loads, stores, products and fragments give the numbers that the PTX ISA says; for threads in many orders, with
asynchronous work as late as can be and at any time; and equal seeds give equal runs.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HOST = ROOT / "runtime" / "host"
SOURCE = HERE / "executor_cases.cpp"


def build(cxx, scratch):
    program = pathlib.Path(scratch) / "cases"
    core, main = f"{program}.core.o", f"{program}.o"
    subprocess.run([cxx, "-std=c++20", "-O1", "-ffp-contract=off", "-c", str(HOST / "executor.cpp"), "-o", core], check=True)
    subprocess.run([cxx, "-std=c++20", "-O1", "-g1", "-w", "-Wno-psabi", "-ffp-contract=off", "-fsanitize=thread", f"-I{HOST}/include", f"-I{HOST}",
                    f"-I{ROOT}", "-c", str(SOURCE), "-o", main], check=True)
    subprocess.run([cxx, main, core, "-o", str(program)], check=True)
    return program


def marks():
    """Findings that are required and allowed: sets of (line, kind)."""
    must, may = set(), set()
    for number, line in enumerate(SOURCE.read_text().splitlines(), 1):
        for word, kinds in re.findall(r"(finds|may find): ([a-z, -]+)", line.partition("//")[2]):
            (must if word == "finds" else may).update((number, kind.strip()) for kind in kinds.split(","))
    return {it for it in must if it[1]}, {it for it in may if it[1]}


def main():
    must, may = marks()
    must = {it for it in must if it[0] > 5}
    wrong = []
    with tempfile.TemporaryDirectory() as scratch:
        program = build(sys.argv[1], scratch)
        for seed in range(1, 7):
            how = [str(seed), str(seed % 2), str(seed // 3 % 2)]
            run = [str(program), *how]
            done = subprocess.run(run, capture_output=True, text=True, timeout=300)
            if seed == 1 and done.stdout != subprocess.run(run, capture_output=True, text=True, timeout=300).stdout:
                wrong.append(f"{how}: two runs differ")
            if done.returncode:
                wrong.append(f"{how}: exit {done.returncode} {done.stderr}")
            found = set()
            for line in done.stdout.splitlines():
                at = re.match(r".*executor_cases.cpp:(\d+): ([a-z-]+): ", line)
                if at:
                    found.add((int(at[1]), at[2]))
                elif not line.startswith("case "):
                    wrong.append(f"{how}: {line}")
            wrong += [f"{how}: not found: {kind} at line {line}" for line, kind in sorted(must - found)]
            wrong += [f"{how}: found and not there: {kind} at line {line}" for line, kind in sorted(found - must - may)]
    print("\n".join(wrong) or f"{len(must)} mistakes are found, and no others")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
