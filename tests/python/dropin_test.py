"""The drop-in without a GPU: kernels compiled while it is on, and Triton's own kernel after any error."""

import abc
import concurrent.futures
import contextlib
import dataclasses
import errno
import functools
import inspect
import io
import itertools
import logging
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
from unittest import mock

import triton
from kernels_under_test import HERE, SM_90, add, compile_gemm, counts, chosen, fresh_cache, gemm, gemm_source, in_place, of_addresses, source_of, through_table

import twill_gpu
from twill_gpu.dropin import answer, backend, beside, effects, guards, later, lowering, records, settings, state, store, versions
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDABackend

POINTERS = {"x_ptr": "*fp32", "y_ptr": "*fp32"}


@functools.lru_cache(maxsize=None)
def plain_gemm():
    """Plain Triton's kernel, compiled once for all tests."""
    with fresh_cache():
        return compile_gemm()


class Case(unittest.TestCase):
    """A test with an empty cache and the fake program, which answers with Triton's own module unless told otherwise."""

    def setUp(self):
        self.plain = plain_gemm()
        self.cache = fresh_cache()
        self.addCleanup(self.cache.cleanup)
        folder = pathlib.Path(self.cache.name)
        (folder / "answer.ttgir").write_text(self.plain.asm["ttgir"])
        self.calls = folder / "calls"
        self.set(TWILL_PROGRAM=str(HERE / "fake_twill"), FAKE_ANSWER=str(folder / "answer.ttgir"), FAKE_CALLS=str(self.calls))
        self.addCleanup(twill_gpu.disable)
        records.clear()
        later.clear()
        self.set(TWILL_PATIENCE="inf")  # results must not depend on how busy the machine is

    def set(self, **environment):
        for name, value in environment.items():
            before = os.environ.get(name)
            os.environ[name] = value
            self.addCleanup(lambda name=name, before=before: os.environ.pop(name, None) if before is None else os.environ.update({name: before}))

    def shut_gate(self):
        """Makes the program wait until the returned file is touched."""
        gate = pathlib.Path(self.cache.name) / "gate"
        self.set(FAKE_GATE=str(gate))
        return gate

    def asked(self):
        return self.calls.read_text().splitlines() if self.calls.exists() else []

    def row(self):
        row, = twill_gpu.report().compilations
        return row

    def assert_plain(self, kernel):
        self.assertEqual(kernel.asm["cubin"], self.plain.asm["cubin"])
        self.assertEqual(kernel.metadata.num_warps, self.plain.metadata.num_warps)
        self.assertFalse(hasattr(kernel.metadata, "twill_kernel"))


class Race(Case):
    def test_the_kernel_is_tritons_and_names_the_other(self):
        """Protects code that takes a compiled kernel without knowing Twill: it is plain Triton's, to the last byte."""
        with twill_gpu.enabled():
            kernel = compile_gemm()
        self.assertEqual(kernel.asm["cubin"], self.plain.asm["cubin"])
        self.assertEqual(kernel.asm["ttgir"], self.plain.asm["ttgir"])
        facts = kernel.metadata.twill_kernel
        self.assertEqual((facts["read"], facts["written"]), ([0, 5], [10]))
        found = later.find(facts["key"], kernel.metadata).result()
        self.assertIsNotNone(store.get_cubin(found.cubin))
        for name in ("num_warps", "shared", "name", "tensordesc_meta"):  # num_warps was once left out: every launch failed
            self.assertIn(name, found.metadata)
        self.assertEqual(self.row().runs, "race")

    def test_a_compilation_waits_only_as_long_as_it_has_patience(self):
        """Protects first launches: a slow program delays no launch, and its kernel takes later launches."""
        gate = self.shut_gate()
        with twill_gpu.enabled(patience=0.0):
            kernel = compile_gemm()
        self.assertEqual(kernel.asm["cubin"], self.plain.asm["cubin"])
        self.assertEqual(self.row().runs, "race")
        self.assertIn("still being made", self.row().why)
        waiting = later.find(kernel.metadata.twill_kernel["key"], kernel.metadata)
        self.assertFalse(waiting.done())
        self.assertFalse(twill_gpu.wait(0.0))
        gate.touch()
        self.assertTrue(twill_gpu.wait())
        self.assertEqual(waiting.result().why, "")
        self.assertEqual((self.row().runs, self.row().why), ("race", ""))
        self.assertTrue(later.find(kernel.metadata.twill_kernel["key"], kernel.metadata).done())

    def test_a_refusal_that_comes_late_is_reported(self):
        """Protects users who look for the reason: the report once said for good that the kernel is still being made."""
        gate = self.shut_gate()
        self.set(FAKE_LINE_OF="scf.for")
        with twill_gpu.enabled(patience=0.0):
            compile_gemm()
            self.assertIn("still being made", self.row().why)
            gate.touch()
            self.assertTrue(twill_gpu.wait())
        self.assertEqual((self.row().runs, self.row().why), ("triton", "kernels_under_test.py:21: cannot be planned"))

    def test_the_program_is_asked_beside_tritons_compilation(self):
        """Protects the time until both kernels are finished: in sequence, they took as long as both together."""
        real, seen = CUDABackend.make_llir, []

        def make_llir(*arguments, **more):
            latest = time.monotonic() + 30
            while threading.current_thread() is threading.main_thread() and not self.asked() and time.monotonic() < latest:
                time.sleep(0.01)
            seen.append(len(self.asked()))
            return real(*arguments, **more)
        with mock.patch.object(CUDABackend, "make_llir", make_llir), twill_gpu.enabled(patience=0.0):
            compile_gemm()
            self.assertTrue(twill_gpu.wait())
        self.assertEqual(seen[0], 1)

    def test_a_module_is_compiled_while_it_is_checked(self):
        """Protects the time until both kernels are finished: the checks take half of the program's time."""
        gate, real = pathlib.Path(self.cache.name) / "checks", answer.compile_printed
        self.set(FAKE_CHECKS_WAIT=str(gate))

        def compile_printed(*arguments):
            made = real(*arguments)
            gate.touch()
            return made
        began = time.monotonic()
        with mock.patch.object(answer, "compile_printed", compile_printed), twill_gpu.enabled():
            compile_gemm()
        self.assertEqual(self.row().runs, "race")
        self.assertLess(time.monotonic() - began, 50, "the program's checks are waited for, a minute, before the compilation begins")

    def test_work_beside_the_program_gives_way_to_it(self):
        """Protects first launches on busy machines with few cores: Triton's own compilation took twice as long beside Twill's."""
        before, seen, done = os.getpriority(os.PRIO_PROCESS, 0), [], threading.Event()

        def work():
            seen.extend([os.getpriority(os.PRIO_PROCESS, 0), int(subprocess.check_output(["nice"]))])
            done.set()
        beside.start(work)
        self.assertTrue(done.wait(60))
        self.assertEqual(seen, [min(19, before + 10)] * 2)
        self.assertEqual(os.getpriority(os.PRIO_PROCESS, 0), before)
        with mock.patch.object(os, "setpriority", side_effect=PermissionError):
            done.clear()
            beside.start(work)
            self.assertTrue(done.wait(60))
        self.assertEqual(seen[2:], [before] * 2)

    def test_a_kernel_whose_maker_has_ended_is_made_by_the_next_process(self):
        """Protects programs that end before Twill's kernel is finished: Triton's disk cache then names a kernel that no process makes."""
        gate = self.shut_gate()
        with twill_gpu.enabled(patience=0.0):
            key = compile_gemm(num_warps=8).metadata.twill_kernel["key"]
            gate.touch()
            later.find(key, None).result()
            store.answer_path(key).unlink()
            later.clear()
            again = compile_gemm(num_warps=8)
            self.assertEqual((again.metadata.twill_kernel["key"], len(self.asked())), (key, 1))
            found = later.find(key, again.metadata).result()
        self.assertEqual((found.why, found.key, len(self.asked())), ("", key, 2))
        self.assertEqual(store.get_answer(key)["metadata"], found.metadata)
        store.text_path(key).unlink()
        store.answer_path(key).unlink()
        later.clear()
        with self.assertRaisesRegex(twill_gpu.TwillError, "no longer in the cache"):
            later.known(key)
        self.assertIn("no longer in the cache", later.find(key, again.metadata).result().why)

    def test_only_some_answers_are_made_at_once(self):
        """Protects Triton's own compilations: an autotuner begins many kernels, and there are not that many cores."""
        gate, real = self.shut_gate(), later._turns
        self.addCleanup(setattr, later, "_turns", real)
        later._turns = threading.Semaphore(2)
        with twill_gpu.enabled(patience=0.0):
            for spare in ((0, ), (8, ), (16, ), (24, )):
                with twill_gpu.enabled(spare_registers=spare):
                    compile_gemm()
            while len(self.asked()) < 2:
                time.sleep(0.05)
            time.sleep(0.3)
            self.assertEqual(len(self.asked()), 2)
            gate.touch()
            self.assertTrue(twill_gpu.wait())
        self.assertEqual(len(self.asked()), 4)

    def test_two_kernels_wait_for_one_answer(self):
        gate = self.shut_gate()
        with twill_gpu.enabled(patience=0.0):
            keys = {compile_gemm(num_stages=stages).metadata.twill_kernel["key"] for stages in (2, 3, 4)}
        key, = keys
        gate.touch()
        later.find(key, None).result()
        self.assertEqual(len(self.asked()), 1)

    def test_num_stages_is_not_asked_about_twice(self):
        with twill_gpu.enabled():
            compile_gemm()
            compile_gemm(num_stages=4)
        self.assertEqual(len(self.asked()), 1)
        self.assertTrue(twill_gpu.report().compilations[1].from_cache)

    def test_answers_are_not_mixed_over_machines_and_attempts(self):
        for change in ({}, {"machine": "h100"}, {"spare_registers": (16, )}):
            with twill_gpu.enabled(**change):
                compile_gemm()
        self.assertEqual(self.asked(), [f"emit ttgir - --machine {more} --text-first" for more in ("h200", "h100", "h200 --spare-registers 16")])

    def test_a_machine_file_that_changes_is_asked_about_again(self):
        file = pathlib.Path(self.cache.name) / "machine.json"
        for contents in ("{}", "{ }", "{ }"):
            file.write_text(contents)
            with twill_gpu.enabled(machine=str(file)):
                compile_gemm()
            later.clear()
        self.assertEqual(len(self.asked()), 2)

    def test_switches_of_tritons_compiler_make_another_answer(self):
        """Protects races in which only Triton's own kernel would be compiled anew."""
        for unoptimized in ("0", "1", "1"):
            self.set(DISABLE_LLVM_OPT=unoptimized)
            with twill_gpu.enabled():
                compile_gemm()
            later.clear()
        self.assertEqual(len({row.key for row in twill_gpu.report().compilations}), 2)

    def test_a_kernel_without_a_product_is_not_looked_at(self):
        with twill_gpu.enabled():
            triton.compile(source_of(add, {**POINTERS, "n": "i32"}, {"BLOCK": 128}), target=SM_90)
        self.assertEqual((self.asked(), len(twill_gpu.report().compilations)), ([], 0))


class Always(Case):
    def test_the_printed_module_is_compiled_to_the_end(self):
        with twill_gpu.enabled(decide="always"):
            kernel = compile_gemm(num_stages=2)  # as text and code of three stages: those of the fake answer
        copies = [made.asm["ttgir"].count("async_tma_copy_global_to_local") for made in (kernel, self.plain)]
        self.assertEqual(*copies)
        self.assertEqual(kernel.metadata.shared, self.plain.metadata.shared)
        self.assertEqual(self.row().runs, "twill")

    def test_from_the_cache_it_is_the_same_kernel(self):
        with twill_gpu.enabled(decide="always"):
            first = compile_gemm()
            second = compile_gemm(num_stages=4)
        self.assertEqual(first.asm["cubin"], second.asm["cubin"])
        self.assertEqual(len(self.asked()), 1)

    def test_parameters_are_those_of_plain_triton(self):
        """Protects the launch: Triton's launcher fills the parameters of its own kernel."""
        with twill_gpu.enabled(decide="always"):
            kernel = compile_gemm()
        parameters = [[line for line in made.asm["ptx"].splitlines() if ".param ." in line and "_param_" in line]
                      for made in (kernel, self.plain)]
        self.assertGreater(len(parameters[0]), 10)
        self.assertEqual(*parameters)


class Falls(Case):
    """Any error leaves Triton's own kernel, and one line with the reason."""

    def falls(self, why, decide=("race", "always"), timeout_s=60, **options):
        for mode in decide:
            with self.subTest(decide=mode), twill_gpu.enabled(decide=mode, timeout_s=timeout_s):
                records.clear()
                triton.knobs.cache.dir = tempfile.mkdtemp(dir=self.cache.name)  # else Triton has the kernel of the attempt before
                kernel = compile_gemm(**options)
                if not options:
                    self.assert_plain(kernel)
                self.assertEqual(self.row().runs, "triton")
                self.assertRegex(self.row().why, why)
                self.assertRegex(self.row().why, r"^kernels_under_test\.py:\d+: ")
                self.assertNotIn("\n", self.row().why)

    def test_a_refusal_names_the_users_line(self):
        self.set(FAKE_LINE_OF="scf.for")
        self.falls(r"^kernels_under_test\.py:21: cannot be planned$")

    def test_a_program_without_the_printer(self):
        self.set(FAKE_SAYS="twill: there is no command 'ttgir'", FAKE_EXIT="2")
        self.falls("older than this package: twill: there is no command")

    def test_a_crash(self):
        self.set(FAKE_SAYS="internal error", FAKE_EXIT="1")
        self.falls("internal error")

    def test_nonsense(self):
        pathlib.Path(os.environ["FAKE_ANSWER"]).write_text("hello")
        self.falls("printed no function")

    def test_a_module_that_triton_does_not_read(self):
        pathlib.Path(os.environ["FAKE_ANSWER"]).write_text("module { tt.func public @gemm( }")
        self.falls("does not compile the printed module")

    def test_a_module_whose_checks_fail(self):
        """Protects numbers: the module is compiled while it is checked, and must not be launched or kept if the checks fail."""
        self.set(FAKE_CHECKS_SAY="twill: error: the printed roles do not work together")
        self.falls("the printed roles do not work together")
        pathlib.Path(os.environ["FAKE_ANSWER"]).write_text("module { tt.func public @gemm( }")  # a program that died while it wrote
        self.falls("the printed roles do not work together")
        kept = [path for path in pathlib.Path(self.cache.name).rglob("*") if path.parent.name == "cubin" or path.parent.name == "answer" and path.suffix == ".json"]
        self.assertEqual(kept, [])

    def test_checks_that_hang(self):
        self.set(FAKE_CHECKS_WAIT="/nowhere")
        self.falls("stopped after 3 seconds", decide=("always", ), timeout_s=3)

    def test_a_program_that_hangs(self):
        self.set(FAKE_SECONDS="20")
        self.falls("stopped after 1 seconds", decide=("always", ), timeout_s=1)

    def test_a_program_that_goes_away(self):
        with twill_gpu.enabled():
            os.environ["TWILL_PROGRAM"] = "/nowhere/twill"
            self.assert_plain(compile_gemm())
        self.assertIn("/nowhere/twill", self.row().why)

    def test_bugs_of_ours(self):
        for owner, broken, decide in ((backend, "before_pipelining", ("race", "always")), (backend, "answer", ("always", )),
                                      (backend, "effects_of", ("race", )), (later, "answer", ("race", )), (beside, "start", ("race", )),
                                      (guards, "refused_knob", ("race", "always")), (store, "claim", ("race", ))):
            with self.subTest(broken=broken), mock.patch.object(owner, broken, lambda *_, **more: 1 // 0):
                self.falls("ZeroDivisionError", decide=decide)

    def test_no_thread_to_be_had(self):
        """Protects programs at their limit of threads: the compilation once waited for a thread that had not begun."""
        with mock.patch.object(threading.Thread, "start", side_effect=RuntimeError("can't start new thread")):
            self.falls("can't start new thread", decide=("race", ))

    def test_nobody_listens(self):
        """Protects programs without a standard error, and with logging of their own: a line that cannot be printed stops no program."""
        class Broken(logging.Handler):
            def emit(self, record):
                raise RuntimeError("no log")
        log, handler = logging.getLogger("twill_gpu"), Broken()
        log.addHandler(handler)
        log.setLevel(logging.INFO)
        self.addCleanup(log.removeHandler, handler)
        self.addCleanup(log.setLevel, logging.NOTSET)
        self.set(FAKE_SAYS="internal error", FAKE_EXIT="1")
        closed = open(os.devnull, "w", encoding="utf-8")
        closed.close()
        with mock.patch.object(sys, "stderr", closed), twill_gpu.enabled(verbose=True):
            self.assert_plain(compile_gemm())
        self.assertIn("internal error", self.row().why)

    def test_parts_of_triton_that_are_not_as_we_know_them(self):
        from twill_gpu.dropin import inductor
        with mock.patch.object(inductor, "adopt", lambda: 1 // 0), mock.patch.object(state, "adopt_driver", lambda: 1 // 0), \
                twill_gpu.enabled(decide="never"), self.assertLogs("twill_gpu", "WARNING"):
            self.assert_plain(compile_gemm())

    def test_files_of_ours_that_go_away(self):
        """Protects programs under which the package, or a machine's file, is replaced: keys are made at every compilation."""
        folder = pathlib.Path(self.cache.name)
        self.assertIn("x" * 5000, settings.Settings(machine="x" * 5000).key())
        (folder / "machine.json").write_bytes(b"\xff\xfe")
        self.assertIn("machine.json", settings.Settings(machine=str(folder / "machine.json")).key())
        for gone in (FileNotFoundError, PermissionError):
            with mock.patch.object(backend, "_sources", side_effect=gone):
                self.assertEqual(len(backend.fingerprint("")), 16)

    def test_a_folder_that_cannot_be_written(self):
        def full(*_):
            raise OSError(28, "No space left on device")
        real = answer.store.put_cubin
        self.addCleanup(setattr, answer.store, "put_cubin", real)
        answer.store.put_cubin = full
        self.falls("No space left")

    def test_options_that_are_not_understood(self):
        for option, value in (("num_ctas", 2), ("maxnreg", 128), ("launch_pdl", True), ("launch_cooperative_grid", True)):
            with self.subTest(option=option):
                self.falls(f"the option {option}", decide=("race", ), **{option: value})
        self.assertEqual(self.asked(), [])

    def test_options_of_tomorrow(self):
        """Protects future versions: an unknown field counts unless it is at its default."""
        options = CUDABackend(SM_90).parse_options({})
        self.assertEqual(guards.refused_option(options), "")
        object.__setattr__(options, "reorder_everything", True)
        self.assertEqual(guards.refused_option(options), "reorder_everything")

    def test_decided_per_kernel(self):
        with twill_gpu.enabled():
            kernel = compile_gemm(twill="never")
        self.assertEqual(kernel.asm["cubin"], self.plain.asm["cubin"])
        self.assertEqual((self.row().why, self.asked()), ("kernels_under_test.py:17: decide is never", []))

    def test_launch_options_with_a_slip(self):
        for slip, why in (("alwais", "alwais"), ("spare_registers=many", "many"), (True, "AttributeError"), ("colour=red", "colour")):
            with self.subTest(slip=slip):
                self.falls(why, decide=("race", ), twill=slip)

    def test_hopper_and_blackwell_if_asked_for(self):
        for other, blackwell, done in ((90, False, True), (90, True, True), (100, False, False), (100, True, True), (80, True, False), (120, True, False)):
            why = guards.refused_target(other, blackwell)
            self.assertEqual(why == "", done, other)
            self.assertTrue(done or f"sm_{other}" in why)

    def test_blackwell_keeps_tritons_kernel_with_a_line(self):
        """Protects Blackwell, on which printed kernels were never run: the program is not even called."""
        with twill_gpu.enabled():
            triton.compile(gemm_source(), target=GPUTarget("cuda", 100, 32))
        self.assertEqual((self.row().runs, self.row().arch, self.asked()), ("triton", 100, []))
        self.assertIn("never run there", self.row().why)

    def test_blackwell_goes_the_same_way_if_asked_for(self):
        with twill_gpu.enabled(decide="never"):
            plain = triton.compile(gemm_source(), target=GPUTarget("cuda", 100, 32))
        pathlib.Path(os.environ["FAKE_ANSWER"]).write_text(plain.asm["ttgir"])
        for decide, runs in (("race", "race"), ("always", "twill")):
            with self.subTest(decide=decide), twill_gpu.enabled(blackwell=True, decide=decide):
                records.clear()
                kernel = triton.compile(gemm_source(), target=GPUTarget("cuda", 100, 32))
                self.assertEqual((self.row().runs, self.row().why, kernel.metadata.target.arch), (runs, "", 100))
                self.assertIn("never run on sm_100", str(self.row()))
        self.assertEqual(set(self.asked()), {"emit ttgir - --machine b200 --text-first"})


class Damage(Case):
    """Protects against incomplete cache files, as after a full disk or a power failure: they are made again, not trusted."""

    def files(self, *kinds):
        return [path for kind in kinds for path in (store.folder() / kind).iterdir()]

    def test_every_kind_of_file(self):
        with twill_gpu.enabled():
            expected = store.get_answer(compile_gemm().metadata.twill_kernel["key"])
        self.assertIsNotNone(expected)
        damages = itertools.product(("answer", "cubin", "text"), (b"", b"[1]", b"\xff\xfe\x00"))
        for number, (kind, contents) in enumerate(damages, 1):  # an option that differs, since Triton's own cache has the kernels from before
            for path in self.files(kind):
                path.write_bytes(contents)
            with self.subTest(kind=kind, contents=contents), twill_gpu.enabled():
                later.clear()
                records.clear()
                kernel = compile_gemm(twill=" " * number)
                self.assertEqual((self.row().runs, self.row().why), ("race", ""))
                self.assertEqual(store.get_answer(kernel.metadata.twill_kernel["key"]), expected)

    def test_nothing_is_left_of_work_that_was_killed(self):
        """Protects shared caches: a process may end at any moment, and leaves whole files, or files under names that do not count."""
        with twill_gpu.enabled():
            key = compile_gemm().metadata.twill_kernel["key"]
        whole = {path: path.read_bytes() for path in self.files("answer", "cubin", "text")}
        for path in whole:
            with mock.patch.object(os, "replace", side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
                path.unlink()
                store.write_whole(path, whole[path])
            self.assertFalse(path.exists())
            store.write_whole(path, whole[path])
        later.clear()
        self.assertIsNotNone(store.get_answer(key))
        self.assertEqual({path: path.read_bytes() for path in whole}, whole)

    def test_a_full_disk_keeps_no_part(self):
        """Protects shared caches: if a file does not fit, its written part is removed as well. Only a cache's own entries are lost without a message."""
        def full(path, contents):
            with path.open("wb") as part:
                part.write(contents[:1])
            raise OSError(errno.ENOSPC, "No space left on device")

        target = store.answer_path("full")
        with mock.patch.object(type(target), "write_bytes", full):
            store.write_json(target, {"a": 1})
            with self.assertRaises(OSError):
                store.write_whole(target, b"all of it")
        self.assertEqual(list(target.parent.glob("*full*")), [])
        store.write_json(target, {"a": 1})
        self.assertEqual(store.read_json(target), {"a": 1})

    def test_processes_that_want_the_same(self):
        """Protects ranks and workers that start at once: each has the same kernel, which one of them made."""
        code = ("import sys; sys.path.insert(0, {here!r})\nfrom kernels_under_test import compile_gemm, triton\n"
                "import twill_gpu\nfrom twill_gpu.dropin import later\ntriton.knobs.cache.dir = {cache!r}\n"
                "with twill_gpu.enabled(patience=float('inf')):\n    facts = compile_gemm(num_stages=4).metadata.twill_kernel\n"
                "print(facts['key'], later.find(facts['key'], None).result().cubin)")
        cache = tempfile.mkdtemp(dir=self.cache.name)
        self.set(FAKE_SECONDS="1")
        every = [subprocess.Popen([sys.executable, "-W", "ignore", "-c", code.format(here=str(HERE), cache=cache)], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) for _ in range(3)]
        said = [process.communicate()[0] for process in every]
        self.assertEqual([process.returncode for process in every], [0] * 3)
        self.assertEqual(len(set(said)), 1, said)
        self.assertEqual(len(self.asked()), 1)
        self.assertEqual([path for path in pathlib.Path(cache, "twill").rglob("*") if path.name.startswith(".") or path.suffix == ".busy"], [])


class Spills(Case):
    def compiled(self, said="", shared=1000):
        return lowering.Compiled("", "", b"", {"shared": shared}, said)

    def test_complaints(self):
        self.assertEqual(self.compiled("0 bytes spill stores, 0 bytes spill loads").complaint(232448), "")
        self.assertEqual([self.compiled(said).spilled for said in ("", "0 bytes spill stores", "20 bytes spill stores, 16 bytes spill loads")], [0, 0, 20])
        self.assertIn("(C7512)", self.compiled("info : (C7512) Potential Performance Loss: wgmma serialized").complaint(232448))
        self.assertEqual(self.compiled(shared=232448).complaint(232448), "")
        self.assertIn("shared memory", self.compiled(shared=232449).complaint(232448))

    def test_a_kernel_that_spills_is_asked_for_again_with_registers_to_spare(self):
        """Protects the sequence of attempts while ptxas spills: the first clean attempt is taken, else the one that spills least."""
        for spills, expected in (((-1, 0, 0), ("", "", 16, [0, 16])), ((-1, 8, 4), ("", "ptxas spills 4 bytes", 32, [0, 16, 32])),
                                 ((8, 8, 12), ("", "ptxas spills 8 bytes", 0, [0, 16, 32])),
                                 ((-1, -1, -1), ("ptxas: (C7602) Insufficient registers", ) * 2 + (0, [0, 16, 32]))):
            asked = []

            def printed(_, attempt):
                asked.append(attempt.spare_registers)
                return str(attempt.spare_registers)

            def compiled(module, *_):
                spilled = spills[(0, 16, 32).index(int(module))]
                if spilled < 0:  # too large for an instruction of it
                    raise lowering.NoCode("ptxas: (C7602) Insufficient registers")
                return self.compiled(f"{spilled} bytes spill stores")
            found, lasting = self.answer(printed, compiled)
            self.assertEqual((found.why, found.complaint, found.spare_registers, asked), expected)
            self.assertTrue(lasting)

    def answer(self, printed, compiled):
        cache = fresh_cache()
        self.addCleanup(cache.cleanup)
        with mock.patch.object(answer, "printed", lambda *given: contextlib.nullcontext(printed(*given))), mock.patch.object(answer, "compile_printed", compiled):
            return answer._answer_anew(answer.Request("", None, {}, 90, None, settings.Settings(), None), "key")

    def test_a_kernel_of_two_ctas_that_spills_is_asked_for_alone_on_its_sm(self):
        """Protects attention with a bias: half of the registers were too few, and a plan with all of them was never tried."""
        asked = []

        def printed(_, attempt):
            asked.append(attempt)
            return "alone" if attempt.ctas_per_sm or attempt.spare_registers else 'attributes {ttg.maxnreg = 128 : i32}'
        found, _ = self.answer(printed, lambda module, *_: self.compiled("" if module == "alone" else "36 bytes spill stores"))
        self.assertEqual((found.complaint, found.module), ("", "alone"))
        self.assertEqual(asked, [answer.Attempt(0), answer.Attempt(0, 1)])

    def test_a_later_attempt_that_is_refused_loses_no_kernel(self):
        """Protects kernels without a plan that keeps registers free: those that spill a little may still race."""
        for exit_code, spilled, expected in ((5, 4, ("", 4, 32, True)), (1, 4, ("", 4, 32, False)), (1, 0, ("", 0, 32, True))):
            def printed(_, attempt):
                if attempt.spare_registers == 16:
                    raise twill_gpu.Refused(exit_code, twill_gpu.Diagnostic("", 0, 0, "no plan"))
                return str(attempt.spare_registers)
            found, lasting = self.answer(printed, lambda module, *_: self.compiled(f"{8 if module == '0' else spilled} bytes spill stores"))
            self.assertEqual((found.why, found.spilled, found.spare_registers, lasting), expected)

    def test_a_kernel_that_spills_is_taken_by_a_race_alone(self):
        """Protects decide="always", under which kernels are not measured; a race finds out whether the spills matter."""
        spills = dataclasses.replace(self.compiled("8 bytes spill stores"), cubin=b"code", metadata={"shared": 1000, "num_warps": 8})
        with mock.patch.object(answer, "compile_printed", lambda *_: spills):
            for decide, runs in (("always", "triton"), ("race", "race")):
                records.clear()
                later.clear()
                with twill_gpu.enabled(decide=decide):
                    kernel = compile_gemm()
                self.assertEqual((self.row().runs, self.row().why.split(": ")[-1]), (runs, "ptxas spills 8 bytes"))
                self.assertEqual(kernel.asm["cubin"], self.plain.asm["cubin"])
                self.assertEqual(hasattr(kernel.metadata, "twill_kernel"), decide == "race")

    def test_a_plan_that_the_program_spared_registers_for_by_itself_is_compiled_once(self):
        """Protects the time until the kernel is there: texts that differ in their remarks alone are one kernel."""
        texts, compiled = {0: "// note: planned with 16 registers\nmodule 16", 16: "module 16", 32: "module 32"}, []
        found, _ = self.answer(lambda _, attempt: texts[attempt.spare_registers],
                               lambda module, *_: compiled.append(module) or self.compiled("8 bytes spill stores"))
        self.assertEqual((found.complaint, compiled), ("ptxas spills 8 bytes", [texts[0], texts[32]]))


class Ptxas(unittest.TestCase):
    def test_what_ptxas_refuses_is_said_in_a_line_and_nothing_is_printed(self):
        """Protects standard output: Triton once printed all PTX there of a module without machine code."""
        made, said = CUDABackend(SM_90), io.StringIO()
        with contextlib.redirect_stdout(said), self.assertRaisesRegex(lowering.NoCode, r"^ptxas: (?!PTXAS error).+"):
            lowering._make_cubin_with_log(made, ".version 8.0\n.target sm_90a\nnonsense", {"name": "k"}, made.parse_options({"arch": "sm90"}))
        self.assertEqual(said.getvalue(), "")


class Keys(Case):
    def test_on_off_and_settings_have_keys_of_their_own(self):
        hashes = [triton.compiler.make_backend(SM_90).hash()]
        for change in ({}, {"decide": "always"}, {"machine": "h100"}, {"spare_registers": (0, )}):
            with twill_gpu.enabled(**change):
                hashes.append(triton.compiler.make_backend(SM_90).hash())
        self.assertEqual(len(set(hashes)), len(hashes))
        self.assertEqual(triton.compiler.make_backend(SM_90).hash(), hashes[0])

    def test_what_changes_no_kernel_changes_no_key(self):
        with twill_gpu.enabled():
            first = triton.compiler.make_backend(SM_90).hash()
        with twill_gpu.enabled(verbose=False, margin=0.1, race_ms=1.0, persistent=False):
            self.assertEqual(triton.compiler.make_backend(SM_90).hash(), first)

    def test_kernels_in_memory_belong_to_settings(self):
        """Protects switching on and off within a process: Triton finds kernels in memory without calling the backend."""
        plain = gemm.device_caches
        with twill_gpu.enabled():
            ours = gemm.device_caches
            self.assertIsNot(ours, plain)
            ours["mark"] = 1
            with twill_gpu.enabled(decide="always"):
                self.assertNotIn("mark", gemm.device_caches)
            self.assertIs(gemm.device_caches, ours)
        self.assertIs(gemm.device_caches, plain)
        with twill_gpu.enabled():
            self.assertIs(gemm.device_caches, ours)
        ours.clear()

    def test_functions_that_come_later_are_known(self):
        twill_gpu.enable()
        later = triton.jit(add.fn)
        on = later.device_caches
        twill_gpu.disable()
        self.assertIsNot(later.device_caches, on)

    def test_functions_are_not_asked_for_their_keys(self):
        """Protects kernels whose helpers and globals follow them. A key computed at the kernel's definition ignores these, and Triton's cache then
        returns a kernel with another helper. Functions from PyTorch's workers have no key at all.
        """
        asked = []

        class Function(triton.runtime.jit.JITFunction):
            def __hash__(self):
                asked.append(self)
                return 0
        known = Function(add.fn)
        with twill_gpu.enabled():
            later = Function(add.fn)
        self.assertEqual(asked, [])
        self.assertTrue(all("_twill_kernels" in function.__dict__ for function in (known, later)))

    def test_disable_twice_and_enable_twice(self):
        twill_gpu.enable(machine="h100")
        twill_gpu.enable(decide="always")
        self.assertEqual((state.current().machine, state.current().decide), ("h100", "always"))
        twill_gpu.disable()
        twill_gpu.disable()
        self.assertIsNone(state.active())

    def test_unknown_settings(self):
        for wrong in ({"decides": "race"}, {"decide": "maybe"}, {"margin": 1.0}, {"spare_registers": ()}, {"spare_registers": 16},
                      {"spare_registers": ("16", )}, {"race_ms": 0.0}, {"race_ms": float("nan")}, {"timeout_s": 0.0}, {"margin": "0.1"}, {"race_ms": None},
                      {"machine": "h300"}, {"machine": None}):
            with self.subTest(wrong), self.assertRaises(twill_gpu.TwillError):
                twill_gpu.enable(**wrong)
        self.assertIsNone(state.active())

    def test_a_cache_that_cannot_be_written(self):
        """Protects programs with an older cache: under the drop-in's keys, Triton would have to write there."""
        with mock.patch.object(os, "access", return_value=False):
            self.assert_stays_off("cannot be written")

    def assert_stays_off(self, why):
        """Leaves kernels to Triton, with one line for the reason, which the report keeps."""
        with self.assertLogs("twill_gpu", "WARNING") as said:
            self.assertFalse(twill_gpu.enable())
            with twill_gpu.enabled(decide="always"):
                self.assertIsNone(state.active())
                self.assert_plain(compile_gemm())
        self.assertEqual(len(said.output), 2)
        for line in (said.output[0], str(twill_gpu.report()), twill_gpu.report().to_dict()["why_off"], twill_gpu.report()._repr_html_()):
            self.assertIn(why, line)

    def test_a_triton_that_is_not_known(self):
        """Protects programs that switch the drop-in on under another Triton: they go on, with the reason why it is off."""
        for unknown in ("3.5.1", "3.10.0", "4.0.0+git", "main"):
            with self.subTest(unknown), mock.patch.object(triton, "__version__", unknown):
                self.assert_stays_off("3.6 to 3.9")
                records.clear()
        self.assertTrue(twill_gpu.enable())
        self.assertEqual(twill_gpu.report().why_off, "")

    def test_versions(self):
        for known in ("3.6.0", "3.7.1", "3.9.0", "3.6.0+gitabc"):
            self.assertEqual(versions.why_not(known), "")
        for unknown in ("3.5.1", "3.10.0", "4.6.0", "main", ""):
            self.assertIn("3.6 to 3.9", versions.why_not(unknown))


class Options(unittest.TestCase):
    def test_the_decorator_hands_on_a_launch_option_while_the_drop_in_is_on(self):
        heard = []
        kernel = triton.jit(add.fn)
        kernel.run = lambda *_, **more: heard.append(more)
        tuned = triton.autotune([triton.Config({}, num_warps=4)], key=["n"])(kernel)
        self.assertIs(twill_gpu.options(decide="never", machine="h100")(tuned), tuned)
        kernel.run(grid=(1, ))
        with twill_gpu.enabled():
            kernel.run(grid=(1, ))
            kernel.run(grid=(1, ), twill="always")
        self.assertEqual(heard, [{"grid": (1, )}, {"grid": (1, ), "twill": "decide=never machine=h100"}, {"grid": (1, ), "twill": "always"}])

    def test_slips_are_told_at_the_decorator(self):
        for wrong in ({"decide": "maybe"}, {"margin": 0.1}, {"spare_registers": ("many", )}):
            with self.assertRaises(twill_gpu.TwillError):
                twill_gpu.options(**wrong)
        for slip in ("spare_registers=many", "spare_registers=", "machine='h100"):
            with self.assertRaises(twill_gpu.TwillError):
                settings.parse_overlay(slip)

    def test_a_kernel_that_triton_interprets_is_left_as_it_is(self):
        """Protects debugging: with TRITON_INTERPRET=1, a program with @twill_gpu.options could not be imported."""
        class InterpretedFunction:
            def __init__(self, fn):
                self.fn = fn
        interpreted = InterpretedFunction(add.fn)
        with mock.patch.dict(sys.modules, {"triton.runtime.interpreter": types.SimpleNamespace(InterpretedFunction=InterpretedFunction)}):
            self.assertIs(twill_gpu.options(decide="never")(interpreted), interpreted)
        code = "import sys; sys.path.insert(0, %r); import kernels_under_test as k, twill_gpu; twill_gpu.options(decide='never')(k.add); print(type(k.add).__name__)"
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", code % str(HERE)], capture_output=True, text=True, check=True,
                              env={**os.environ, "TRITON_INTERPRET": "1"})
        self.assertEqual(done.stdout.strip(), "InterpretedFunction")

    def test_launch_options_are_read_as_written(self):
        folder = tempfile.TemporaryDirectory(suffix="my gpus")
        self.addCleanup(folder.cleanup)
        file = pathlib.Path(folder.name) / "it's.json"
        file.write_text("{}")
        for machine in ("h100", str(file)):
            changes = {"decide": "always", "machine": machine, "spare_registers": (0, 16)}
            self.assertEqual(settings.parse_overlay(settings.overlay_text(changes)), changes)
        self.assertEqual(settings.parse_overlay("always"), {"decide": "always"})
        for value in (True, False):
            self.assertEqual(settings.parse_overlay(settings.overlay_text({"persistent": value})), {"persistent": value})

    def test_switches_of_the_environment(self):
        for name, default in (("blackwell", False), ("inductor", False), ("persistent", True), ("verbose", False)):
            for value, expected in (("", default), ("0", False), ("1", True)):
                self.assertEqual(getattr(settings.from_environment({f"TWILL_{name.upper()}": value}), name), expected, (name, value))


class Effects(unittest.TestCase):
    """Which kernels may be launched twice for one result."""

    def effects(self, kernel, signature, constants):
        cache = fresh_cache()
        self.addCleanup(cache.cleanup)
        compiled = triton.compile(source_of(kernel, signature, constants), target=SM_90)
        module = lowering.parse(compiled.asm["ttir"], lowering.new_context(CUDABackend(SM_90)), ".ttir")
        return effects.effects_of(module, effects.address_arguments(module))

    def test_reads_and_writes(self):
        self.assertEqual(self.effects(add, {**POINTERS, "n": "i32"}, {"BLOCK": 128}), effects.Effects((0, ), (1, )))

    def test_pointers_carried_in_a_loop_and_offsets_from_memory(self):
        found = self.effects(through_table, {**POINTERS, "table_ptr": "*i32", "n": "i32"}, {"BLOCK": 128})
        self.assertEqual(found, effects.Effects((0, 2), (1, )))

    def test_what_may_not_run_twice(self):
        cases = ((in_place, POINTERS, "argument 1 is read and written"), (counts, POINTERS, "atomic"),
                 (chosen, {**POINTERS, "n": "i32"}, "argument 1 is read and written"),
                 (of_addresses, {"x_ptr": "*i64", "y_ptr": "*fp32"}, "int_to_ptr"))
        for kernel, signature, why in cases:
            with self.subTest(kernel=kernel.__name__), self.assertRaisesRegex(effects.NotRepeatable, why):
                self.effects(kernel, signature, {"BLOCK": 128})


class Threads(Case):
    def test_threads_compile_what_one_thread_does(self):
        with twill_gpu.enabled():
            with concurrent.futures.ThreadPoolExecutor(3) as pool:
                made = list(pool.map(lambda stages: compile_gemm(num_stages=stages), (2, 3, 4)))
            keys = {kernel.metadata.twill_kernel["key"] for kernel in made}
        self.assertEqual((len(keys), len(self.asked())), (1, 1))
        self.assertEqual(made[1].asm["cubin"], self.plain.asm["cubin"])


class Environment(unittest.TestCase):
    """TWILL=1 and nothing else, in a process of its own, as Inductor's workers are."""

    def run_with(self, **environment):
        package = pathlib.Path(twill_gpu.__file__).resolve().parent.parent
        with tempfile.TemporaryDirectory() as folder:
            made = pathlib.Path(folder) / "twill_gpu-0.dist-info"
            made.mkdir()
            (made / "METADATA").write_text("Metadata-Version: 2.1\nName: twill-gpu\nVersion: 0\n")
            (made / "entry_points.txt").write_text("[triton.backends]\ntwill = twill_gpu.plugin\n")
            code = ("import triton, sys; from triton.backends.compiler import GPUTarget; from triton.compiler import make_backend\n"
                    "make_backend(GPUTarget('cuda', 90, 32)); print(type(make_backend(GPUTarget('cuda', 90, 32))).__name__)")
            return subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True,
                                  env={**os.environ, "PYTHONPATH": f"{folder}:{package}", **environment})

    def test_on(self):
        self.assertEqual(self.run_with(TWILL="1").stdout.strip(), "TwillBackend")

    def test_off(self):
        for value in ("0", ""):
            self.assertEqual(self.run_with(TWILL=value).stdout.strip(), "CUDABackend")

    def test_other_words_for_on_are_said_to_be_none(self):
        """Protects users who write TWILL=on, and measured plain Triton without a message."""
        done = self.run_with(TWILL="on")
        self.assertEqual((done.stdout.strip(), done.stderr.strip()), ("CUDABackend", "twill: off: TWILL is 1 or 0, not 'on'"))

    def test_without_a_program_it_says_so_and_stays_off(self):
        done = self.run_with(TWILL="1", TWILL_PROGRAM="/nowhere/twill")
        self.assertEqual(done.stdout.strip(), "CUDABackend")
        self.assertEqual(len(done.stderr.strip().splitlines()), 1)
        self.assertIn("twill: off: no program twill", done.stderr)

    def test_settings_that_are_none_are_said_in_a_line(self):
        for name, value in (("TWILL_DECIDE", "allways"), ("TWILL_PATIENCE", "some")):
            done = self.run_with(TWILL="1", **{name: value})
            self.assertEqual(done.stdout.strip(), "CUDABackend")
            self.assertEqual(len(done.stderr.strip().splitlines()), 1)
            self.assertIn(value, done.stderr)

    def test_a_triton_of_tomorrow_is_imported_all_the_same(self):
        """Protects users of the package with another Triton: a Triton that demands more of backends could not be imported."""
        from twill_gpu.plugin import _switch

        class Base(abc.ABC):
            @abc.abstractmethod
            def of_tomorrow(self):
                """A property that no backend of today has."""

        @_switch.without_abstract_methods
        class Ours(Base):
            pass
        self.assertFalse(inspect.isabstract(Ours))
        from twill_gpu.plugin import compiler, driver
        self.assertFalse(inspect.isabstract(compiler.NoBackend) or inspect.isabstract(driver.NoDriver))

    def test_whatever_is_wrong_with_the_switch_is_a_line(self):
        from twill_gpu.plugin import _switch
        with mock.patch.object(_switch, "_asked", False), mock.patch.object(twill_gpu, "enable", side_effect=ImportError("no\nknobs"), create=True), \
                mock.patch.dict(os.environ, TWILL="1"), mock.patch.object(sys, "stderr", io.StringIO()) as said:
            _switch.at_first_question()
        self.assertEqual(said.getvalue(), "twill: off: ImportError: no knobs\n")


class Real(unittest.TestCase):
    def test_the_program_itself(self):
        """Protects the seam to the printer: the program's own module compiles, and is there to race with."""
        cache = fresh_cache()
        self.addCleanup(cache.cleanup)
        records.clear()
        with twill_gpu.enabled(patience=float("inf")):
            kernel = triton.compile(gemm_source(), target=SM_90, options={"num_warps": 4})
        row, = twill_gpu.report().compilations
        self.assertEqual((row.runs, row.why), ("race", ""))
        self.assertGreater(store.get_answer(row.key)["metadata"]["num_warps"], kernel.metadata.num_warps)
        again = twill_gpu.explain(gemm)
        self.assertIn("kernels_under_test.py:", again.raw["story"])


if __name__ == "__main__":
    unittest.main()
