#!/usr/bin/env python3
"""Protects README's figures: each is the least or the most of a column of the tables in docs/hardware.md and docs/hardware-ttgir.md."""
import fnmatch
import pathlib
import re
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


def span_of(cells):
    """The least and the most number in some cells."""
    values = [float(number) for cell in cells for number in re.findall(r"\d\.\d+", cell)]
    return f"{min(values):.2f} to {max(values):.2f}"


class Readme(unittest.TestCase):
    def check(self, row, *cells):
        line = next(line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith(f"| {row} |"))
        found = [cell.strip() for cell in line.strip("|").split("|")][1:]
        self.assertEqual(found[:len(cells)], list(cells))

    def test_each_figure_is_of_the_tables(self):
        library, plain, module = 4, 5, 6

        def as_cuda(heading, least_size, column):
            return spans([row for row in rows("hardware.md", heading) if int(row[1].split(" x ")[-1]) >= least_size], column)[1]

        def in_triton(*patterns):
            return spans([row for row in rows("hardware-ttgir.md", "All bundled kernels") if any(fnmatch.fnmatch(row[0], it) for it in patterns)], module)[1]

        def in_one_table(column, *kernels):
            return span_of([row[column] for row in rows("hardware.md", "In one table") if f"{row[0]}: {row[1]}".startswith(kernels)])

        gemm, attention = "GEMM, tiles of 128 x 256", "Attention forward, head dimension 128"
        self.check("attention forward, head dimension 128", in_triton("fa_fwd.d128"), as_cuda(attention, 1024, plain), as_cuda(attention, 1024, library))
        self.check("the same, causal", in_triton("fa_fwd_causal.d128"))
        self.check("GEMM, tiles of 128 x 256", in_triton("gemm.tma_128x256x64"), as_cuda(gemm, 4096, plain), as_cuda(gemm, 4096, library))
        small = "GEMM, tiles of 128 x 128: a tile per program"
        self.check("GEMM, tiles of 128 x 128", in_triton("gemm.tma_128x128x64"), in_one_table(3, small), in_one_table(2, small))
        pointers = "GEMM and convolution through pointers: GEMM"
        self.check("GEMM through pointers", in_triton("gemm.ptr_*"), in_one_table(3, pointers), in_one_table(2, pointers))
        more = ("GEMM, tiles of 128 x 128: batched", "GEMM and row sums")
        self.check("GEMM of batches, with a bias, row sums or other work of its own",
                   in_triton("gemm_batched.*", "gemm_bias.*", "gemm_rowsum.*", "gemm_around.*"), in_one_table(3, *more), in_one_table(2, *more))


unittest.main()
