#!/usr/bin/env python3
"""Protects what is recorded of compute-sanitizer's runs: a clean run is told from findings and from one that broke off, and a run that
is resumed repeats nothing that has a verdict. A program of ours stands in for compute-sanitizer."""
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "gpu"))
sys.dont_write_bytecode = True
import sanitize  # noqa: E402

# Says what the file named after the kernel has, and counts its runs; `--tool T` comes first.
STAND_IN = """#!/bin/sh
echo "$2 $4" >> "$3/runs"
cat "$3/$4"
exit $(cat "$3/$4.code")
"""
CLEAN = "========= COMPUTE-SANITIZER\nok   a: largest relative error 1e-4\n0 failed\n========= ERROR SUMMARY: 0 errors\n"
RACES = ("========= COMPUTE-SANITIZER\n========= Error: Race reported between Write access at role_WG0\n"
         "=========     and Read access at role_WG1 [16384 hazards]\n========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n")
CLEAN_RACES = "========= COMPUTE-SANITIZER\n========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n"
BROKEN = "========= COMPUTE-SANITIZER\n========= Error: the target application was terminated\n"


class Verdicts(unittest.TestCase):
    def test_each_kind(self):
        self.assertEqual(sanitize.verdict_of(CLEAN, 0), ("clean", 0, []))
        self.assertEqual(sanitize.verdict_of(CLEAN_RACES, 0), ("clean", 0, []))
        verdict, count, lines = sanitize.verdict_of(RACES, 1)
        self.assertEqual((verdict, count), ("findings", 1))
        self.assertTrue(any("role_WG1" in line for line in lines))
        self.assertEqual(sanitize.verdict_of(BROKEN, 1)[0], "failed")
        self.assertEqual(sanitize.verdict_of("", 127)[0], "failed")
        self.assertEqual(sanitize.verdict_of(CLEAN, 1)[0], "failed")  # the check itself did not pass


class Runs(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        program = self.folder / "compute-sanitizer"
        program.write_text(STAND_IN)
        program.chmod(0o755)
        path = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        os.environ["PATH"] = f"{self.folder}:{path}"
        for name, text, code in (("a", CLEAN, 0), ("b", RACES, 1), ("c", BROKEN, 1)):
            self.say(name, text, code)

    def say(self, name, text, code):
        (self.folder / name).write_text(text)
        (self.folder / f"{name}.code").write_text(str(code))

    def run_all(self, tool="racecheck"):
        """How many are not clean, and which were run."""
        runs = self.folder / "runs"
        runs.write_text("")
        with contextlib.redirect_stdout(io.StringIO()):
            bad = sanitize.run("abc", tool, self.folder / "found.json", lambda label: [str(self.folder), label], 60)
        return bad, runs.read_text().split("\n")[:-1]

    def test_what_has_a_verdict_is_not_run_again(self):
        self.assertEqual(self.run_all(), (2, ["racecheck a", "racecheck b", "racecheck c"]))
        self.say("c", CLEAN_RACES, 0)
        self.assertEqual(self.run_all(), (1, ["racecheck c"]))
        self.assertEqual(self.run_all(), (1, []))
        self.assertEqual(self.run_all("memcheck")[1], ["memcheck a", "memcheck b", "memcheck c"])
        found = {(entry["kernel"], entry["tool"]): entry for entry in json.loads((self.folder / "found.json").read_text())}
        self.assertEqual(found["b", "racecheck"]["count"], 1)
        self.assertEqual(found["c", "racecheck"]["verdict"], "clean")
        self.assertEqual(len(found), 6)


unittest.main()
