#!/usr/bin/env python3
"""Calls the launch functions of emitted kernels on the host: cuda_launch_test.py TWILL CXX

Protects: which tensor maps and which grid `twill emit cuda`'s launch functions ask the driver for, and which arguments they refuse. The
part of kernel.cu that runs on the GPU is left out; tests/runtime/host_cuda stands in for the driver and takes down what it is asked
for. The expected numbers are worked out by hand.
"""
import ctypes
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TWILL, CXX = sys.argv[1:3]
INT, LONG, PLACE = ctypes.c_int, ctypes.c_longlong, ctypes.c_void_p


def of_host(source):
    """The arguments, the constants and the launch function of an emitted kernel."""
    roles, constants = source.index("/// Warps "), source.index("constexpr int kThreads")
    kernel = re.search(r'extern "C" __global__.*?\n(\w+)\(const __grid_constant__ Arguments args\) \{.*?\n\}\n', source, re.DOTALL)
    text = source[:roles] + source[constants:kernel.start()] + f"void {kernel[1]}(const Arguments&) {{}}\n" + source[kernel.end():]
    return re.sub(r'#include "runtime/(?!host)\w+\.cuh"', "", text)


class Launches(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.built = {}

    def launch(self, kernel, grid, arguments, *options):
        """The result of the launch function, and its requests."""
        if (kernel, options) not in self.built:
            folder = pathlib.Path(tempfile.mkdtemp(dir=self.scratch.name))
            source = HERE / kernel if kernel.endswith(".ttgir") else ROOT / "kernels" / f"{kernel}.pre.ttgir"
            subprocess.run([TWILL, "emit", "cuda", "--no-compile", str(source), "--machine", "h200", *options, "-o", str(folder)], check=True, capture_output=True)
            text = (folder / "kernel.cu").read_text()
            (folder / "launch.cpp").write_text('#include "launch_run.h"\n' + of_host(text))
            includes = [f"-I{HERE}", f"-I{ROOT / 'tests' / 'runtime' / 'host_cuda'}", f"-I{folder}"]
            subprocess.run([CXX, "-std=c++20", "-w", "-fPIC", "-shared", *includes, str(folder / "launch.cpp"), "-o", str(folder / "launch.so")],
                           check=True)
            library = ctypes.CDLL(str(folder / "launch.so"))
            entry = getattr(library, re.search(r"const char\* (launch_\w+)\(", text)[1])
            entry.restype = library.asked.restype = ctypes.c_char_p
            self.built[kernel, options] = entry, library.asked
        entry, asked = self.built[kernel, options]
        said = entry(*map(INT, grid), PLACE(None), *arguments)
        return said and said.decode(), asked().decode().splitlines()

    def test_maps_of_three_dimensions(self):
        # C[l] = A[l] B[l]^T, 1000 x 520 x 320 three times; rows of A are 336 long, C's matrices 8 rows further apart than they are high.
        a = [PLACE(0x10000), INT(3), INT(1000), INT(320), LONG(336000), LONG(336), LONG(1)]
        b = [PLACE(0x20000), INT(3), INT(520), INT(320), LONG(166400), LONG(320), LONG(1)]
        c = [PLACE(0x30000), INT(3), INT(1000), INT(520), LONG(524160), LONG(520), LONG(1)]
        said, asked = self.launch("gemm_batched/sm_90/128x128x64", (8, 5, 3), [*a, *b, *c, INT(320)])
        self.assertIsNone(said)
        self.assertEqual(asked, ["type 6, sizes 320 1000 3, strides 672 672000, box 64 128 1, swizzle 3",
                                 "type 6, sizes 320 520 3, strides 640 332800, box 64 128 1, swizzle 3",
                                 "type 6, sizes 520 1000 3, strides 1040 1048320, box 64 64 1, swizzle 3",
                                 "grid 120 1 1, cluster 1"])  # 120 tiles for 132 multiprocessors

    def product(self, m, n, k):
        return [PLACE(0x10000), INT(m), INT(k), LONG(k), LONG(1), PLACE(0x20000), INT(n), INT(k), LONG(k), LONG(1),
                PLACE(0x30000), INT(m), INT(n), LONG(n), LONG(1), INT(k)]

    def test_grids(self):
        kernel, many = "gemm/sm_90/tma_128x256x64", self.product(4096, 4096, 64)
        self.assertEqual(self.launch(kernel, (32, 16, 1), many)[1][-1], "grid 132 1 1, cluster 1")
        self.assertEqual(self.launch(kernel, (32, 16, 1), many, "--tiles", "one")[1][-1], "grid 32 16 1, cluster 1")
        self.assertIn("exceeds 65535", self.launch(kernel, (1, 65536, 1), many, "--tiles", "one")[0])
        self.assertEqual(self.launch(kernel, (32, 16, 1), many, "--cluster", "2")[1][-1], "grid 132 1 1, cluster 2")
        # 3 tiles along x are 2 pairs, twice: 4 clusters.
        self.assertEqual(self.launch(kernel, (3, 2, 1), self.product(384, 512, 64), "--cluster", "2")[1][-1], "grid 8 1 1, cluster 2")
        self.assertEqual(self.launch(kernel, (0, 2, 1), self.product(0, 512, 64)), (None, []))

    def test_descriptors_that_cannot_be(self):
        kernel, good = "gemm/sm_90/tma_128x256x64", self.product(256, 256, 64)
        self.assertIsNone(self.launch(kernel, (2, 1, 1), good)[0])
        for place, value, why in ((0, PLACE(0x10008), "the tensor's address is not a multiple of 16 bytes"),
                                  (3, LONG(68), "a stride of the tensor is not a multiple of 16 bytes"),
                                  (9, LONG(2), "the innermost stride of a descriptor's tensor is not 1: argument 5")):
            bad = list(good)
            bad[place] = value
            self.assertIn(why, self.launch(kernel, (2, 1, 1), bad)[0])

    def test_tensors_without_elements(self):
        # A has no rows, then no columns, and C has no columns, but there are tiles. A reads as zeros, and C is not written. Such tensors have no
        # address, and meaningless strides.
        kernel = "gemm/sm_90/tma_128x256x64"
        zero, written = "type 6, sizes 1 1, strides 16, box 64 128, swizzle 3, empty: zero", "type 6, sizes 1 1, strides 16, box 64 64, swizzle 3, empty: written"
        for rows, columns in ((0, 64), (256, 0), (0, 0)):
            arguments = self.product(256, 256, 64)
            arguments[:5] = [PLACE(None), INT(rows), INT(columns), LONG(7), LONG(1)]
            said, asked = self.launch(kernel, (2, 1, 1), arguments)
            self.assertIsNone(said)
            self.assertEqual(asked, [zero, "type 6, sizes 64 256, strides 128, box 64 256, swizzle 3",
                                     "type 6, sizes 256 256, strides 512, box 64 64, swizzle 3", "grid 2 1 1, cluster 1"])
        arguments = self.product(256, 256, 64)
        arguments[10:15] = [PLACE(None), INT(256), INT(0), LONG(0), LONG(1)]
        self.assertEqual(self.launch(kernel, (2, 1, 1), arguments)[1][2], written)

    def test_thread_that_made_no_cuda_call(self):
        # The driver's stand-in encodes no map where the thread has no context.
        said = []
        self.launch("gemm/sm_90/tma_128x256x64", (2, 1, 1), self.product(256, 256, 64))
        thread = threading.Thread(target=lambda: said.append(self.launch("gemm/sm_90/tma_128x256x64", (2, 1, 1), self.product(256, 256, 64))))
        thread.start()
        thread.join()
        self.assertIsNone(said[0][0])
        self.assertEqual(len(said[0][1]), 4)

    def test_made_descriptors(self):
        # 1000 rows of C, 120 of which are skipped, 500 of A, 205 of B, which become 208; rows of A are 80 long, of C 216, K is 72.
        def call(base=0x30000, n=205, k=72, a_row=80, c_row=216, skip=120, split=2):
            sizes = map(INT, (1000, n, k, a_row, c_row, skip, split))
            return self.launch("made_descriptors.ttgir", (8, 2, 1), [PLACE(0x10000), PLACE(0x20000), PLACE(base), *sizes])

        said, asked = call()
        self.assertIsNone(said)
        self.assertEqual(asked, ["type 6, sizes 72 208, strides 144, box 64 128, swizzle 3",
                                 "type 6, sizes 205 880, strides 432, box 64 64, swizzle 3",
                                 "type 6, sizes 72 500, strides 160, box 64 128, swizzle 3, NaN outside",
                                 "grid 16 1 1, cluster 1"])
        self.assertEqual(call(k=0), (None, [  # A and B are empty
            "type 6, sizes 1 1, strides 16, box 64 128, swizzle 3, empty: zero",
            "type 6, sizes 205 880, strides 432, box 64 64, swizzle 3",
            "type 6, sizes 1 1, strides 16, box 64 128, swizzle 3, NaN outside, empty: NaN",
            "grid 16 1 1, cluster 1"]))
        self.assertIn("the tensor's address is not a multiple of 16 bytes", call(base=0x30008)[0])
        # 122 rows of 212 elements later: the stride is refused. 1 row of 220 also gives a wrong address.
        self.assertIn("a stride of the tensor is not a multiple of 16 bytes", call(c_row=212, skip=122)[0])
        self.assertIn("the tensor's address is not a multiple of 16 bytes", call(c_row=220, skip=1)[0])
        self.assertIn("a dimension of the tensor exceeds 2^32", call(skip=1001)[0])  # -1 rows
        self.assertEqual(call(split=0)[0], "launch: a size of a descriptor is computed by a division by 0: tt.make_tensor_descriptor @ 41:20")

    def test_multiples(self):
        # Rows of A, B and C, columns of A (k) and of B (n) are copied and stored 8 at once; the number of rows of A is free.
        def call(m, n, k, a_row, b_row, c_row, at=0x10000):
            places = [PLACE(at), PLACE(0x20000), PLACE(0x30000)]
            return self.launch("gemm/sm_90/ptr_128x128x64", (4, 1, 1), [*places, *map(INT, (m, n, k, a_row, b_row, c_row))])[0]

        self.assertIsNone(call(100, 200, 72, 72, 200, 208))
        self.assertIsNone(call(1, 8, 0, 0, 8, 8))
        for i, sizes in enumerate([(100, 196, 72, 72, 200, 208), (100, 200, 68, 72, 200, 208), (100, 200, 72, 76, 200, 208),
                                   (100, 200, 72, 72, 202, 208), (100, 200, 72, 72, 200, 201)]):
            self.assertEqual(call(*sizes), f"launch: argument {4 + i} is no multiple of 8, which copies and stores of several elements at "
                                           "once rely on")
        self.assertIn("argument 0 is not aligned to 16 bytes", call(100, 200, 72, 72, 200, 208, 0x10008))


unittest.main(argv=sys.argv[:1])
