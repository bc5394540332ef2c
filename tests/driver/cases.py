"""What the tests of answers walk over: bundled kernels and loops with the machines and strategies they are for."""
import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import samples  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRATEGIES = ("twill", "modulo", "triton", "triton-plain", "cypress", "sequential")
ANSWERS = pathlib.Path(__file__).with_name("answers.txt")
LONG = 10 ** 8  # units of work: some seconds of search; about one input in twelve takes more
MACHINES = {"sm_90": "h200", "sm_100": "b200"}


def inputs():
    """(path, options) of every kernel as it comes before Triton's own pipelining, for its machine, and of every loop."""
    kernels = [(path, ("--machine", MACHINES[path.parent.name])) for path in sorted(ROOT.glob("kernels/*/*/*.pre.ttgir"))]
    loops = [(path, ()) for path in sorted(ROOT.glob("loops/**/*.loop"))]
    return [(str(path.relative_to(ROOT)), options) for path, options in kernels + loops]


def proven_of(answer):
    """Fewest cycles of an iteration of what can be built."""
    if answer["bracket"]:
        return answer["bracket"]["fastest"]
    return (answer["bound_with_room"] or answer["lower_bound"])["value"]


def add_options(parser):
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="", metavar="REGEX", help="inputs and options, as the table has them")
    parser.add_argument("--sample", type=int, metavar="N", help="not all, but N of the rest")
    parser.add_argument("--seed", default=samples.seed(), help="of the sample")
    parser.add_argument("--part", default="1/1", metavar="I/N", help="every N-th case from the I-th on: N machines walk over all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())


def part(options, every):
    """The share that --part asks for."""
    number, count = map(int, options.part.split("/"))
    return every[number - 1::count]


def chosen(options, always, rest):
    """What matches --only; with --sample, of the rest so many. Each case is a tuple of words."""
    always, rest = ([it for it in some if re.search(options.only, " ".join(it))] for some in (always, rest))
    if options.sample is not None:
        print(f"a sample of {options.sample}, drawn by --seed {options.seed}", flush=True)
        rest = random.Random(options.seed).sample(rest, min(options.sample, len(rest)))
    return part(options, always + rest)


def evenly(options, every):
    """What matches --only; with --sample so many, of which one is long and the others are not: all samples take about the same time."""
    every = [it for it in every if re.search(options.only, " ".join(it))]
    if options.sample is None:
        return part(options, every)
    print(f"a sample of {options.sample}, drawn by --seed {options.seed}", flush=True)
    work = {row[0]: int(row[-1]) for row in map(str.split, ANSWERS.read_text().splitlines()) if row[-1].isdigit()}
    long = [it for it in every if work.get(it[0], 0) > LONG]
    short = [it for it in every if it not in long]
    draw = random.Random(options.seed)
    first = draw.sample(long, min(1, len(long)))
    return first + draw.sample(short, min(options.sample - len(first), len(short)))


def twill(options, *words):
    return subprocess.run([str(options.program.resolve()), *words], cwd=ROOT, capture_output=True, text=True)


def check_inputs(description, check, fault):
    """Calls check(options, case) for inputs of the command line, and exits with 1 if one has faults. None: the input has nothing to check."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    options = parser.parse_args()
    some = evenly(options, [(path, *more) for path, more in inputs()])
    if not some:
        sys.exit("nothing matches")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        found = dict(zip(some, pool.map(lambda case: check(options, case), some)))
    wrong = {case: faults for case, faults in found.items() if faults}
    told = sum(1 for it in found.values() if it is not None)
    print(f"{len(some)} inputs, {told} with a plan, {len(wrong)} with {fault}")
    for case, faults in wrong.items():
        print("WRONG " + " ".join(case), *faults, sep="\n    ")
    sys.exit(1 if wrong or not told else 0)
