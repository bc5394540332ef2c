"""Kernels that walk tiles, without a GPU: each tile once, by the operations of the kernel; all else is refused; it compiles and can be launched."""

import concurrent.futures
import dataclasses
import functools
import itertools
import os
import pathlib
import re
import types
import unittest
from unittest import mock

import triton
from kernels_under_test import (HERE, SM_90, add, assembles, calls, compile_gemm, counts_up, fresh_cache, gemm, gemm_source, in_place, placed, returns,
                                says, source_of, waits)

import twill_gpu
from triton.backends.nvidia import driver as nvidia_driver
from triton.backends.nvidia.compiler import CUDABackend
from triton.runtime import driver
from twill_gpu.dropin import beside, later, lowering, over_tiles, race, records, store

POINTERS = {"x_ptr": "*fp32", "y_ptr": "*fp32"}


def ttgir_of(kernel, signature, constants):
    """A kernel as Twill gets it: TTGIR before pipelining. Made once for all tests."""
    return _ttgir_of(kernel, tuple(signature.items()), tuple(constants.items()))


@functools.lru_cache(maxsize=None)
def _ttgir_of(kernel, *facts):
    signature, constants = map(dict, facts)
    backend = CUDABackend(SM_90)
    options = backend.parse_options({"num_warps": 4, "num_stages": 3, "arch": "sm90"})
    source = gemm_source() if kernel is gemm else source_of(kernel, signature, constants)
    with fresh_cache():
        compiled = triton.compile(source, target=SM_90, options={"num_warps": 4})
        return lowering.before_pipelining(compiled.asm["ttir"], options, 90, backend)


def lines_of(text):
    return [line for line in text.split("\n") if line.startswith("    ")]


def without_place(line):
    """A line without its depth and its location."""
    return re.sub(r" loc\(.*\)$", "", line.strip())


def walked(text, grid, ctas):
    """For each CTA of a launch with `ctas`, the tiles that it computes in their order: what the loop in `text` does with these numbers."""
    steps = {"muli": lambda a, b: a * b, "divsi": lambda a, b: a // b, "remsi": lambda a, b: a % b}
    loop = re.search(r"scf.for %twill_tile = (%\w+) to (%\w+) step (%\w+)  : i32 {", text)
    axes = [axis for axis in "xyz" if f"%twill_tile_{axis} = " in text]
    for cta in range(ctas):
        known = {**dict(zip(("%twill_x", "%twill_y", "%twill_z"), grid)), "%twill_first": cta, "%twill_step": ctas}

        def compute(part):
            for result, name, left, right in re.findall(r"(%twill_\w+) = arith\.(\w+) (%twill_\w+), (%twill_\w+) : i32", part):
                known[result] = steps[name](known[left], known[right])
        compute(text[:loop.start()])
        tiles = []
        for known["%twill_tile"] in range(*(known[name] for name in loop.groups())):
            compute(text[loop.end():])
            tiles.append({axis: known[f"%twill_tile_{axis}"] for axis in axes})
        yield tiles


class Walk(unittest.TestCase):
    def test_each_tile_once_in_the_order_of_a_gpu(self):
        """Protects results: every CTA of the original launch is a tile, for any number of CTAs that walk."""
        for kernel, signature in ((placed, {**POINTERS, "n": "i32"}), (gemm, {})):
            text = over_tiles.over_tiles(ttgir_of(kernel, signature, {"BLOCK": 128}))
            for grid in ((1, 1, 1), (7, 1, 1), (1, 5, 1), (3, 4, 1), (4, 3, 2), (1, 2, 9)):
                every = [dict(x=x, y=y, z=z) for z, y, x in itertools.product(*map(range, reversed(grid)))]
                for ctas in {1, 2, 5, len(every)}:
                    found = list(walked(text, grid, ctas))
                    for cta, tiles in enumerate(found):
                        expected = [{axis: tile[axis] for axis in (tiles or [{}])[0]} for tile in every[cta::ctas]]
                        self.assertEqual(tiles, expected, (grid, ctas))
                    self.assertEqual(sum(map(len, found)), len(every))

    def test_a_tile_is_computed_by_the_operations_of_the_kernel(self):
        """Protects bits: the same operations on the same layouts in the same order, except those that read a CTA's place."""
        for kernel, signature in ((placed, {**POINTERS, "n": "i32"}), (gemm, {}), (add, {**POINTERS, "n": "i32"})):
            before = ttgir_of(kernel, signature, {"BLOCK": 128})
            asks = re.findall(r"(%[\w$.-]+) = tt\.get_(program_id|num_programs) ([xyz]) : i32", before)
            self.assertTrue(asks)
            wanted = "\n".join(without_place(line) for line in lines_of(before) if "tt.get_" not in line)
            for name, what, axis in asks:
                wanted = re.sub(rf"{re.escape(name)}(?![\w$.-])", f"%twill_{'tile_' if what == 'program_id' else ''}{axis}", wanted)
            found = [without_place(line) for line in lines_of(over_tiles.over_tiles(before))]
            found = [line for line in found if not re.match(r"%twill_|scf.for %twill_", line)]
            closing = max(number for number, line in enumerate(found) if line == "}")
            del found[closing]
            self.assertEqual(sorted(found), sorted(wanted.split("\n")))
            inside = found[next(number for number, line in enumerate(found) if "%twill_tile" in line):]
            left = [line for line in wanted.split("\n") if line in inside]
            self.assertEqual(inside, left)

    def test_what_is_the_same_for_each_tile_stands_in_front(self):
        text = over_tiles.over_tiles(ttgir_of(gemm, {}, {}))
        front, walk = text.split("scf.for %twill_tile")
        self.assertEqual(front.count("arith.constant"), text.count("arith.constant"))
        self.assertNotIn("tt.get_", walk)

    def test_it_is_a_module(self):
        """Protects every version: its own Triton reads the text, in which the grid follows the kernel's arguments."""
        cache = fresh_cache()
        self.addCleanup(cache.cleanup)
        for kernel, signature in ((placed, {**POINTERS, "n": "i32"}), (gemm, {}), (add, {**POINTERS, "n": "i32"})):
            text = over_tiles.over_tiles(ttgir_of(kernel, signature, {"BLOCK": 128}))
            triton.knobs.cache.dir = cache.name
            module = lowering.parse(text, lowering.new_context(CUDABackend(SM_90)), ".ttgir")
            kinds = module.get_function_signature(module.get_function(module.get_entry_func_name()))
            self.assertEqual(kinds[-3:], ["i32"] * 3)


class Refusals(unittest.TestCase):
    def test_kernels_that_do_not_walk(self):
        cases = ((returns, {**POINTERS, "n": "i32"}, "early|cf\\.cond_br"), (assembles, POINTERS, "tt.elementwise_inline_asm in a loop"),
                 (says, POINTERS, "tt.print in a loop"), (calls, POINTERS, "calls functions"), (counts_up, POINTERS, "tt.atomic_rmw in a loop"),
                 (waits, POINTERS, "scf.while|scf.condition"), (in_place, POINTERS, "each of its CTAs does the same"))
        for kernel, signature, why in cases:
            with self.subTest(kernel=kernel.fn.__name__), self.assertRaisesRegex(over_tiles.NoTiles, why):
                over_tiles.over_tiles(ttgir_of(kernel, signature, {"BLOCK": 128}))

    def test_what_is_not_understood(self):
        """Protects against future texts: an unknown operation or line is never part of a loop."""
        text = ttgir_of(add, {**POINTERS, "n": "i32"}, {"BLOCK": 128})
        cases = ((text.replace("tt.return", "tt.barrier\n    tt.return", 1), "tt.barrier in a loop"),
                 (text.replace("tt.return", "tt.return\n    tt.return", 1), "tt.return in a loop"),
                 (text.replace("    tt.return", "    &?\n    tt.return", 1), "not understood"),
                 (text.replace("get_program_id x", "get_program_id w"), "unknown way"),
                 (text.replace("tt.func public @", "tt.func public ~"), "unknown way"),
                 (over_tiles.over_tiles(text), "walks tiles already"), ("", "no function"), ("  tt.func public @f() {\n", "not closed"),
                 ("  tt.func public @f() {\n  }", "no return"), (text.replace("    tt.return", "  ^bb1:\n    tt.return", 1), "early"))
        for changed, why in cases:
            with self.subTest(why=why), self.assertRaisesRegex(over_tiles.NoTiles, why):
                over_tiles.over_tiles(changed)


class Answers(unittest.TestCase):
    """The answer about a kernel over tiles is made beside that about the kernel, by the program itself or by one that stands for it."""

    def setUp(self):
        cache = fresh_cache()
        self.addCleanup(cache.cleanup)
        self.folder = pathlib.Path(cache.name)
        records.clear()
        later.clear()
        self.prepared = []

    def fake(self, answer, **environment):
        (self.folder / "answer.ttgir").write_text(answer)
        changes = {"TWILL_PROGRAM": str(HERE / "fake_twill"), "FAKE_ANSWER": str(self.folder / "answer.ttgir"),
                   "FAKE_CALLS": str(self.folder / "calls"), **environment}
        before = {name: os.environ.get(name) for name in changes}
        os.environ.update(changes)
        self.addCleanup(lambda: [os.environ.pop(name, None) if value is None else os.environ.update({name: value}) for name, value in before.items()])

    def begun(self, kernel):
        key = kernel.metadata.twill_kernel["key"]
        first = later.find(key, kernel.metadata)
        return first, later.begin_over_tiles(key, kernel.metadata, first, self.prepared.append)

    def test_the_program_itself(self):
        """Protects the whole way except the launch: the program walks the tiles, and Triton compiles the printed text."""
        with twill_gpu.enabled(patience=float("inf")):
            kernel = compile_gemm(num_warps=4)
            first, walks = self.begun(kernel)
            self.assertTrue(twill_gpu.wait())
            found = walks.result()
            self.assertEqual((found.why, self.prepared), ("", [found]))
            self.assertIsNotNone(store.get_cubin(found.cubin))
            self.assertNotEqual(found.cubin, first.result().cubin)
            self.assertIn("scf.for %twill_tile", store.text_path(found.key).read_text())
            again = self.begun(kernel)[1].result()  # of disk: nothing is made again
            self.assertEqual((again.cubin, again.from_cache, len(self.prepared)), (found.cubin, True, 1))
        plain, walks = ([re.sub(r"\w+_param_\d+", "", line).strip(" \t,") for line in text.splitlines() if ".param ." in line and "_param_" in line]
                        for text in (kernel.asm["ptx"], found.compiled.ptx))
        self.assertEqual(walks, plain[:-2] + [".param .u32"] * 3 + plain[-2:])  # scratch memory is last

    def test_it_comes_beside_the_first_and_is_waited_for(self):
        """Protects launches and captures: wait() is over when both are there. A program's end waits for the first."""
        gate = self.folder / "gate"
        with fresh_cache():
            plain = compile_gemm().asm["ttgir"]
        triton.knobs.cache.dir = str(self.folder)
        self.fake(plain, FAKE_GATE=str(gate))
        with twill_gpu.enabled(), mock.patch.object(beside, "start", wraps=beside.start) as started:
            first, walks = self.begun(compile_gemm())
            self.assertFalse(twill_gpu.wait(0.0))
            self.assertFalse(first.done() or walks.done())
            gate.touch()
            self.assertTrue(twill_gpu.wait())
            self.assertTrue(first.done() and walks.done())
            self.assertEqual([given.kwargs.get("awaited", True) for given in started.call_args_list], [True, False])
        asked = (self.folder / "calls").read_text().splitlines()
        self.assertEqual(asked, ["emit ttgir - --machine h200 --text-first"] * 2)

    def test_it_is_the_same_kernel_whichever_answer_is_there_first(self):
        """Protects bits between processes: attempts with spare registers do not depend on facts that are known about the first by then."""
        tried = []
        with twill_gpu.enabled(patience=float("inf")):
            kernel = compile_gemm()
            key = kernel.metadata.twill_kernel["key"]
            itself = later.find(key, kernel.metadata).result()
            there, missing = concurrent.futures.Future(), concurrent.futures.Future()
            there.set_result(dataclasses.replace(itself, spare_registers=16))
            for first in (there, missing):
                later.clear()
                with mock.patch.object(later, "answer", lambda request, key: tried.append(request.settings.spare_registers) or itself):
                    later.begin_over_tiles(key, kernel.metadata, first, self.prepared.append).result()
        self.assertEqual(tried, [(0, 16, 32)] * 2)

    def test_whatever_goes_wrong_is_a_reason(self):
        with fresh_cache():
            plain = compile_gemm().asm["ttgir"]
        triton.knobs.cache.dir = str(self.folder)
        self.fake(plain)
        with twill_gpu.enabled(patience=float("inf")):
            kernel = compile_gemm()
            key = kernel.metadata.twill_kernel["key"]
            first = later.find(key, kernel.metadata)
            text = store.text_path(key).read_text()
            for broken, why in ((lambda _: 1 // 0, "ZeroDivisionError"), (None, r"kernels_under_test\\.py:\\d+: tt.barrier in a loop over tiles")):
                if broken is None:
                    store.text_path(key).write_text(text.replace("    tt.return", "    tt.barrier\n    tt.return"))
                later.clear()
                store.answer_path(over_tiles.key_of(key)).unlink(missing_ok=True)
                found = later.begin_over_tiles(key, kernel.metadata, first, broken)
                self.assertTrue(twill_gpu.wait())
                self.assertRegex(found.result().why, why.replace("\\\\", "\\"))


class Launcher(unittest.TestCase):
    def test_the_grid_stands_behind_the_arguments(self):
        """Protects every version: its own launcher takes three numbers more."""
        source = gemm_source()
        meta = None
        if hasattr(nvidia_driver, "make_launcher"):
            texts = [nvidia_driver.make_launcher(source.constants, dict(made.signature), meta) for made in (source, race.with_grid(source))]
            kinds = [re.search(r'const char\* *\w*format\w* *= *"([^"]*)"|PyArg_ParseTuple\(args, "([^"]*)"', text) for text in texts]
            plain, walks = (found[1] or found[2] for found in kinds)
            self.assertEqual(walks, plain + "iii")
            return
        before = driver._active
        self.addCleanup(setattr, driver, "_active", before)
        driver._active = types.SimpleNamespace(utils=types.SimpleNamespace(launch=lambda *_: None))
        names = ("global_scratch_size", "global_scratch_align", "profile_scratch_size", "profile_scratch_align")
        metadata = types.SimpleNamespace(**dict.fromkeys(names, 0), launch_cooperative_grid=False, launch_pdl=False, tensordesc_meta=meta)
        with mock.patch.object(nvidia_driver, "annotate_arguments", list), mock.patch.object(nvidia_driver, "make_kernel_signature", list):
            plain, walks = (race.CudaLauncher(made, metadata) for made in (source, race.with_grid(source)))
        self.assertEqual(walks.kernel_signature, plain.kernel_signature + ["i32"] * 3)
        self.assertEqual(walks.arg_annotations, plain.arg_annotations + ["i32"] * 3)


if __name__ == "__main__":
    unittest.main()
