#!/usr/bin/env python3
"""Answers lie between what is proven and what is kept: bracket.py --program build/ci/twill [--sample N] [--write]

Protects: of every bundled kernel and loop, by every strategy, what has a schedule has a plan, no plan is simulated to be faster than what
is proven for every schedule, and none to be slower than the upper bound that the answer names. What fails is listed, with the figures.

The answers by strategy twill are those of answers.txt, verdict by verdict and bound by bound: whoever changes one has --write change the
list, and says why. A proof that was lost is a line there, and so are units of work that were gained: they are the same on every machine.
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import sys

import cases

LIST = cases.ANSWERS
KEPT, REFUSED, INFEASIBLE, OPEN, WRONG = "kept", "refused", "infeasible", "open", "WRONG"
COLUMNS = (KEPT, REFUSED, INFEASIBLE, OPEN, WRONG)
BAD_INPUT, NO_SCHEDULE, NO_PLAN = 3, (4, 5), 7
MEASURED_TO = 0.01  # cycles: error allowed for runs that do not repeat exactly

# Schedules without a plan: their rules leave out needs of a plan. Remove an entry once its input
# has a plan, or this test fails.
WITHOUT_PLAN = {
    "loops/meta_fwdsub.loop --strategy triton-plain": "one warp starts a product that reads the registers of four",
    "loops/meta_fwdsub.loop --strategy sequential": "one warp starts a product that reads the registers of four",
    "kernels/fa_fwd_causal/sm_100/d128.pre.ttgir --machine b200 --strategy triton-plain": "one warp of several starts the products of the second loop, behind which the next tile's load of q is not ordered",
    "kernels/fa_fwd_causal/sm_100/d128.sched.ttgir --machine b200 --strategy triton-plain": "one warp of several starts the products of the second loop, behind which the next tile's load of q is not ordered",
}


def with_open_cases(case, verdict, what):
    """The verdict, where the case is one of those that are known to have no plan."""
    why = WITHOUT_PLAN.get(" ".join(case))
    if why is None:
        return verdict, what
    if verdict == WRONG and ", and no plan: " in what:
        return OPEN, f"{what} ({why})"
    return WRONG, f"listed as a schedule without a plan, but {verdict}: {what}"


def verdict_of(done):
    """Why the answer of `twill schedule --json` is wrong, or what became of it."""
    if done.returncode == BAD_INPUT:
        return REFUSED, (done.stderr.strip().splitlines() or ["?"])[0]
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return WRONG, f"exit code {done.returncode}: {done.stderr.strip()[:200]}"
    if answer["initiation_interval"] is None:
        fits = answer["verdict"] in ("infeasible", "undecided") and done.returncode in NO_SCHEDULE
        return (INFEASIBLE if fits else WRONG), f"{answer['verdict']}, exit code {done.returncode}"
    plan, bracket = answer["plan"], answer["bracket"]
    if not plan["planned"]:
        return WRONG, f"II {answer['initiation_interval']}, and no plan: {plan['refusal']}"
    if done.returncode != 0:
        return WRONG, f"exit code {done.returncode}: {done.stderr.strip()[:200]}"
    proven = cases.proven_of(answer)
    kept = bracket["kept"] if bracket else plan["simulated"]
    if plan["simulated"] is None or kept is None:
        return WRONG, "the plan comes to no steady state"
    figures = f"proven {proven}, simulated {plan['simulated']:.2f}, kept {kept:.2f}"
    if plan["simulated"] < proven - MEASURED_TO:
        return WRONG, "faster than proven: " + figures
    if plan["simulated"] > kept + MEASURED_TO:
        return WRONG, "slower than kept: " + figures
    own = [it["simulated"] for it in answer["candidates"] if it["chosen"]]
    if own not in ([], [plan["simulated"]]):
        return WRONG, f"the chosen candidate takes {own}: " + figures
    return KEPT, figures


COLUMNS_KEPT = ("input", "verdict", "II", "bound", "proven", "simulated", "pool", "rate", "work")
TIE = 1.11  # simulate::kError: plans of a kernel that the simulator cannot tell apart
MORE_WORK = 1.05  # factor of search work above the list's entry: more work fails the test


def row_of(case, done):
    """What the list keeps of an answer, as words; nothing of an input that is refused."""
    if done.returncode == BAD_INPUT:
        return None
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return (case[0], f"exit-{done.returncode}", *["-"] * (len(COLUMNS_KEPT) - 2))
    plan = answer["plan"]
    simulated = plan["simulated"] if plan else None
    proven = cases.proven_of(answer)
    figures = (answer["verdict"], answer["initiation_interval"], answer["lower_bound"]["value"], proven,
               None if simulated is None else f"{simulated:.1f}", answer["pool"], answer["rate"], answer.get("work_in_all"))
    return (case[0], *("-" if it in (None, "") else str(it) for it in figures))


def beaten(case, done):
    """Why the answer by strategy twill should have been this one: simulated to be faster, by more than is called a tie."""
    kept = kept_answers().get(case[0])
    if case[-1] == "twill" or kept is None or kept[5] == "-" or done.returncode != 0:
        return None
    simulated, twill = json.loads(done.stdout)["plan"]["simulated"], float(kept[5])
    tie = 1 if case[0].endswith(".loop") else TIE
    if simulated is None or simulated * tie > twill - MEASURED_TO - 0.05:  # the list has tenths
        return None
    return f"simulated {simulated:.2f}, and twill's {twill}"


def kept_answers():
    rows = [line.split() for line in LIST.read_text().splitlines() if not line.startswith("#")] if LIST.exists() else []
    return {row[0]: tuple(row) for row in rows}


def write(rows):
    heading = ["# Answers to bundled inputs by strategy twill: II and bound at these rates, proven and simulated at the fastest.",
               "# tests/driver/bracket.py compares, and renews this with --write: each changed line is to be wanted."]
    table = [COLUMNS_KEPT, *rows]
    width = [max(len(row[i]) for row in table) for i in range(len(COLUMNS_KEPT))]
    lines = ["  ".join(cell.ljust(width[i]) for i, cell in enumerate(row)).rstrip() for row in table]
    LIST.write_text("\n".join([*heading, "# " + lines[0], *lines[1:]]) + "\n")


def differences(found):
    """Lines of answers that are not those of the list, of the cases that were run; none where there is no list."""
    kept = kept_answers()
    if not kept:
        return []
    out = []
    for path, row in found.items():
        before = kept.get(path)
        same = before == row or (before and row and before[:-1] == row[:-1] and float(row[-1]) <= MORE_WORK * float(before[-1]))
        if not same:
            out.append(f"{path}\n    is   {' '.join(row[1:]) if row else 'refused'}\n    was  {' '.join(before[1:]) if before else 'not listed'}")
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cases.add_options(parser)
    parser.add_argument("--write", action="store_true", help="have answers.txt list what is found")
    options = parser.parse_args()
    every = {strategy: [(path, *more, "--strategy", strategy) for path, more in cases.inputs()] for strategy in cases.STRATEGIES}
    rest = [case for strategy in cases.STRATEGIES[1:] for case in every[strategy]]
    chosen = cases.chosen(options, every["twill"], rest)
    if not chosen:
        sys.exit("nothing matches")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        found = list(pool.map(lambda case: cases.twill(options, "schedule", *case, "--json"), chosen))
    verdicts = [with_open_cases(case, *verdict_of(done)) for case, done in zip(chosen, found)]
    verdicts = [(WRONG, f"faster than the answer: {why}") if (why := beaten(case, done)) else verdict
                for case, done, verdict in zip(chosen, found, verdicts)]
    rows = {case[0]: row_of(case, done) for case, done in zip(chosen, found) if case[-1] == "twill"}
    if options.write:
        kept = {**kept_answers(), **rows}
        write([kept[path] for path, _ in cases.inputs() if kept.get(path)])
    changed = differences(rows)
    count = collections.Counter((case[-1], verdict) for case, (verdict, _) in zip(chosen, verdicts))
    print(f"{'strategy':12}" + "".join(f"{it:>12}" for it in COLUMNS))
    for strategy in cases.STRATEGIES:
        print(f"{strategy:12}" + "".join(f"{count[strategy, it]:12}" for it in COLUMNS))
    for case, (verdict, what) in zip(chosen, verdicts):
        if verdict in (OPEN, WRONG):
            print(f"{verdict} {' '.join(case)}\n    {what}")
    if changed:
        print(f"not as in {LIST.name}, which --write renews if this is wanted:", *changed, sep="\n")
    sys.exit(1 if changed or any(verdict == WRONG for verdict, _ in verdicts) else 0)


if __name__ == "__main__":
    main()
