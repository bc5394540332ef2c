#!/usr/bin/env python3
"""Protects README's figures: each is the least or the most of a column of the tables in docs/hardware.md and docs/hardware-ttgir.md."""
import fnmatch
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def rows(page, heading):
    """Cells of the first table below a heading. An empty first cell has the text above."""
    text = (ROOT / "docs" / page).read_text()
    lines = iter(text[text.index(f"\n## {heading}\n"):].splitlines())
    next(line for line in lines if line.startswith("|---"))
    name = ""
    for line in lines:
        if not line.startswith("|"):
            return
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        name = cells[0].rstrip("\\* ") or name
        yield [name, *cells[1:]]


def spans(table, index):
    """The spans of a column of "burst / sustained"."""
    def span(values):
        least, most = f"{min(values):.2f}", f"{max(values):.2f}"
        return least if least == most else f"{least} to {most}"

    return [span(values) for values in zip(*([float(part) for part in row[index].split("/")] for row in table))]


class Readme(unittest.TestCase):
    def check(self, sentence):
        self.assertIn(sentence, (ROOT / "README.md").read_text())

    def test_of_kernels_as_cuda(self):
        library, plain = 4, 5

        def sustained(heading, least_size, column):
            return spans([row for row in rows("hardware.md", heading) if int(row[1].split(" x ")[-1]) >= least_size], column)[1]

        gemm, attention = "GEMM, tiles of 128 x 256", "Attention forward, head dimension 128"
        self.check(f"GEMM 4096 to 16384 (tiles of 128 x 256) at {sustained(gemm, 4096, library)} times cuBLAS, attention forward (head 128, "
                   f"from 1024) at {sustained(attention, 1024, library)} times cuDNN and {sustained(attention, 1024, plain)} times plain Triton")

    def test_of_kernels_as_ttgir(self):
        plain = 6

        def ratios(*patterns):
            table = [row for row in rows("hardware-ttgir.md", "All bundled kernels") if any(fnmatch.fnmatch(row[0], it) for it in patterns)]
            return " / ".join(spans(table, plain))

        self.check(f"attention forward (head 128, tiles of 128 x 128) {ratios('fa_fwd.d128')} times plain Triton with its options, "
                   f"causal {ratios('fa_fwd_causal.d128')}, GEMM of 128 x 256 tiles {ratios('gemm.tma_128x256x64')}, "
                   f"of 128 x 128 tiles {ratios('gemm.tma_128x128x64')} (")
        self.check("Products through pointers, of batches and with epilogues had "
                   f"{ratios('gemm.ptr_*', 'gemm_batched.*', 'gemm_bias.*', 'gemm_rowsum.*', 'gemm_around.*')}. ")


unittest.main()
