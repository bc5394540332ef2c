#!/usr/bin/env python3
"""Figures of an input agree, whichever command prints them: figures.py --program build/ci/twill [--sample N]

Protects, for every bundled kernel and loop:
- the parts of `gap` add up to the whole, and with the bound they are the simulated figure;
- `--trips N` of `schedule` and `simulate` are the same total, which a run of the plan takes;
- a schedule of any strategy, read back from its file, has no proven bound above what its plan is simulated to take;
- no strategy of `compare` has fewer cycles than twill without a note that names the tie or the option;
- the schedule of the problem that `loop` prints is as fast as the candidate of that pool and rate, and `loop` says which these are;
- `evaluate` answers for an order whose text states too small an interval.
"""
import json
import pathlib
import re
import tempfile

import cases

TRIPS = 37
ROUNDED = 0.051  # figures on a screen have tenths
BAD_INPUT, NO_SCHEDULE, NO_PLAN = 3, (4, 5), 7


def number(text):
    return float(text) if text is not None else None


class Figures:
    """Runs commands on one input; `wrong` collects figures that contradict each other."""

    def __init__(self, options, case, folder):
        self.options, self.case, self.folder, self.wrong = options, case, pathlib.Path(folder), []

    def run(self, *words, may_be=(0,)):
        done = cases.twill(self.options, *words)
        if done.returncode not in may_be:
            self.wrong.append(f"{' '.join(words)}: exit code {done.returncode}: {done.stderr.strip()[:200]}")
        return done

    def expect(self, holds, what):
        if not holds:
            self.wrong.append(what)

    def json_file(self, name):
        path = self.folder / name
        return json.loads(path.read_text()) if path.exists() else None

    def check(self):
        """The contradictions; None of an input without a plan."""
        shown = cases.twill(self.options, "schedule", *self.case, "--trips", str(TRIPS), "-o", str(self.folder / "twill.json"))
        answer = self.json_file("twill.json")
        if shown.returncode in (*NO_SCHEDULE, NO_PLAN):
            return None
        if shown.returncode == BAD_INPUT and "no loop of the kernel has tensor-core work" in shown.stderr:
            return None
        if shown.returncode != 0 or not answer or not answer["plan"]["planned"]:
            return [f"schedule: exit code {shown.returncode}: {shown.stderr.strip()[:200]}"]
        self.check_screen(" ".join(shown.stdout.split()), answer)
        self.check_totals(answer)
        self.check_compared(answer)
        for strategy in cases.STRATEGIES:
            self.check_read_back(strategy)
        self.check_problem(answer)
        self.check_evaluated(answer)
        return self.wrong

    def check_screen(self, screen, answer):
        """Figures of the first screen."""
        simulated = number(re.search(r": ([0-9.]+) cycles an iteration, simulated", screen)[1])
        proven = number(re.search(r" at least ([0-9]+) cycles", screen)[1])
        self.expect(abs(simulated - answer["plan"]["simulated"]) < ROUNDED, f"simulated {simulated} on the screen, not in the JSON")
        if " gap none" in screen:
            self.expect(abs(simulated - proven) < 2 * ROUNDED, f"no gap from {proven} to {simulated}")
            return
        told = re.search(r" gap ([0-9.]+) cycles \([0-9.]+ %\)(?:: (.*?))? (?:limited by|plan) ", screen)
        if told is None:
            self.wrong.append("no account of the gap")
            return
        whole = float(told[1])
        parts = [float(it) for it in re.findall(r" ([0-9]+\.[0-9])(?=,|$)", " " + (told[2] or ""))]
        self.expect(abs(whole - sum(parts)) < ROUNDED, f"parts {parts} of a gap of {whole}")
        self.expect(abs(proven + whole - simulated) < ROUNDED, f"{proven} and a gap of {whole} are not {simulated}")

    def check_totals(self, answer):
        run = json.loads(self.run("simulate", *self.case, "--trips", str(TRIPS), "--json").stdout)
        self.expect(run["total"] == answer["total_cycles"], f"{TRIPS} trips: schedule {answer['total_cycles']}, simulate {run['total']}")
        # From the first window on, each iteration takes the interval; before and after, the
        # pipeline fills and drains.
        least = (TRIPS - 1) * answer["plan"]["in_order"] * 0.5
        self.expect(answer["total_cycles"] >= least, f"{TRIPS} trips in {answer['total_cycles']}")

    def check_compared(self, answer):
        compared = json.loads(self.run("compare", *self.case, "--json").stdout)
        own = answer["plan"]["simulated"]
        for row in compared["rows"]:
            if row["simulated"] is None or row["strategy"] == "twill":
                continue
            less = row["simulated"] < own - ROUNDED
            self.expect(not less or row["faster"], f"compare: {row['strategy']} {row['simulated']} below {own} without a word")
            self.expect(not row["faster"].startswith("simulated"), f"compare: {row['strategy']} {row['simulated']}, and twill's {own}")

    def check_read_back(self, strategy):
        """The strategy's schedule from its file."""
        file = self.folder / f"{strategy}.json"
        if strategy != "twill":
            cases.twill(self.options, "schedule", *self.case, "--strategy", strategy, "-o", str(file))
        if not file.exists() or not json.loads(file.read_text())["plan"]:
            return
        if not json.loads(file.read_text())["plan"]["planned"]:
            return
        done = cases.twill(self.options, "simulate", *self.case, "--schedule", str(file))
        if "the schedule is of another loop" in done.stderr:
            return  # the strategy changes the problem, such as by waiting for each product
        self.expect(done.returncode in (0, NO_PLAN), f"--schedule of {strategy}: exit code {done.returncode}: {done.stderr.strip()[:200]}")
        screen = " ".join(done.stdout.split())
        proven = re.search(r" at least ([0-9]+) cycles", screen)
        simulated = re.search(r": ([0-9.]+) cycles an iteration, simulated", screen)
        if proven and simulated:
            self.expect(float(proven[1]) < float(simulated[1]) + ROUNDED, f"--schedule of {strategy}: proven {proven[1]}, simulated {simulated[1]}")

    def check_problem(self, answer):
        """The schedule of the printed problem against the kernel's candidates."""
        if self.case[0].endswith(".loop"):
            return
        text = self.run("loop", *self.case).stdout
        named = re.search(r"pool (\S+), every op at its (fastest|slowest)", text)
        self.expect(named, "loop does not say for which pool and rate its problem is")
        if not named:
            return
        file = self.folder / "problem.loop"
        file.write_text(text)
        done = cases.twill(self.options, "schedule", str(file), "--json")
        alone = json.loads(done.stdout) if done.stdout else None
        same = [it for it in answer["candidates"]
                if (it["pool"], it["rate"]) == named.groups() and it["note"] == "" and it["verdict"] == "optimal"]
        if alone is None or not same or alone["verdict"] != "optimal":
            return
        refused = [it for it in alone["candidates"] if it["refused"]]
        self.expect(refused or alone["initiation_interval"] == same[0]["initiation_interval"],
                    f"loop, then schedule: II {alone['initiation_interval']}, candidate {same[0]['initiation_interval']}")

    def check_evaluated(self, answer):
        """The order of the answer, stated with an interval below the least."""
        if "\ntransfer " in answer["problem"]["text"]:
            return  # the text is the whole problem, the ops are the residual problem
        ops = [f"  {it['name']} at {it['issue_cycle']} in {it['group']}" + (f" alternative {it['alternative']}" if it["alternative"] else "")
               for it in answer["ops"]]
        file = self.folder / "below.loop"
        below = max(1, answer["initiation_interval"] // 2)
        file.write_text("\n".join([answer["problem"]["text"], f"schedule interval {below}", *ops, ""]))
        done = self.run("evaluate", str(file), may_be=(0, 3, 6))  # 3: an order that no interval satisfies
        self.expect("not a schedule" not in done.stdout + done.stderr, f"evaluate: {done.stdout[:200]}{done.stderr[:200]}")


def check(options, case):
    with tempfile.TemporaryDirectory() as folder:
        return Figures(options, case, folder).check()


if __name__ == "__main__":
    cases.check_inputs(__doc__, check, "figures that contradict each other")
