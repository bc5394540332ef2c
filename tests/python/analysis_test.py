"""analyze() and explain() without a GPU: the kernel is specialized as a launch would, and the lines are the user's."""

import unittest

import triton
from kernels_under_test import add, fresh_cache, gemm

import twill_gpu
from twill_gpu import analysis

SHAPE = (4096, 4096)


def arguments(**changes):
    descriptor = twill_gpu.descriptor
    return {"a_desc": descriptor(SHAPE, "fp16", (128, 64)), "b_desc": descriptor(SHAPE, "fp16", (128, 64)),
            "c_desc": descriptor(SHAPE, "fp16", (128, 128)), "K": 4096, "BM": 128, "BN": 128, "BK": 64, **changes}


class Analyze(unittest.TestCase):
    def setUp(self):
        cache = fresh_cache()
        self.addCleanup(cache.cleanup)

    def test_a_kernel_has_a_bound_and_lines_of_its_source(self):
        found = twill_gpu.analyze(gemm, arguments(), grid=(32, 32), target="h200", num_warps=8)
        self.assertEqual((found.bound, found.programs, found.schedule.verdict), (512, 1024, "optimal"))
        self.assertGreaterEqual(found.expected, found.bound)
        self.assertIn("kernels_under_test.py:", found.why)
        self.assertIn('"ttg.num-warps" = 8', found.ttgir)
        self.assertIn("<table>", found._repr_html_())
        self.assertIn("unit TC", str(found.explanation))

    def test_arguments_in_order_and_on_the_command_lines_own_terms(self):
        by_name = twill_gpu.analyze(gemm, arguments())
        in_order = twill_gpu.analyze(gemm, list(arguments().values()))
        self.assertEqual(by_name.ttgir, in_order.ttgir)
        again = twill_gpu.analyze(by_name.ttgir)
        self.assertEqual(again.bound, by_name.bound)

    def test_values_specialize_as_a_launch_does(self):
        even = twill_gpu.analyze(gemm, arguments(K=4096)).ttgir
        odd = twill_gpu.analyze(gemm, arguments(K=4097)).ttgir
        self.assertEqual(even.count("tt.divisibility") - odd.count("tt.divisibility"), 1)

    def test_blackwell_by_name(self):
        found = twill_gpu.analyze(gemm, arguments(), target="b200")
        self.assertIn("cuda:100", found.ttgir)
        self.assertEqual(found.schedule.raw["machine"], "b200")

    def test_autotuned_kernels_are_looked_through(self):
        tuned = triton.autotune([triton.Config({}, num_warps=4)], key=["K"])(gemm)
        self.assertEqual(twill_gpu.analyze(tuned, arguments()).bound, 512)

    def test_kernels_without_a_loop_are_refused(self):
        tensor = twill_gpu.tensor((4096, ), "fp32")
        with self.assertRaisesRegex(twill_gpu.Refused, r"^kernels_under_test.py:\d+: the kernel has no loop"):
            twill_gpu.analyze(add, [tensor, tensor, 4096, 128])

    def test_what_is_no_kernel(self):
        with self.assertRaisesRegex(twill_gpu.TwillError, "no function with @triton.jit"):
            twill_gpu.analyze(len, [1])
        with self.assertRaisesRegex(twill_gpu.TwillError, r"^gemm\(\): missing 7 required .*'a_desc'"):
            twill_gpu.analyze(gemm)
        for slip in ({"BQ": 3}, {"num_warp": 8}):
            with self.assertRaisesRegex(twill_gpu.TwillError, rf"^gemm\(\): .*{next(iter(slip))}"):
                twill_gpu.analyze(gemm, {**arguments(), **slip})
        for grid in (16, (1, 2, 3, 4), (0, ), "x"):
            with self.assertRaisesRegex(twill_gpu.TwillError, "a grid is .* not "):
                twill_gpu.analyze(gemm, arguments(), grid=grid)
        with self.assertRaisesRegex(twill_gpu.TwillError, "a machine is a name.*not 90"):
            twill_gpu.analyze(gemm, arguments(), target=90)
        for shape, block, wrong in (((4096, -1), (128, 64), "a shape has a number"), (4096, (128, ), "a shape has a number"), (SHAPE, (128, "64"), "a block's shape has"),
                                    (SHAPE, (128, ), "as many dimensions as its tensor, 2")):
            with self.assertRaisesRegex(twill_gpu.TwillError, wrong):
                twill_gpu.descriptor(shape, "fp16", block)
        with self.assertRaisesRegex(twill_gpu.TwillError, r"^gemm\(\): takes 7 arguments, not 8"):
            twill_gpu.analyze(gemm, [*arguments().values(), 1])

    def test_explain_by_arguments_and_by_what_ran(self):
        self.assertEqual(twill_gpu.explain(gemm, arguments()).status, "held")
        with self.assertRaisesRegex(twill_gpu.TwillError, "was not compiled"):
            twill_gpu.explain(gemm)

    def test_architectures_are_those_of_the_shipped_machines(self):
        said = twill_gpu.find_program().run(["machines"])
        shipped = {line.split()[0]: int(line.split()[1].removeprefix("sm_")) for line in said.splitlines()}
        self.assertEqual(shipped, analysis.ARCHS)


class Configurations(unittest.TestCase):
    """Sweeps over tiles, launch options and targets of one kernel."""

    def setUp(self):
        cache = fresh_cache()
        self.addCleanup(cache.cleanup)

    def tiles(self, config):
        """Arguments whose descriptors have a configuration's blocks."""
        m, n = config["BM"], config["BN"]
        return {**arguments(), "a_desc": twill_gpu.descriptor(SHAPE, "fp16", (m, 64)), "b_desc": twill_gpu.descriptor(SHAPE, "fp16", (n, 64)),
                "c_desc": twill_gpu.descriptor(SHAPE, "fp16", (m, n))}

    def test_tiles_and_targets(self):
        """Protects the choice of a tile without a GPU: each configuration for each target; a wrong configuration does not affect others."""
        heard = []
        tasks = twill_gpu.tasks_of(gemm, self.tiles, [{"BM": 128, "BN": 128, "num_warps": 8}, {"BM": 128, "BN": 256, "num_warps": 8}, {"BM": 100, "BN": 128}],
                                   ("h100", "h200"))
        outcomes = twill_gpu.sweep(tasks, on_outcome=lambda outcome: heard.append(outcome.number))
        self.assertEqual([outcome.label for outcome in outcomes][:3], ["gemm, BM=128, BN=128, num_warps=8, h100", "gemm, BM=128, BN=128, num_warps=8, h200",
                                                                        "gemm, BM=128, BN=256, num_warps=8, h100"])
        self.assertEqual([outcome.schedule.at_least for outcome in outcomes[:4]], [512, 512, 1024, 1024])
        self.assertTrue(all(outcome.schedule is None and outcome.error for outcome in outcomes[4:]))
        self.assertEqual(sorted(heard), list(range(6)))

    def test_those_of_an_autotuner(self):
        tuned = triton.autotune([triton.Config({"BK": k}, num_warps=8) for k in (64, 128)], key=["K"])(gemm)
        blocks = {64: arguments(), 128: {**arguments(), "a_desc": twill_gpu.descriptor(SHAPE, "fp16", (128, 128)),
                                         "b_desc": twill_gpu.descriptor(SHAPE, "fp16", (128, 128))}}
        tasks = twill_gpu.tasks_of(tuned, lambda config: blocks[config["BK"]], num_warps=4)
        self.assertEqual([outcome.schedule.at_least for outcome in twill_gpu.sweep(tasks)], [512, 1024])
        self.assertTrue(all('"ttg.num-warps" = 8' in task.text for task in tasks))
        with self.assertRaisesRegex(twill_gpu.TwillError, "gemm has no @triton.autotune"):
            twill_gpu.tasks_of(gemm, arguments())


class Launch(unittest.TestCase):
    def setUp(self):
        cache = fresh_cache()
        self.addCleanup(cache.cleanup)

    def test_a_timed_launch_of_a_function(self):
        """Protects arguments: constants and descriptors are left out, and the loop's length arrives."""
        far = twill_gpu.gap(gemm, 300.0, (32, 32), arguments(K=2048), num_warps=8)
        self.assertEqual((far.raw["trips"], far.raw["grid"]), ([32, 32], [32, 32, 1]))
        self.assertAlmostEqual(far.percent_of_bound, 100 * far.bound_us / 300.0)
        self.assertAlmostEqual(far.bound_us + sum(far.parts.values()), far.reached_us)
        self.assertAlmostEqual(far.reached_us + far.rest_us, 300.0)
        twice = twill_gpu.gap(gemm, 300.0, (32, 32), arguments(K=2048), num_warps=8, trips=64, clock_mhz=990)
        self.assertAlmostEqual(twice.bound_us, 4 * far.bound_us)
        self.assertIn("the rest", str(far))
        self.assertIn("<table>", far._repr_html_())

    def test_an_argument_that_lacks_is_named(self):
        text = analysis.ttgir_of(gemm, arguments(), num_warps=8)
        with self.assertRaisesRegex(twill_gpu.Refused, "argument 'K'"):
            twill_gpu.gap(text, 300.0, (32, 32))


if __name__ == "__main__":
    unittest.main()
