"""The package without Triton: its results for the program's answers, refusals and limits."""

import dataclasses
import pathlib
import pickle
import subprocess
import sys
import unittest

import twill_gpu
from twill_gpu import locations, program, solving

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FIG1 = (ROOT / "loops" / "fig1.loop").read_text()


class Import(unittest.TestCase):
    def test_importing_takes_no_triton(self):
        """Protects programs without Triton: the package imports, and names of the drop-in ask for it only when used."""
        code = "import sys, twill_gpu; sys.exit('triton' in sys.modules)"
        self.assertEqual(subprocess.run([sys.executable, "-c", code], check=False).returncode, 0)

    def test_a_missing_triton_is_said(self):
        """Protects `except TwillError`: a missing part is named, for any name of the drop-in or of the analyses."""
        for call in ("enable()", "report()", "analyze(len, [1])", "explain(len)", "descriptor((8, 8), 'fp16', (8, 8))"):
            code = f"import sys; sys.modules['triton'] = None; import twill_gpu\ntry: twill_gpu.{call}\nexcept twill_gpu.TwillError as wrong: print(wrong)"
            said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
            self.assertRegex(said, "Triton 3.6 to 3.9 is needed|descriptors need Triton", call)

    def test_every_public_name_is_documented(self):
        page = (ROOT / "docs" / "reference" / "python.md").read_text()
        for name in twill_gpu.__all__:
            self.assertIn(f"`{name}", page, f"docs/reference/python.md does not mention {name}")


class Programs(unittest.TestCase):
    def test_the_environment_names_the_only_candidate(self):
        self.assertEqual(program.candidates({"TWILL_PROGRAM": "/nowhere/twill"}), [pathlib.Path("/nowhere/twill")])

    def test_a_source_tree_comes_before_the_wheel(self):
        places = program.candidates({})
        self.assertEqual(places[0], ROOT / "build" / "release" / "twill")
        self.assertEqual(places[-1].parts[-2:], ("bin", "twill"))

    def test_a_missing_program_says_what_to_do(self):
        missing = program.Program(pathlib.Path("/nowhere/twill"))
        with self.assertRaisesRegex(twill_gpu.ProgramNotFound, "/nowhere/twill"):
            missing.run(["machines"])

    def test_a_text_comes_before_the_end_of_its_checks(self):
        """Protects readers that begin with a text: the end of the block says whether the text may be used."""
        kernel = (ROOT / "kernels" / "gemm" / "sm_90" / "tma_128x256x64.pre.ttgir").read_text()
        twill = twill_gpu.find_program()
        with twill.text_first(["emit", "ttgir", "-"], kernel, 60) as module:
            self.assertIn("tt.func", module)
        self.assertEqual(module, twill.run(["emit", "ttgir", "-"], kernel))
        for arguments, text, limit, error in ((["emit", "ttgir", "-"], "module {", None, twill_gpu.Refused),
                                              (["emit", "ttgir", "-"], kernel, 1e-3, twill_gpu.TimedOut)):
            with self.assertRaises(error), twill.text_first(arguments, text, limit):
                self.fail("there is no text")
        with self.assertRaises(twill_gpu.ProgramNotFound), twill_gpu.Program(pathlib.Path("/nowhere/twill")).text_first([]):
            self.fail("there is no program")

    def test_refusals_have_place_and_exit_code(self):
        with self.assertRaises(twill_gpu.Refused) as caught:
            twill_gpu.schedule("loop x\nunit TC\nop A on TD for 1\n")
        self.assertEqual(caught.exception.exit_code, 3)
        self.assertEqual(caught.exception.diagnostic.line, 3)

    def test_refusals_cross_processes(self):
        wrong = twill_gpu.Refused(3, twill_gpu.Diagnostic("k.loop", 2, 5, "no such unit"))
        again = pickle.loads(pickle.dumps(wrong))
        self.assertEqual((again.exit_code, str(again)), (3, "k.loop:2:5: no such unit"))

    def test_a_time_limit_stops_the_program(self):
        kernel = (ROOT / "kernels" / "fa_bwd" / "sm_90").glob("*.pre.ttgir")
        with self.assertRaises(twill_gpu.TimedOut):
            twill_gpu.schedule(next(iter(kernel)), timeout_s=0.01)

    def test_another_program_of_that_name(self):
        """Protects users with a wrong TWILL_PROGRAM: a program without JSON output is named, and raises an error of this package."""
        with self.assertRaisesRegex(twill_gpu.TwillError, "/bin/echo the program twill"):
            twill_gpu.Program(pathlib.Path("/bin/echo")).ask(["schedule", "-"])

    def test_diagnostics_of_all_forms(self):
        cases = {"a.loop:3:4: error: bad": ("a.loop", 3, 4, "bad"), "machines: error: none": ("machines", 0, 0, "none"),
                 "twill: there is no command 'x'": ("", 0, 0, "twill: there is no command 'x'"), "": ("", 0, 0, "no message")}
        for text, parts in cases.items():
            found = program.parse_diagnostic(text)
            self.assertEqual((found.file, found.line, found.column, found.message), parts)


class Locations(unittest.TestCase):
    TEXT = "\n".join(['#loc1 = loc("/home/me/k.py":12:4)', '#loc2 = loc(callsite(#loc1 at #loc3))', '#loc3 = loc("/home/me/k.py":40:0)',
                      "  %0 = tt.load %a loc(#loc1)", "  scf.for %i = %a {", "    %1 = tt.dot loc(#loc1)", "  } loc(#loc2)",
                      "  %2 = arith.addi", '  %3 = tt.dot loc("inline.py":7:1)'])

    def test_lines_of_operations(self):
        expected = {4: "k.py:12", 5: "k.py:12", 6: "k.py:12", 8: None, 9: "inline.py:7", 99: None, 0: None}
        for line, place in expected.items():
            self.assertEqual(locations.user_line(self.TEXT, line), place, line)

    def test_a_reason_without_a_line_gets_the_kernels(self):
        text = ('#loc = loc("/home/my \\C3\\96.py":7:0)\nmodule {\n  tt.func public @k() {\n    tt.return loc(#loc)\n  } loc(#loc)\n} loc(#loc)')
        self.assertEqual(locations.placed("too slow", text), "my \u00d6.py:7: too slow")
        self.assertEqual(locations.placed("my \u00d6.py:9: no", text), "my \u00d6.py:9: no")
        self.assertEqual(locations.placed("other.py:3: no", text), "other.py:3: no")
        self.assertEqual(locations.placed("too slow", "module {}"), "too slow")

    def test_names_that_lead_in_a_circle_end(self):
        self.assertIsNone(locations.user_line("#loc1 = loc(#loc2)\n#loc2 = loc(#loc1)\n%0 = x loc(#loc1)", 3))


class Problems(unittest.TestCase):
    def test_every_bundled_loop_survives_the_way_through_a_dict(self):
        """Protects from_dict: members left out or misspelled would change the problem's hash or be refused."""
        twill = twill_gpu.find_program()
        loops = sorted((ROOT / "loops").rglob("*.loop"))
        self.assertGreater(len(loops), 20)
        for path in loops:
            problem = twill.ask(["loop", str(path)])
            self.assertEqual(twill_gpu.Problem.from_dict(problem).to_dict(), problem, path.name)

    def test_version_1_is_read(self):
        for name in ("fig1", "fwd_h1"):
            problem = twill_gpu.find_program().ask(["loop", str(ROOT / "loops" / f"{name}.loop")])
            ops = [{"ways" if key == "alternatives" else key: value for key, value in op.items()} for op in problem["ops"]]
            old = {"hand_offs" if key == "transfers" else key: value for key, value in problem.items()}
            read = twill_gpu.Problem.from_dict({**old, "ops": ops, "version": 1})
            self.assertEqual(read.to_dict(), problem, name)

    def test_quotes_and_bytes_in_sources(self):
        problem = twill_gpu.find_program().ask(["loop", "-"], FIG1)
        problem["ops"][0]["source"] = ['a "b" \\ c\n\td \x01']
        again = twill_gpu.Problem.from_dict(problem).to_dict()
        self.assertEqual(again["ops"][0]["source"], problem["ops"][0]["source"])

    def test_other_formats_are_refused(self):
        problem = twill_gpu.find_program().ask(["loop", "-"], FIG1)
        for change in ({"version": 3}, {"format": "twill-schedule"}):
            with self.assertRaises(twill_gpu.TwillError):
                twill_gpu.Problem.from_dict({**problem, **change})
        for broken in ([], None, "text", {**problem, "ops": "x"}, {**problem, "ops": None}, {**problem, "units": [1]}):
            with self.assertRaises(twill_gpu.TwillError):
                twill_gpu.Problem.from_dict(broken)
        del problem["ops"][0]["alternatives"]
        with self.assertRaisesRegex(twill_gpu.TwillError, "lacks 'alternatives'"):
            twill_gpu.Problem.from_dict(problem)


class Answers(unittest.TestCase):
    def test_a_schedule_has_types(self):
        found = twill_gpu.schedule(ROOT / "loops" / "fig1.loop")
        self.assertEqual((found.verdict, found.interval, found.at_least), ("optimal", 2, 2))
        self.assertEqual({op.name for op in found.ops}, {"S", "P", "O"})
        self.assertIn("2 cycles", str(found))
        self.assertIn("<table>", found._repr_html_())

    def test_an_explanation_names_what_helps(self):
        found = twill_gpu.explain(ROOT / "loops" / "fwd_h1.loop", target="h200")
        self.assertEqual(found.status, "held")
        self.assertIn(1024, [help_.interval for help_ in found.helps])
        self.assertIn("<table>", found._repr_html_())

    def test_names_in_tables_are_escaped(self):
        self.assertIn("a&lt;b", solving.Schedule.__module__ and twill_gpu.answers.table(("x",), [("a<b",)]))


class Solve(unittest.TestCase):
    def test_progress_ends_with_the_optimum(self):
        heard = []
        found = twill_gpu.solve(twill_gpu.Problem(FIG1), on_progress=heard.append)
        self.assertEqual((found.verdict, heard[-1].interval, heard[-1].verdict), ("optimal", 2, "optimal"))

    def test_what_on_progress_raises_ends_the_search(self):
        def stop(_):
            raise KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):
            twill_gpu.solve(FIG1, on_progress=stop)

    def test_no_schedule_is_an_answer(self):
        """Protects proofs about a loop without a schedule: the program prints them on standard output, with an exit code of its own."""
        text = "loop x\nunit U\ngroup g warps 4 registers 10\nop a on U for 2 latency 2 warps 4 registers 100\nop b on U for 2 latency 2 warps 4 registers 0\na -> b distance 0\n"
        for found in (twill_gpu.schedule(text), twill_gpu.solve(text), twill_gpu.sweep([twill_gpu.task(text)])[0].schedule):
            self.assertEqual((found.verdict, found.interval, found.simulated, found.at_least), ("infeasible", None, None, 4))
            self.assertIn("100 of the 10 registers", str(found))
        self.assertRegex(str(solving.explain_text(text)), r"^infeasible\n  registers per thread of g from 10 to 100 makes it possible\n")

    def test_no_answer_within_the_work_is_an_answer(self):
        found = twill_gpu.schedule(ROOT / "loops" / "bwd_b2.loop", options=["--work-limit", "1000"])
        self.assertEqual((found.verdict, found.at_least), ("undecided", 2560))

    def test_a_schedule_without_a_plan_is_an_answer(self):
        found = twill_gpu.schedule("loop x\ngroup G registers 5000\nop a registers 1\n")
        self.assertEqual((found.verdict, found.simulated), ("optimal", None))
        self.assertRegex(str(found), r"\n  no plan     .*registers")

    def test_no_time_is_no_answer(self):
        with self.assertRaises(twill_gpu.TimedOut):
            twill_gpu.solve(FIG1, time_limit=0)

    def test_the_best_answer_so_far_outlives_the_time(self):
        """Protects anytime use: a second attempt that is stopped does not take the first one's answer away."""
        first = {"verdict": "feasible", "initiation_interval": 9, "bracket": None, "lower_bound": {"value": 5}}
        calls = []

        def attempt(source, machine, limit, left):
            calls.append(limit)
            if len(calls) == 1:
                return solving.Schedule(first)
            raise twill_gpu.TimedOut("stopped")
        real, solving._attempt = solving._attempt, attempt
        try:
            self.assertEqual(twill_gpu.solve(FIG1, time_limit=60).interval, 9)
        finally:
            solving._attempt = real
        self.assertLess(calls[0], calls[1])


class Wrong(unittest.TestCase):
    def test_a_refusal_is_at_the_file_that_was_given(self):
        """Protects readers of errors: the text goes by standard input, which the user has never seen."""
        kernel = ROOT / "kernels" / "fa_fwd" / "sm_90" / "d128.pre.ttgir"
        for ask in (lambda: twill_gpu.gap(kernel, 1023, (16, 256)), lambda: twill_gpu.gap(str(kernel), 1023, (16, 256))):
            with self.assertRaisesRegex(twill_gpu.Refused, f"^{kernel}:25:13: how often the loop runs depends on the argument 'arg22'"):
                ask()
        outcome, = twill_gpu.sweep([dataclasses.replace(twill_gpu.task(kernel), text="loop x\nnonsense\n")])
        self.assertRegex(outcome.error, f"^{kernel}:2")

    def test_less_than_is_proven_is_said(self):
        far = twill_gpu.gap(ROOT / "kernels" / "fa_fwd" / "sm_90" / "d128.pre.ttgir", 1, (16, 256), {"arg22": 2048})
        self.assertTrue(far.is_too_fast)
        self.assertIn("less than proven", str(far))
        self.assertIn("less than proven", far._repr_html_())

    def test_zeros_are_asked_about(self):
        """Protects from an answer to another question: no trips, and no clock, once were those of the machine and the arguments."""
        kernel = ROOT / "kernels" / "fa_fwd" / "sm_90" / "d128.pre.ttgir"
        self.assertEqual(twill_gpu.gap(kernel, 5, (16, ), trips=0).raw["trips"], [0, 0])
        with self.assertRaisesRegex(twill_gpu.Refused, "--clock-mhz"):
            twill_gpu.gap(kernel, 5, (16, ), trips=1, clock_mhz=0)

    def test_a_missing_file_is_named(self):
        with self.assertRaisesRegex(twill_gpu.TwillError, "no.loop"):
            twill_gpu.schedule("no.loop")

    def test_what_is_no_source(self):
        """Protects `except TwillError`: a wrong argument of a call is named."""
        for call in (lambda: twill_gpu.schedule(3), lambda: twill_gpu.sweep([None]), lambda: twill_gpu.gap(FIG1, 5, 16, trips=1),
                     lambda: twill_gpu.gap(FIG1, 5, (), trips=1), lambda: twill_gpu.gap(FIG1, "5 us", (1, ), trips=1), lambda: twill_gpu.tensor(3, "fp16")):
            with self.assertRaisesRegex(twill_gpu.TwillError, r"not (3|None|16|\(\)|'5 us')$"):
                call()
        with self.assertRaisesRegex(twill_gpu.TwillError, "is empty$"):
            twill_gpu.schedule("")
        for one in (FIG1, str(FIG1), twill_gpu.Problem("loop x")):  # the letters of a name were the sources
            with self.assertRaisesRegex(twill_gpu.TwillError, "^sweep takes a list"):
                twill_gpu.sweep(one)

    def test_unknown_types_of_tensors(self):
        with self.assertRaisesRegex(twill_gpu.TwillError, "fp15"):
            twill_gpu.tensor((4, 4), "fp15")
        self.assertEqual(twill_gpu.tensor((4, 8), "float16").stride(), (8, 1))


if __name__ == "__main__":
    unittest.main()
