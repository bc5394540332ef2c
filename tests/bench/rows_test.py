#!/usr/bin/env python3
"""Protects measurements that are resumed: sizes that every kernel was measured at are known, others are measured anew with all their
neighbours, and a file of another device is not mixed with this one."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "gpu"))
sys.dont_write_bytecode = True
import rows  # noqa: E402
import ttgir  # noqa: E402

SESSION = dict(device="one", torch="2.9", cuda="13.0")


def row(who, size, dtype="float16"):
    return dict(kernel="gemm", dtype=dtype, size=list(size), who=who, regime="burst")


class Rows(unittest.TestCase):
    def test_a_size_is_there_once_all_have_it(self):
        found = [row("twill:twill", (2, 3)), row("cublas", (2, 3)), row("twill:modulo", (2, 3), "bfloat16")]
        self.assertTrue(rows.are_there(found, "gemm", "float16", (2, 3), ["twill"]))
        self.assertFalse(rows.are_there(found, "gemm", "float16", (2, 3), ["twill", "modulo"]))
        self.assertFalse(rows.are_there(found, "gemm", "float16", (2, 4), ["twill"]))
        self.assertEqual(rows.without(found, "gemm", "float16", (2, 3)), found[2:])

    def test_the_file_is_of_one_session(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "measured.json"
            self.assertEqual(rows.read(path, SESSION), [])
            rows.write(path, SESSION, [row("twill:twill", (2, 3))])
            self.assertEqual(rows.read(path, SESSION), [row("twill:twill", (2, 3))])
            with self.assertRaises(SystemExit):
                rows.read(path, dict(SESSION, device="another"))

    def test_a_run_of_some_kernels_keeps_the_others(self):
        """Protects rows that took minutes: a run of one kernel once emptied the file of all."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            self.assertEqual(ttgir.lines_of_others(folder, ["a"]), [])
            (folder / "ttgir.json").write_text("".join(f'{{"name": "{name}"}}\n' for name in ("a", "b", "refused since")))
            (folder / "b.ttgir").touch()
            self.assertEqual(ttgir.lines_of_others(folder, ["a", "c"]), ['{"name": "b"}\n'])

    def test_a_result_that_is_no_number_is_the_worst(self):
        """Protects the check of results: max() leaves out a NaN that comes later, so a kernel of NaNs once had the error 0."""
        self.assertEqual(ttgir.worst([0.1, float("nan"), 0.2]), float("inf"))
        self.assertEqual(ttgir.worst([0.1, 0.2]), 0.2)
        self.assertNotEqual(ttgir.worst([]), ttgir.worst([]))


unittest.main()
