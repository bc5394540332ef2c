#!/usr/bin/env python3
"""No command plans what another calls infeasible: one_verdict.py --program build/ci/twill [--sample N]

Protects: what `twill schedule` proves infeasible, with a certificate that `twill check` accepts, no command plans, prints or simulates with
the same options. And no command ends in a bug of ours, whatever the strategy, pool and options. Walked over: kernels that bundled ones are
unlike, such as chunked linear attention and state-space scans with bulk stores, by options that change who runs what.
"""
import argparse
import concurrent.futures
import pathlib
import sys
import tempfile

import cases

OUR_BUG, INFEASIBLE = 1, 4
FOLDERS = ("tests/emit/kinds", "tests/numerics/kinds", "tests/driver/kinds")
CHOICES = ((), ("--transfer-ops",), ("--transfer-ops", "--subtile", "0"), ("--load-latency",), ("--pool", "1x64"), ("--pool", "2x64"),
           ("--pool", "3x64", "--transfer-ops"), ("--strict",))
COMMANDS = ("plan", "simulate", "emit ttgir", "emit cuda --no-compile", "explain", "compare", "bound")
PLANS = ("plan", "simulate", "emit ttgir", "emit cuda --no-compile")

# Inputs that were once wrong: a later loop whose roles had to load ahead; tiles that one group
# reads for another; register tiles whose ring has advanced.
ONCE_WRONG = (("tests/emit/kinds/block_mask.ttgir", "--machine", "h200", "--pool", "2x64"),
              ("tests/emit/kinds/unsigned_desc.ttgir", "--machine", "h200", "--pool", "3x64", "--transfer-ops"),
              ("tests/driver/kinds/scan_bulk.ttgir", "--machine", "h200", "--pool", "2x64"),
              ("tests/driver/kinds/scan_bulk.ttgir", "--machine", "h200", "--strategy", "modulo"))


def every():
    """(path, options) by all strategies, and by the optimum with options of each kind."""
    paths = sorted(path for folder in FOLDERS for path in (cases.ROOT / folder).glob("*.ttgir"))
    for path in paths:
        name = (str(path.relative_to(cases.ROOT)), "--machine", "h200")
        yield from (name + choice for choice in CHOICES)
        yield from (name + ("--strategy", strategy) for strategy in cases.STRATEGIES[1:])


def objections(options, case):
    """What is wrong with the answers of all commands, in words."""
    wrong = []
    with tempfile.TemporaryDirectory() as scratch:
        certificate = scratch + "/certificate"
        said = cases.twill(options, "schedule", *case, "--certificate", certificate)
        infeasible = said.returncode == INFEASIBLE
        if infeasible:
            checked = cases.twill(options, "check", certificate)
            if checked.returncode != 0:
                wrong.append(f"infeasible, and the certificate is not accepted: {checked.stdout}{checked.stderr}")
        answers = {"schedule": said}
        for command in COMMANDS:
            more = ("-o", scratch + "/out") if command.startswith("emit") else ()
            if command == "compare" and "--strategy" in case:
                continue
            answers[command] = cases.twill(options, *command.split(), *case, *more)
        for command, done in answers.items():
            if done.returncode == OUR_BUG or done.returncode < 0 or "bug of" in done.stdout + done.stderr:
                wrong.append(f"{command}: a bug of ours: {(done.stderr or done.stdout)[-400:]}")
            if infeasible and command in PLANS and done.returncode == 0:
                wrong.append(f"{command}: plans what is proven infeasible")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cases.add_options(parser)
    options = parser.parse_args()
    chosen = cases.chosen(options, list(ONCE_WRONG), [it for it in every() if it not in ONCE_WRONG])
    if not chosen:
        sys.exit("nothing matches")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for case, wrong in zip(chosen, pool.map(lambda it: objections(options, it), chosen)):
            failed += bool(wrong)
            for what in wrong:
                print(" ".join(case) + ": " + what, flush=True)
    print(f"{len(chosen)} inputs with options, {failed} of them wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
