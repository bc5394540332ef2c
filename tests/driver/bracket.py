#!/usr/bin/env python3
"""Answers lie between what is proven and what is kept: bracket.py --program build/ci/twill [--sample N]

Protects: of every bundled kernel and loop, by every strategy, what has a schedule has a plan, no plan is simulated to be faster than what
is proven for every schedule, and none to be slower than the upper end that the answer names. What fails is listed, with the figures.
"""
import argparse
import collections
import concurrent.futures
import json
import sys

import cases

KEPT, REFUSED, INFEASIBLE, WRONG = "kept", "refused", "infeasible", "WRONG"
BAD_INPUT, NO_SCHEDULE, NO_PLAN = 3, (4, 5), 7
MEASURED_TO = 0.01  # cycles: runs that do not repeat themselves are measured to this


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
    proven = bracket["fastest"] if bracket else answer["lower_bound"]["value"]
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cases.add_options(parser)
    options = parser.parse_args()
    every = {strategy: [(path, *more, "--strategy", strategy) for path, more in cases.inputs()] for strategy in cases.STRATEGIES}
    rest = [case for strategy in cases.STRATEGIES[1:] for case in every[strategy]]
    chosen = cases.chosen(options, every["twill"], rest)
    if not chosen:
        sys.exit("nothing matches")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        verdicts = list(pool.map(lambda case: verdict_of(cases.twill(options, "schedule", *case, "--json")), chosen))
    count = collections.Counter((case[-1], verdict) for case, (verdict, _) in zip(chosen, verdicts))
    print(f"{'strategy':12}" + "".join(f"{it:>12}" for it in (KEPT, REFUSED, INFEASIBLE, WRONG)))
    for strategy in cases.STRATEGIES:
        print(f"{strategy:12}" + "".join(f"{count[strategy, it]:12}" for it in (KEPT, REFUSED, INFEASIBLE, WRONG)))
    wrong = [(" ".join(case), what) for case, (verdict, what) in zip(chosen, verdicts) if verdict == WRONG]
    for case, what in wrong:
        print(f"WRONG {case}\n    {what}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
