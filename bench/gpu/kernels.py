"""The kernels that are checked and measured on a GPU: their inputs, their expected results, and their calls.

A kernel is a folder that `emit.py` wrote. Its launch function takes the arguments of the TTGIR function, a
descriptor by the address of its tensor, followed by its sizes and strides.
"""
import ctypes
import dataclasses
import importlib
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import typing

import torch

import emit

NVCC = ["nvcc", "-gencode=arch=compute_90a,code=sm_90a", "-std=c++17", "-O3", "-lineinfo", "-Xptxas", "-v", "-Xcompiler",
        "-fPIC", "--shared"]


def tensor(t):
    """The arguments of a launch that stand for a descriptor."""
    return [ctypes.c_void_p(t.data_ptr()), *(ctypes.c_int(n) for n in t.shape), *(ctypes.c_longlong(n) for n in t.stride())]


def pointer(t):
    return [ctypes.c_void_p(t.data_ptr())]


def poisoned(*shape, dtype):
    return torch.full(shape, float("nan"), device="cuda", dtype=dtype)


def triton_source(name):
    """The module of kernels/NAME/NAME.py, which needs kernels/common.py beside it."""
    sys.path[:0] = [str(emit.ROOT / "kernels"), str(emit.ROOT / "kernels" / name)]
    return importlib.import_module(name)


def descriptor(t, block):
    from triton.tools.tensor_descriptor import TensorDescriptor
    return TensorDescriptor.from_tensor(t, block)


class BestProduct:
    """C = A B^T by the fastest algorithm of cublasLt's heuristics (cublaslt.cu)."""

    loaded = None

    def __init__(self, a, b, c):
        if BestProduct.loaded is None:
            BestProduct.loaded = self.build()
        self.tensors = (a, b, c)
        *batch, m, k = a.shape
        self.stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        self.handle = self.loaded.best_product(
            int(a.dtype == torch.bfloat16), *map(ctypes.c_longlong, (m, b.shape[-2], k)), batch[0] if batch else 1,
            *pointer(a), *pointer(b), *pointer(c), self.stream)
        if not self.handle:
            raise RuntimeError("cublasLt offers nothing for this product")

    def __call__(self):
        if self.loaded.run_product(ctypes.c_void_p(self.handle), self.stream) != 0:
            raise RuntimeError("cublasLt failed")

    def __del__(self):
        if getattr(self, "handle", None):
            self.loaded.free_product(ctypes.c_void_p(self.handle))

    @staticmethod
    def build():
        """Loads cublasLt from PyTorch's libraries, or else from the toolkit."""
        places = [pathlib.Path(path) / "nvidia" for path in sys.path]
        found = [path for place in places for path in place.glob("**/libcublasLt.so*")]
        headers = [path.parent for place in places for path in place.glob("**/include/cublasLt.h")]
        target = pathlib.Path(tempfile.mkdtemp()) / "cublaslt.so"
        source = pathlib.Path(__file__).with_name("cublaslt.cu")
        folder = [f"-L{found[0].parent}", "-Xlinker", f"-rpath={found[0].parent}"] if found else []
        link = [*folder, "-Xlinker", f"-l:{found[0].name}" if found else "-lcublasLt"]
        subprocess.run(["nvcc", "-std=c++17", "-O2", "-Xcompiler", "-fPIC", "--shared", *(f"-I{path}" for path in headers), "-o", str(target),
                        str(source), *link], check=True)
        library = ctypes.CDLL(str(target))
        library.best_product.restype = ctypes.c_void_p
        return library


def cdiv(a, b):
    return (a + b - 1) // b


@dataclasses.dataclass
class Problem:
    """One call: grid, arguments and outputs of Twill's kernel, and the same outputs by libraries."""
    grid: tuple
    arguments: list
    outputs: list
    reference: typing.Callable  # float64 results, in the order of `outputs`
    flops: float
    peers: dict                 # name -> callable
    kept: tuple = ()            # tensors that are kept alive since `arguments` points into them


def gemm(bm, bn, loop_sizes=False):
    def make(size, dtype, peers=False):
        m, n, k = size
        a, b = (torch.randn(rows, k, device="cuda", dtype=dtype) for rows in (m, n))
        c = poisoned(m, n, dtype=dtype)
        last = [m, n, k] if loop_sizes else [k]
        grid = (132, 1, 1) if loop_sizes else (cdiv(m, bm), cdiv(n, bn), 1)
        others = {}
        if peers:
            source = triton_source("gemm")
            blocks = [descriptor(a, [bm, 64]), descriptor(b, [bn, 64]), descriptor(c, [bm, bn])]
            others = {"cublas": lambda: torch.matmul(a, b.T, out=c), "cublaslt-best": BestProduct(a, b, torch.empty_like(c)),
                      "triton-3.6": lambda: source.gemm_tma[(cdiv(m, bm), cdiv(n, bn))](
                          *blocks, k, BM=bm, BN=bn, BK=64, WS=False, num_warps=8 if bn == 256 else 4, num_stages=3 if bn == 256 else 4)}
        return Problem(grid, [*tensor(a), *tensor(b), *tensor(c), *map(ctypes.c_int, last)], [c],
                       lambda: [a.double() @ b.double().T], 2.0 * m * n * k, others)
    return make


def gemm_ptr(size, dtype, peers=False):
    """C = A B through pointers: sizes and strides are multiples of 16, as the text demands, and rows are longer than the part that is read."""
    m, n, k = size
    a, b = (torch.randn(rows, columns + 16, device="cuda", dtype=dtype)[:, :columns] for rows, columns in ((m, k), (k, n)))
    c = poisoned(m, n, dtype=dtype)
    tiles = cdiv(m, 128) * cdiv(n, 128)
    others = {}
    if peers:
        source = triton_source("gemm")
        others = {"cublas": lambda: torch.matmul(a, b, out=c),
                  "triton-3.6": lambda: source.gemm_ptr[(tiles,)](a, b, c, m, n, k, k + 16, n + 16, n, BM=128, BN=128, BK=64, GROUP=8,
                                                                  num_warps=8, num_stages=3)}
    return Problem((tiles, 1, 1), [*pointer(a), *pointer(b), *pointer(c), *map(ctypes.c_int, (m, n, k, k + 16, n + 16, n))], [c],
                   lambda: [a.double() @ b.double()], 2.0 * m * n * k, others, (a, b))


def conv2d(size, dtype, peers=False):
    """3 x 3, NHWC, same padding: channels in are a multiple of 64, channels out of 128."""
    images, h, w, ci, co = size
    x = torch.randn(images, h, w, ci, device="cuda", dtype=dtype)
    weight = torch.randn(3, 3, ci, co, device="cuda", dtype=dtype) * 0.1
    y = poisoned(images, h, w, co, dtype=dtype)
    grid = (cdiv(images * h * w, 128), co // 128, 1)
    others = {}
    if peers:
        source = triton_source("conv2d")
        nchw, oihw = x.permute(0, 3, 1, 2), weight.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
        others = {"cudnn": lambda: torch.nn.functional.conv2d(nchw, oihw, padding=1),
                  "triton-3.6": lambda: source.conv2d[grid[:2]](x, weight, y, *size, R=3, S=3, BM=128, BN=128, BK=64, num_warps=8, num_stages=3)}

    def reference():
        out = torch.nn.functional.conv2d(x.double().permute(0, 3, 1, 2), weight.double().permute(3, 2, 0, 1), padding=1)
        return [out.permute(0, 2, 3, 1)]

    return Problem(grid, [*pointer(x), *pointer(weight), *pointer(y), *map(ctypes.c_int, size)], [y], reference,
                   18.0 * images * h * w * ci * co, others, (x, weight))


def gemm_batched(size, dtype, peers=False):
    l, m, n, k = size
    a, b = (torch.randn(l, rows, k, device="cuda", dtype=dtype) for rows in (m, n))
    c = poisoned(l, m, n, dtype=dtype)
    others = {"cublas": lambda: torch.bmm(a, b.transpose(1, 2), out=c), "cublaslt-best": BestProduct(a, b, torch.empty_like(c))} if peers else {}
    return Problem((cdiv(m, 128), cdiv(n, 128), l), [*tensor(a), *tensor(b), *tensor(c), ctypes.c_int(k)], [c],
                   lambda: [a.double() @ b.double().transpose(1, 2)], 2.0 * l * m * n * k, others)


def dual_gemm(size, dtype, peers=False):
    m, n, k = size
    a, b1, b2 = (torch.randn(rows, k, device="cuda", dtype=dtype) * 0.3 for rows in (m, n, n))
    c = poisoned(m, n, dtype=dtype)

    def separate():
        gate, up = torch.matmul(a, b1.T), torch.matmul(a, b2.T)
        return torch.nn.functional.silu(gate) * up

    return Problem((cdiv(m, 128), cdiv(n, 128), 1), [*tensor(a), *tensor(b1), *tensor(b2), *tensor(c), ctypes.c_int(k)], [c],
                   lambda: [torch.nn.functional.silu(a.double() @ b1.double().T) * (a.double() @ b2.double().T)],
                   4.0 * m * n * k,
                   {"cublas+torch": separate, "triton-3.6": lambda: triton_source("dual_gemm").run(torch, a, b1, b2)} if peers else {})


def gemm_rowsum(bn):
    def make(size, dtype, peers=False):
        m, n, k = size
        a, b = (torch.randn(rows, k, device="cuda", dtype=dtype) for rows in (m, n))
        c, y = poisoned(m, n, dtype=dtype), poisoned(cdiv(m, 128) * 128, dtype=torch.float32)
        out = torch.empty_like(c)

        def separate():
            torch.matmul(a, b.T, out=out)
            return torch.sum(a, 1, dtype=torch.float32)

        return Problem((cdiv(m, 128), cdiv(n, bn), 1), [*tensor(a), *tensor(b), *tensor(c), *pointer(y), ctypes.c_int(k)],
                       [c, y[:m]], lambda: [a.double() @ b.double().T, a.double().sum(1)], 2.0 * m * n * k,
                       {"cublas+torch": separate, "triton-3.6": lambda: triton_source("gemm_rowsum").run(torch, a, b, bn)} if peers else {})
    return make


def gemm_bias(bm, bn, transposed, act):
    """Sizes are multiples of 8. The bias ends with the last full tile, since the source reads it without a mask."""
    def make(size, dtype, peers=False):
        m, n, k = size
        a, b = torch.randn(m, k, device="cuda", dtype=dtype), torch.randn(k, n, device="cuda", dtype=dtype)
        bias, c = torch.randn(cdiv(n, bn) * bn, device="cuda", dtype=dtype), poisoned(m, n, dtype=dtype)
        operands = [t.T.contiguous() if transposed else t for t in (a, b)]
        return Problem((cdiv(m, bm), cdiv(n, bn), 1), [*tensor(operands[0]), *tensor(operands[1]), *tensor(c), *pointer(bias), ctypes.c_int(k)], [c],
                       lambda: [act(a.double() @ b.double() + bias[:n].double())], 2.0 * m * n * k,
                       {"cublas+torch": lambda: act(torch.addmm(bias[:n], a, b))} if peers else {}, tuple(operands))
    return make


def attention_dq(size, dtype, peers=False):
    batch, heads, n = size
    d, log2e = 128, 1.4426950408889634
    scale = log2e * d**-0.5
    q, k, v, do = (torch.randn(batch * heads, n, d, device="cuda", dtype=dtype) * 0.5 for _ in range(4))
    dq = poisoned(batch * heads, n, d, dtype=dtype)
    s = q.double() @ k.double().transpose(1, 2) * scale
    lse = torch.logsumexp(s / log2e, -1) * log2e
    p = torch.exp2(s - lse[..., None])
    dp = do.double() @ v.double().transpose(1, 2)
    delta = (p * dp).sum(-1)
    reference = (p * (dp - delta[..., None])) @ k.double()
    flat = [x for t in (q, k, v, do, dq) for x in tensor(t.view(-1, d))]
    vectors = [t.float().flatten() for t in (lse, delta)]
    return Problem((n // 128, batch * heads, 1), [*flat, *pointer(vectors[0]), *pointer(vectors[1]), ctypes.c_float(scale), ctypes.c_int(n)],
                   [dq], lambda: [reference], 6.0 * batch * heads * n * n * d, {}, (q, k, v, do, *vectors))


def attention(bm, d, makes_descriptors=False):
    """With makes_descriptors, the kernel takes pointers and the total number of rows, and makes its descriptors itself."""
    def make(size, dtype, peers=False):
        batch, heads, n = size
        q, k, v = (torch.randn(batch, heads, n, d, device="cuda", dtype=dtype) for _ in range(3))
        o, lse = poisoned(batch, heads, n, d, dtype=dtype), poisoned(batch, heads, n, dtype=torch.float32)
        flat = [x for t in (q, k, v, o) for x in (pointer(t) if makes_descriptors else tensor(t.view(-1, d)))]
        sizes = [batch * heads * n, n] if makes_descriptors else [n]

        def reference():
            s = q.double() @ k.double().transpose(-1, -2) * d**-0.5
            return [torch.softmax(s, -1) @ v.double(), torch.logsumexp(s, -1) / math.log(2)]

        def sdpa(backend):
            def call():
                with torch.nn.attention.sdpa_kernel(backend):
                    return torch.nn.functional.scaled_dot_product_attention(q, k, v)
            return call

        others = {"cudnn": sdpa(torch.nn.attention.SDPBackend.CUDNN_ATTENTION),
                  "triton-3.6": lambda: triton_source("fa_fwd").run(torch, q, k, v, 128, 128, 8, 3)} if peers else {}
        return Problem((n // bm, batch * heads, 1), [*flat, *pointer(lse), ctypes.c_float(d**-0.5), *map(ctypes.c_int, sizes)],
                       [o, lse], reference, 4.0 * batch * heads * n * n * d, others, (q, k, v))
    return make


GEMM_SIZES = [(128, 256, 64), (128, 256, 0), (256, 512, 64), (512, 512, 512), (256, 512, 128), (256, 512, 192), (384, 768, 1024),
              (200, 136, 72), (1000, 520, 320), (8, 16, 8), (2048, 2048, 2048), (1024, 4096, 264), (4096, 4096, 4096)]
ATTENTION_SIZES = [(1, 1, 128), (1, 2, 256), (2, 3, 384), (1, 2, 512), (2, 3, 1024), (1, 1, 2048), (3, 16, 640), (2, 8, 4096)]
POINTER_SIZES = [(128, 128, 64), (128, 256, 0), (256, 512, 64), (512, 512, 512), (256, 512, 128), (256, 512, 192), (384, 768, 1024),
                 (208, 144, 80), (1008, 528, 336), (16, 16, 16), (144, 16, 1040), (2048, 2048, 2048), (1024, 4096, 272), (4096, 4096, 4096)]
CONV_SIZES = [(2, 8, 8, 64, 128), (1, 7, 9, 64, 256), (3, 5, 11, 128, 128), (2, 16, 16, 128, 256), (4, 33, 17, 192, 384), (8, 56, 56, 256, 256)]
BATCHED_SIZES = [(4, 512, 512, 512), (3, 200, 136, 72), (1, 128, 128, 0), (7, 256, 384, 192)]

# By name (as in emit.py): the function that makes a problem, and the sizes at which it is checked.
KERNELS = {
    "gemm_128x128x64": (gemm(128, 128), GEMM_SIZES),
    "gemm_128x256x64": (gemm(128, 256), GEMM_SIZES),
    "gemm_ptr": (gemm_ptr, POINTER_SIZES),
    "conv2d": (conv2d, CONV_SIZES),
    "gemm_persistent": (gemm(128, 128, True), GEMM_SIZES),
    "gemm_persistent_flat": (gemm(128, 256, True), GEMM_SIZES),
    "gemm_batched": (gemm_batched, BATCHED_SIZES),
    "dual_gemm": (dual_gemm, GEMM_SIZES),
    "gemm_rowsum": (gemm_rowsum(128), GEMM_SIZES),
    "gemm_rowsum_128x256x64": (gemm_rowsum(256), GEMM_SIZES),
    "gemm_bias_nn": (gemm_bias(128, 128, False, torch.relu), GEMM_SIZES),
    "gemm_bias_tt": (gemm_bias(256, 128, True, torch.nn.functional.silu), [(m, n, k) for m, n, k in GEMM_SIZES if m % 8 == 0]),
    "fa_bwd_dq": (attention_dq, [size for size in ATTENTION_SIZES if size[0] * size[1] * size[2] ** 2 < 1 << 28]),
    "fa_fwd_d64": (attention(128, 64), ATTENTION_SIZES),
    "fa_fwd_d128": (attention(128, 128), ATTENTION_SIZES),
    "fa_fwd_made_d64": (attention(128, 64, True), ATTENTION_SIZES),
    "fa_fwd_made_d128": (attention(128, 128, True), ATTENTION_SIZES),
    "fa_fwd_subtiled_d64": (attention(128, 64), ATTENTION_SIZES),
    "fa_fwd_subtiled_d128": (attention(128, 128), ATTENTION_SIZES),
}


class Kernel:
    """One emitted kernel, compiled. `folder` is NAME.STRATEGY, with .bf16 behind it for bf16 inputs. Suffixes of the strategy: -c2 for clusters of
    two, -one for one tile per CTA, -turns for consumers that take turns. A kernel that the same command has already compiled is not compiled again.
    """

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.name, self.strategy, *rest = self.folder.name.split(".")
        self.dtype = torch.bfloat16 if "bf16" in rest else torch.float16
        self.make, self.sizes = KERNELS[self.name]
        self.label = self.folder.name
        self.process = None

    def start_build(self):
        command = [*NVCC, f"-I{self.folder}", "-o", str(self.folder / "kernel.so"), str(self.folder / "kernel.cu")]
        self.command = " ".join(command) + "\n"
        self.process = None if self.is_built() else subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def is_built(self):
        """Whether the library and the log of its build, which is written later, exist and are no older than the source."""
        source, library, log = (self.folder / name for name in ("kernel.cu", "kernel.so", "nvcc.log"))
        if not library.exists() or not log.exists() or not log.read_text().startswith(self.command):
            return False
        return source.stat().st_mtime <= library.stat().st_mtime <= log.stat().st_mtime

    def finish_build(self):
        """Whether there is a library, and its fault: an error, spills, serialized wgmma; empty if it has none."""
        if self.process:
            output = self.process.communicate()[0]
            (self.folder / "nvcc.log").write_text(self.command + output if self.process.returncode == 0 else output)
            if self.process.returncode != 0:
                return False, output[-2000:]
        log = (self.folder / "nvcc.log").read_text()
        wrong = [line for line in log.splitlines() if re.search(r"C75\d\d|C7602|serialized", line)]
        wrong += [line for line in log.splitlines() if re.search(r"[1-9]\d* bytes spill", line)]
        library = ctypes.CDLL(str(self.folder / "kernel.so"))
        entry = re.search(r"const char\* (launch_\w+)\(", (self.folder / "kernel.cu").read_text())[1]
        self.entry = getattr(library, entry)
        self.entry.restype = ctypes.c_char_p
        return True, "\n".join(wrong)

    def launch(self, problem, stamps=None):
        """Launches the kernel. `stamps`: the memory for an instrumented kernel's stamps, and their number per role; None for other kernels."""
        if stamps is None and (self.folder / "stamps.json").exists():
            stamps = (ctypes.c_void_p(0), ctypes.c_int(0))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        error = self.entry(*map(ctypes.c_int, problem.grid), stream, *problem.arguments, *(stamps or ()))
        if error:
            raise RuntimeError(f"{self.label}: {error.decode()}")


def build(folder, only=None):
    """All kernels of a folder of folders, compiled at once. Prints the complaints of the compiler."""
    kernels = [Kernel(path) for path in sorted(pathlib.Path(folder).iterdir())
               if (path / "kernel.cu").exists() and (not only or re.search(only, path.name))]
    for kernel in kernels:
        kernel.start_build()
    built = []
    for kernel in kernels:
        good, complaint = kernel.finish_build()
        if complaint:
            print(f"{kernel.label}: {complaint}", flush=True)
        if good:
            built.append(kernel)
    return built
