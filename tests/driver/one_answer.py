#!/usr/bin/env python3
"""All commands tell one story: one_answer.py --program build/ci/twill [--sample N]

Protects: of every bundled kernel and loop, by strategy twill, `bound`, `explain`, `compare`, `plan`, `simulate` and `emit cuda` begin with
the headline of `twill schedule`, and name its pool, its proven bound, its schedule and what its plan is simulated to take.
"""
import json
import pathlib
import re
import tempfile

import cases

NOT_PRINTABLE = 3
# `explain` may reach its work limit; `bound` may find that a schedule in the text breaks a rule.
ALSO_FINE = {"explain": 5, "bound": 6}


def headline_of(text):
    """What stands before the line `at least`, and the cycles in that line."""
    found = re.match(r"(.*?)\n\s+at least +(\d+) cycles", text, re.DOTALL)
    return (" ".join(found[1].split()), int(found[2])) if found else (text[:80], None)


def placed(ops):
    """Who runs what, how and when, from the first issue on: a plan may begin its windows elsewhere, which keeps every rule."""
    first = min(it["issue_cycle"] for it in ops)
    return [(it["name"], it["group"], it["alternative"], it["issue_cycle"] - first) for it in ops]


class Story:
    """What `twill schedule` says of an input; differences of the other commands are collected."""

    def __init__(self, options, case):
        self.options, self.case, self.wrong = options, case, []
        self.scratch = tempfile.TemporaryDirectory()
        self.file = pathlib.Path(self.scratch.name) / "schedule.json"
        shown = cases.twill(options, "schedule", *case, "-o", str(self.file))
        self.has_plan = shown.returncode == 0
        if not self.has_plan:
            return
        self.answer = json.loads(self.file.read_text())
        screen = shown.stdout
        self.headline = headline_of(re.sub(r"\n  input .*?(?=\n  at least)", "", screen, flags=re.DOTALL))

    def expect(self, command, what, found, expected):
        if found != expected:
            self.wrong.append(f"{command}: {what} is {found}, not {expected}")

    def run(self, command, *more):
        done = cases.twill(self.options, *command.split(), *self.case, *more)
        if done.returncode not in (0, ALSO_FINE.get(command, 0)):
            self.wrong.append(f"{command} {' '.join(more)}: exit code {done.returncode}: {done.stderr.strip()[:200]}")
        return done.stdout

    def json(self, command, *more):
        try:
            return json.loads(self.run(command, *more, "--json"))
        except ValueError:
            return None

    def check(self):
        """The differences; None of an input without a plan."""
        if not self.has_plan:
            return None
        answer = self.answer
        simulated, pool = answer["plan"]["simulated"], answer["pool"]
        self.expect("schedule", "its proven bound",
                    self.headline[1], cases.proven_of(answer))
        planned = pathlib.Path(self.scratch.name) / "plan.json"
        for command in ("bound", f"plan -o {planned}", "simulate"):
            self.expect(command, "the headline", headline_of(self.run(command)), self.headline)
        if bound := self.json("bound"):
            self.expect("bound", "simulated", bound["simulated"], simulated)
            self.expect("bound", "proven", bound["proven"], self.headline[1])
            self.expect("bound", "pool", bound["pool"], pool)
        if explained := self.json("explain"):
            self.expect("explain", "the headline", headline_of(explained["story"]), self.headline)
        if compared := self.json("compare", "--strategy", "twill"):
            self.expect("compare", "the headline", headline_of(compared["story"]), self.headline)
            row = compared["rows"][0]
            self.expect("compare", "the row", (row["pool"], row["initiation_interval"], row["simulated"]),
                        (pool, answer["initiation_interval"], simulated))
        if planned.exists():
            plan = json.loads(planned.read_text())
            self.expect("plan", "the schedule", (plan["initiation_interval"], placed(plan["ops"])),
                        (answer["initiation_interval"], placed(answer["ops"])))
            if "\ntransfer " not in answer["problem"]["text"]:  # a plan has only the transfers of the residual problem
                self.expect("plan", "the problem", plan["problem"]["hash"], answer["problem"]["hash"])
        if run := self.json("simulate"):
            self.expect("simulate", "the interval", (run["interval"], run["initiation_interval"]), (simulated, answer["initiation_interval"]))
        self.check_given()
        if "h200" in self.case:
            self.check_printed()
        return self.wrong

    def check_given(self):
        """The same schedule from a file: its costs are of one end, and no bound of these stands above what its plan takes at others."""
        screen = self.run("simulate", "--schedule", str(self.file))
        _, proven = headline_of(screen)
        simulated = re.search(r"([0-9.]+) cycles an iteration, simulated", " ".join(screen.split()))
        if proven is None or simulated is None or float(simulated[1]) < proven - 0.1:
            self.wrong.append(f"simulate --schedule: proven {proven}, and {simulated and simulated[1]} simulated")

    def check_printed(self):
        folder = pathlib.Path(self.scratch.name) / "kernel"
        done = cases.twill(self.options, "emit", "cuda", *self.case, "--no-compile", "-o", str(folder))
        if not self.answer["plan"]["printable"]:  # another plan may be printed instead
            return self.expect("emit cuda", "exit code", done.returncode, done.returncode and NOT_PRINTABLE)
        self.expect("emit cuda", "exit code", done.returncode, 0)
        if done.returncode == 0:
            text = re.sub(r"^// ?", "", (folder / "kernel.cu").read_text(), flags=re.MULTILINE)
            self.expect("emit cuda", "the headline", headline_of(text), self.headline)
            shown = re.search(r"Initiation interval of the schedule: (\d+) cycles", text)
            self.expect("emit cuda", "the interval", shown and int(shown[1]), self.answer["initiation_interval"])


if __name__ == "__main__":
    cases.check_inputs(__doc__, lambda options, case: Story(options, case).check(), "differences")
