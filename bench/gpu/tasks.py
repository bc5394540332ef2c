#!/usr/bin/env python3
"""Kernels of tasks on a GPU: the printed TTGIR and CUDA C++ of each program in `kernels/tasks`, beside the library and plain Triton.

  tasks.py print TWILL FOLDER [NAME...]  print FOLDER/NAME.ttgir with a Triton kernel of the same arguments, FOLDER/cuda/NAME, and 30 tiles of GEMM
                                     (`tiles`); no GPU needed. What an older twill printed into FOLDER/old is measured beside it
  tasks.py compile FOLDER [NAME...]  have Triton compile the modules; no GPU needed
  tasks.py run FOLDER [NAME...]      check and measure them: needs a Hopper GPU, nvcc, PyTorch and the Triton of the texts (3.6); the tiles are `tiles`

A module is given to Triton in place of a kernel with the same arguments (`ir_override`); CUDA C++ is compiled by nvcc. Results at small and ragged sizes
are compared with float64; 200 launches give equal bits, but where sums are atomic. Then speed in turns, burst (12 ms) and sustained (150 ms), in TFLOPS: the
module, the CUDA C++, the library's calls (of products the best heuristic of cublasLt), and plain Triton's kernel of the same product where `ttgir_cases.py`
has one. Each program runs in a process of its own, with a limit. One line of JSON per program or tile goes to FOLDER/tasks.json.
Some programs are there with other mappings, too (MAPPINGS): their names end with what differs.
"""
import concurrent.futures
import ctypes
import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time

from ttgir import speeds
from ttgir_cases import CASES, ROOT

SECONDS = 60  # limit for one program
SECONDS_OF_TILES = 130
TILES = [(rows, columns) for rows, all_columns in {64: (8, 40, 72, 104, 152, 200, 248, 256), 128: (24, 56, 88, 120, 136, 176, 208, 256),
                                                   192: (16, 48, 80, 112, 144, 160, 192), 256: (32, 64, 96, 128, 168, 184, 192)}.items() for columns in all_columns]
# By name: the program, the printed language, and the mapping by its name or its text.
MAPPINGS = {
    "gemm_gelu": ("gemm_gelu", "ttgir", "plain"),  # Triton compiles no CUDA C++
    "attention_fa3": ("attention_fa3", "ttgir", "map short for attention on h200 { BM = 128  BN = 64  D = 128 }"),
}
# By name: the part of K of a CTA, in the bundled mapping and in others.
SPLITS = {"split_k": 8192, "split_k_2048": 2048, "split_k_4096": 4096}
MAPPINGS |= {name: ("split_k", "both", f"map parts for gemm on h200 {{ U = 128  V = 128  W = 64  S = {part} }}") for name, part in SPLITS.items() if name != "split_k"}
LAUNCHES = 200
COMPILERS = 8
TOLERANCE = 2e-3  # of f16 results, by norm
TOLERANCES = {"gemm_f16": 2e-2}  # the sums of this kernel are rounded to f16, too
PROGRAMS = {}


class Program:
    """A program with its arguments by name, `outs` as (name, contents before), their reference in float64, and peer calls for the same work."""

    def __init__(self, grid, values, outs, reference, flops=0, library=None, triton=None, exact=True):
        self.grid, self.values, self.outs, self.reference = grid, values, outs, reference
        self.flops, self.library, self.triton, self.exact = flops, library, triton, exact


def program(small, *large, name=None):
    """Enters `make(*size)` under its name, with the sizes to compare and the sizes to time."""
    def enter(make):
        PROGRAMS[name or make.__name__] = make, small, large
        return make
    return enter


def random(*shape, scale=1.0):
    import torch
    return (torch.randn(*shape, device="cuda") * scale).half()


def best_product(a, b, c):
    """C = A B^T by the fastest algorithm of cublasLt's heuristics, which the first call looks for."""
    found = []

    def call():
        from kernels import BestProduct
        found[:] = found or [BestProduct(a, b, c)]
        found[0]()
    return call


def tiles(size, tile):
    return -(-size // tile)


SMALL = [(512, 512, 64), (512, 512, 576), (400, 272, 200), (136, 520, 1096)]
LARGE = (8192, 8192, 8192)


@program(SMALL, (4096, 4096, 4096), LARGE, (16384, 16384, 16384))
def gemm(m, n, k):
    import torch
    a, b, c, out = random(m, k), random(n, k), random(m, n), random(m, n)
    sizes = {"M": m, "N": n, "K": k}  # tiles of less than 64 columns are stored through pointers, which have no sizes of their own
    return Program((tiles(m, 128), tiles(n, 256)), {"C": c, "A": a, "B": b, **sizes}, [("C", float("nan"))], lambda: [a.double() @ b.double().T],
                   2 * m * n * k, best_product(a, b, out), ("gemm.tma_128x256x64", (m, n, k)))


@program(SMALL, LARGE)
def gemm_levels(m, n, k):
    return gemm(m, n, k)


@program(SMALL, LARGE)
def scale(m, n, k):
    import torch
    a, b, c = random(m, k), random(n, k), random(m, n)
    return Program((tiles(m, 128), tiles(n, 176)), {"C": c, "A": a, "B": b, "K": k}, [("C", float("nan"))], lambda: [a.double() @ b.double().T / 2],
                   2 * m * n * k, best_product(a, b, random(m, n)))


@program(SMALL, LARGE)
def gemm_f16(m, n, k):
    import torch
    a, b, c, out = random(m, k), random(k, n), random(m, n), random(m, n)

    def library():
        torch.backends.cuda.matmul.allow_fp16_accumulation = True
        torch.matmul(a, b, out=out)
    return Program((tiles(m, 256), tiles(n, 256)), {"C": c, "A": a, "B": b, "K": k}, [("C", float("nan"))], lambda: [a.double() @ b.double()],
                   2 * m * n * k, library)


@program([(512, 512, 128), (512, 512, 640), (400, 272, 208), (136, 520, 1104)], LARGE)
def gemm_i8(m, n, k):
    """The library's product without its scales, which are another call and are not timed."""
    import torch
    a, b = (torch.randint(-128, 128, (rows, k), device="cuda", dtype=torch.int8) for rows in (m, n))
    scales = [torch.rand(rows, device="cuda") * 1e-4 + 1e-4 for rows in (m, n)]
    values = {"C": random(m, n), "A": a, "B": b, "a": scales[0], "b": scales[1], "K": k, "M": m, "N": n}
    return Program((tiles(m, 128), tiles(n, 256)), values, [("C", float("nan"))],
                   lambda: [a.double() @ b.double().T * scales[0].double()[:, None] * scales[1].double()], 2 * m * n * k, lambda: torch._int_mm(a, b.T))


@program(SMALL, LARGE)
def gemm_gelu(m, n, k):
    import torch
    a, b, c, bias = random(m, k, scale=.3), random(n, k, scale=.3), random(m, n), torch.randn(n, device="cuda")
    half = bias.half()
    return Program((tiles(m, 128), tiles(n, 128)), {"C": c, "A": a, "B": b, "bias": bias, "K": k, "N": n}, [("C", float("nan"))],
                   lambda: [torch.nn.functional.gelu(a.double() @ b.double().T + bias.double(), approximate="tanh")], 2 * m * n * k,
                   lambda: torch._addmm_activation(half, a, b.T, use_gelu=True))


@program([(128, 256, 128), (200, 384, 128), (72, 1024, 128)], (16896, 65536, 128))
def cross_entropy(m, v, d):
    import torch
    h, w, labels, loss = random(m, d), random(v, d, scale=.1), torch.randint(v, (m,), device="cuda"), torch.empty(m, device="cuda")
    chosen = torch.nn.functional.cross_entropy
    return Program((tiles(m, 128),), {"L": loss, "H": h, "W": w, "T": labels.float(), "M": m, "V": v}, [("L", float("nan"))],
                   lambda: [chosen(h.double() @ w.double().T, labels, reduction="none")], 2 * m * v * d,
                   lambda: chosen(h @ w.T, labels, reduction="none"))


@program([(128,), (640,), (1152,)], (270336,))
def attention_window(m):
    import torch
    window = 512
    q, k, v, o = random(m, 128), random(m, 128), random(m, 128), random(m, 128)

    def reference():
        apart = torch.arange(m, device="cuda")[:, None] - torch.arange(m, device="cuda")[None, :]
        s = (q.double() @ k.double().T * .1275 * 0.6931471805599453).masked_fill((apart < 0) | (apart >= window), float("-inf"))
        return [torch.softmax(s, -1) @ v.double()]
    return Program((m // 128,), {"O": o, "Q": q, "K": k, "V": v}, [("O", float("nan"))], reference, 4 * m * min(m, window) * 128)


@program([(3, *size) for size in SMALL], (8, 2048, 2048, 2048), (8, 4096, 4096, 4096))
def batched_gemm(batch, m, n, k):
    import torch
    a, b, c, out = random(batch, m, k), random(batch, n, k), random(batch, m, n), random(batch, m, n)
    return Program((tiles(m, 128), tiles(n, 256), batch), {"C": c, "A": a, "B": b, "K": k}, [("C", float("nan"))],
                   lambda: [a.double() @ b.double().transpose(1, 2)], 2 * batch * m * n * k, best_product(a, b, out),
                   ("gemm_batched.128x128x64", (batch, m, n, k)))


@program(SMALL, (4096, 4096, 4096), LARGE)
def dual_gemm(m, n, k):
    import torch
    a, b, d, c = random(m, k), random(n, k), random(n, k), random(m, n)
    return Program((tiles(m, 128), tiles(n, 128)), {"C": c, "A": a, "B1": b, "B2": d, "K": k}, [("C", float("nan"))],
                   lambda: [a.double() @ (b.double() + d.double()).T], 4 * m * n * k, lambda: torch.addmm(a @ b.T, a, d.T))


@program(SMALL, LARGE)
def gated_mlp(m, n, k):
    import torch
    a, g, l, c = random(m, k, scale=.3), random(n, k, scale=.3), random(n, k, scale=.3), random(m, n)
    silu = torch.nn.functional.silu
    return Program((tiles(m, 128), tiles(n, 128)), {"C": c, "A": a, "G": g, "L": l, "K": k}, [("C", float("nan"))],
                   lambda: [silu(a.double() @ g.double().T) * (a.double() @ l.double().T)], 4 * m * n * k,
                   lambda: silu(a @ g.T) * (a @ l.T), ("dual_gemm.128x128x64", (m, n, k)))


@program([(m, 256, k) for m, _, k in SMALL], (16896, 256, 16384), (65536, 256, 8192))
def gemm_rowsum(m, n, k):
    import torch
    a, b, c, y = random(m, k), random(n, k), random(m, n), torch.empty(m, device="cuda")
    return Program((tiles(m, 128),), {"C": c, "y": y, "A": a, "B": b, "K": k, "M": m}, [("C", float("nan")), ("y", float("nan"))],
                   lambda: [a.double() @ b.double().T, a.double().sum(1)], 2 * m * n * k, lambda: (a @ b.T, a.sum(1, dtype=torch.float32)),
                   ("gemm_rowsum.128x256x64", (m, n, k)))


def split(part):
    """Cuts K into parts, whose products are added to C."""
    def make(m, n, k):
        import torch
        a, b, c = random(m, k), random(n, k), torch.zeros(m, n, device="cuda")
        return Program((tiles(m, 128), tiles(n, 128), tiles(k, part)), {"C": c, "A": a, "B": b, "M": m, "N": n}, [("C", 0.0)],
                       lambda: [a.double() @ b.double().T], 2 * m * n * k, lambda: a @ b.T, exact=False)
    return make


for NAME, PART in SPLITS.items():
    program([(128, 128, 8192), (256, 400, 16384), (120, 128, 5000)], (512, 512, 65536), (1024, 1024, 32768), name=NAME)(split(PART))


@program([(4, 128, 64, 256), (5, 200, 128, 264), (1, 16, 192, 128)], (256, 256, 256, 256))
def conv(h, w, ci, co):
    import torch
    x, f, y = random(h, w, ci), random(3, 3, co, ci, scale=.1), random(h, w, co)
    last = x.permute(2, 0, 1)[None], f.permute(2, 3, 0, 1).contiguous(memory_format=torch.channels_last)
    return Program((tiles(w, 128), h, tiles(co, 256)), {"Y": y, "X": x, "F": f, "C": ci}, [("Y", float("nan"))],
                   lambda: [torch.nn.functional.conv2d(*(t.double() for t in last), padding=1)[0].permute(1, 2, 0)],
                   18 * h * w * ci * co, lambda: torch.nn.functional.conv2d(*last, padding=1))


def attended(m, n, causal, triton):
    import torch
    q, k, v, o = random(m, 128), random(n, 128), random(n, 128), random(m, 128)

    def reference():
        s = q.double() @ k.double().T * .1275 * 0.6931471805599453
        if causal:
            s = s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(1), float("-inf"))
        return [torch.softmax(s, -1) @ v.double()]

    def library():
        from torch.nn.attention import SDPBackend, sdpa_kernel
        with sdpa_kernel([SDPBackend.CUDNN_ATTENTION]):
            return torch.nn.functional.scaled_dot_product_attention(*(t[None, None] for t in (q, k, v)), is_causal=causal)
    return Program((tiles(m, 128),), {"O": o, "Q": q, "K": k, "V": v} | ({} if causal else {"N": n}), [("O", float("nan"))], reference,
                   (2 if causal else 4) * m * n * 128, library, (triton, (1, n)))


@program([(128, 128), (256, 384), (200, 640), (72, 2176)], (16896, 16896))
def attention(m, n):
    return attended(m, n, False, "fa_fwd.d128")


@program([(128, 128), (256, 256), (640, 640), (2176, 2176)], (16896, 16896))
def attention_causal(m, n):
    return attended(m, n, True, "fa_fwd_causal.d128")


@program([(128, 128), (256, 384), (200, 640), (72, 2176)], (16896, 16896))
def attention_fa3(m, n):
    return attended(m, n, False, "fa_fwd.d128")


# --- Modules and the kernels they are given in place of ---


def stub_of(text):
    """Source of a Triton kernel with the arguments of a module. It touches each descriptor, so that Triton knows the layout of its blocks."""
    name, written = re.search(r"tt\.func public @(\w+)\((.*?)\) \{\n", text).groups()
    arguments = re.findall(r"%(\w+): (!tt\.\w+<.*?>(?=, %|$)|i\d+)", written)
    kept, body, blocks, skip = [], [], {}, 0
    for argument, kind in arguments:
        if skip:
            skip -= 1  # sizes and strides, which Triton passes after the descriptor
            continue
        kept.append(argument)
        if "tensordesc" in kind:
            blocks[argument] = [int(size) for size in re.search(r"tensor<([\dx]+)x", kind)[1].split("x")]
            skip = 2 * len(blocks[argument])
            zeros = ", ".join(["0"] * len(blocks[argument]))
            body.append(f"    {argument}.store([{zeros}], {argument}.load([{zeros}]))")
    lines = ["import triton", "", f"BLOCKS = {blocks}", f"ARGUMENTS = {kept}", "", "", "@triton.jit", f"def {name}({', '.join(kept)}):", *(body or ["    pass"]), "", "", f"KERNEL = {name}"]
    return "\n".join(lines) + "\n"


def stub(folder, name):
    where = importlib.util.spec_from_file_location(f"{name}_stub", folder / f"{name}_stub.py")
    made = importlib.util.module_from_spec(where)
    where.loader.exec_module(made)
    return made


def print_modules(twill, folder, names):
    """Prints the modules that can be printed. A refusal is reported, and that module is not measured."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or [*PROGRAMS, "tiles"]:
        if name == "tiles":
            print_tiles(twill, folder)
            continue
        source, kinds, mapping = MAPPINGS.get(name, (name, "both", None))
        task, text = ROOT / "kernels" / "tasks" / f"{source}.task", folder / f"{name}.ttgir"
        if mapping and mapping.startswith("map "):
            (folder / f"{name}.map").write_text(mapping + "\n")
            mapping = folder / f"{name}.map"
        text.unlink(missing_ok=True)
        if emit(twill, "ttgir", task, text, mapping):
            (folder / f"{name}_stub.py").write_text(stub_of(text.read_text()))
        emit(twill, "cuda", task, folder / "cuda" / name, mapping if kinds == "both" else None, "--no-compile")


def print_tiles(twill, folder):
    for rows, columns in TILES:
        mapping = folder / "tile.map"
        mapping.write_text(f"map tile for gemm on h200 {{ U = {rows}  V = {columns}  W = 64 }}\n")
        emit(twill, "cuda", ROOT / "kernels" / "tasks" / "gemm.task", folder / "tiles" / f"{rows}x{columns}", mapping, "--no-compile")


def emit(twill, what, source, target, mapping, *more):
    """Prints one module. Returns whether it was printed."""
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([twill, "emit", what, str(source), "-o", str(target), *(["--map", str(mapping)] if mapping else []), *more], capture_output=True, text=True)
    if done.returncode:
        print(f"{target.name}: not printed as {what}, exit {done.returncode}: {done.stderr.strip().splitlines()[0]}", flush=True)
    return done.returncode == 0


def warps(folder, name):
    return int(re.search(r'"ttg.num-warps" = (\d+)', (folder / f"{name}.ttgir").read_text())[1])


def compile_one(folder, name):
    """Compiles as a launch would, for Hopper, with or without a GPU."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    made, text = stub(folder, name), (folder / f"{name}.ttgir").read_text()
    named = {"f16": "fp16", "f32": "fp32", "f8E4M3FN": "fp8e4nv", "f8E5M2": "fp8e5"}

    def kind(argument):
        described = re.search(rf"%{argument}: !tt\.(?:ptr<(\w+)>|tensordesc<tensor<[\dx]+x(\w+),)", text)
        element = described and named.get(described[1] or described[2], described[1] or described[2])
        return "i32" if not described else f"*{element}" if described[1] else f"tensordesc<{element}{made.BLOCKS[argument]}>"
    source = ASTSource(made.KERNEL, signature={argument: kind(argument) for argument in made.ARGUMENTS})
    compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": warps(folder, name), "ir_override": str(folder / f"{name}.ttgir")})
    print(json.dumps({"name": name, "shared": compiled.metadata.shared, "descriptors": compiled.metadata.tensordesc_meta}), flush=True)


# --- On the GPU ---


def launcher(folder, name, one):
    from triton.tools.tensor_descriptor import TensorDescriptor
    made = stub(folder, name)
    arguments = [TensorDescriptor.from_tensor(one.values[it], made.BLOCKS[it]) if it in made.BLOCKS else one.values[it] for it in made.ARGUMENTS]
    return lambda: made.KERNEL[one.grid](*arguments, num_warps=warps(folder, name), ir_override=str(folder / f"{name}.ttgir"))


def compile_cuda(folder):
    """Compiles a module if needed. Returns "", or the error."""
    if (folder / "kernel.so").exists():
        return ""
    command = ["nvcc", "-gencode=arch=compute_90a,code=sm_90a", "-std=c++17", "-O3", "-Xptxas", "-v", "-Xcompiler", "-fPIC", "--shared", f"-I{folder}",
               "-o", str(folder / "kernel.so"), str(folder / "kernel.cu")]
    done = subprocess.run(command, capture_output=True, text=True)
    wrong = [line for line in (done.stdout + done.stderr).splitlines() if re.search(r"C75\d\d|C7602|serialized|[1-9]\d* bytes spill|error", line)]
    return "; ".join(wrong)


def cuda_launcher(folder, one, grid=None):
    """Calls the launch function with the program's tensors and sizes, by the kernel's description."""
    import torch
    described = json.loads((folder / "kernel.json").read_text())
    entry = getattr(ctypes.CDLL(str(folder / "kernel.so")), described["launch"])
    entry.restype = ctypes.c_char_p
    parameters, values = described["parameters"], {}
    for number, parameter in enumerate(parameters):
        value = one.values.get(parameter["name"])
        if isinstance(value, torch.Tensor):
            values[number] = ctypes.c_void_p(value.data_ptr())
            values |= {at: ctypes.c_int(size) for at, size in zip(parameter.get("sizes", []), value.shape)}
            values |= {at: ctypes.c_longlong(stride) for at, stride in zip(parameter.get("strides", []), value.stride())}
        elif value is not None:
            values[number] = ctypes.c_int(value)
    grid = tuple(grid or one.grid) + (1, 1, 1)
    arguments = [*map(ctypes.c_int, grid[:3]), ctypes.c_void_p(torch.cuda.current_stream().cuda_stream), *(values[number] for number in range(len(parameters)))]

    def call():
        error = entry(*arguments)
        if error:
            raise RuntimeError(error.decode())
    return call


def launchers(folder, name, one):
    """By way: the module if it was printed, and the CUDA C++ if it was compiled; the same for an older twill."""
    ways = {}
    for place, age in ((folder, ""), (folder / "old", "old ")):
        if (place / f"{name}.ttgir").exists():
            ways[age + "module"] = launcher(place, name, one)
        if (place / "cuda" / name / "kernel.so").exists():
            ways[age + "cuda"] = cuda_launcher(place / "cuda" / name, one)
    return ways


def results(one, launch):
    import torch
    for name, before in one.outs:
        one.values[name].fill_(before)
    launch()
    torch.cuda.synchronize()
    return [one.values[name].clone() for name, _ in one.outs]


def check(folder, name, make, sizes):
    import torch
    found = {}
    for seed, size in enumerate(sizes):
        torch.manual_seed(seed)
        one = make(*size)
        wanted = one.reference()
        for way, launch in launchers(folder, name, one).items():
            it = found.setdefault(way, {"sizes": len(sizes), "worst": 0.0, "differing": 0})
            first = results(one, launch)
            it["worst"] = max(it["worst"], *map(error_of, first, wanted))
            for _ in range(LAUNCHES // len(sizes) if one.exact else 0):
                it["differing"] += not all(torch.equal(a, b) for a, b in zip(first, results(one, launch)))
    return found


def error_of(result, wanted):
    error = float((result.double() - wanted).norm() / wanted.norm())
    return error if error == error else float("inf")


def measure(folder, name, make, size):
    import torch
    one = make(*size)
    ways = launchers(folder, name, one)
    if one.library:
        ways["library"] = one.library
    if one.triton:
        plain, shape = one.triton
        ways["triton"] = CASES[plain][0](*shape).call
    for way in list(ways):
        try:
            ways[way]()
            torch.cuda.synchronize()
        except Exception as problem:
            print(f"{way}: {problem}", file=sys.stderr)
            del ways[way]
    return {"size": size, **speeds(ways, one.flops)}


def run_one(folder, name):
    make, small, large = PROGRAMS[name]
    checked = check(folder, name, make, small)
    for size in large:
        print(json.dumps({"name": name, "check": checked, "speed": measure(folder, name, make, size)}), flush=True)


def run_tiles(folder):
    """Runs every tile of GEMM: correctness at ragged sizes, and its speed beside the library's."""
    import torch
    make, small, _ = PROGRAMS["gemm"]
    problems = [make(*size) for size in small]
    for one in problems:
        one.wanted = one.reference()[0]
    big = make(*LARGE)
    for tile in sorted((folder / "tiles").iterdir(), key=lambda it: tuple(map(int, it.name.split("x")))):
        if not (tile / "kernel.so").exists():
            continue
        rows, columns = map(int, tile.name.split("x"))
        grid = lambda size: (tiles(size[0], rows), tiles(size[1], columns))
        worst = 0.0
        for size, one in zip(small, problems):
            worst = max(worst, error_of(results(one, cuda_launcher(tile, one, grid(size)))[0], one.wanted))
        speed = speeds({"cuda": cuda_launcher(tile, big, grid(LARGE)), "library": big.library}, big.flops)
        check = {"cuda": {"sizes": len(small), "worst": worst, "differing": 0}}
        print(json.dumps({"name": tile.name, "check": check, "speed": {"size": LARGE, **speed}}), flush=True)
        torch.cuda.synchronize()


def of(what, folder, name, seconds=SECONDS):
    try:
        return subprocess.run([sys.executable, __file__, what, str(folder), name], capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired as late:
        so_far = late.stdout or ""
        return subprocess.CompletedProcess([], 1, so_far if isinstance(so_far, str) else so_far.decode(), f"no end within {seconds} s")


def line_of(found):
    """Returns whether all results are right, and a line that reports it."""
    checks, speed = found["check"], found["speed"]
    tolerance = TOLERANCES.get(found["name"], TOLERANCE)
    good = bool(checks) and all(it["worst"] < tolerance and it["differing"] == 0 for it in checks.values())
    said = ", ".join(f"{way} at {it['sizes']} sizes, error {it['worst']:.1e}, {it['differing']} launches differ" for way, it in checks.items())
    ways = [way for way in speed if way != "size"]
    rates = "  ".join(f"{way} {' / '.join(map(str, speed[way]))}" for way in ways)
    ratios = "  ".join(f"{way} {speed[way][1] / speed[other][1]:.2f}x of {other}" for way in ways if way.endswith(("module", "cuda"))
                       for other in ("library", "triton") if other in speed)
    return good, f"{found['name']:18} {'right' if good else 'WRONG'}: {said}; {tuple(speed['size'])} {rates}  sustained {ratios}"


def run(folder, names):
    import torch
    import triton
    print(f"{torch.cuda.get_device_name(0)}, PyTorch {torch.__version__}, Triton {triton.__version__}; TFLOPS burst / sustained", flush=True)
    begin, right = time.monotonic(), True
    places = [(place, name) for name in names for place in (folder, folder / "old")]
    sources = [place / "cuda" / name for place, name in places] + (list((folder / "tiles").glob("*x*")) if "tiles" in names else [])
    sources = [source for source in sources if (source / "kernel.cu").exists()]
    with concurrent.futures.ThreadPoolExecutor(COMPILERS) as pool, concurrent.futures.ThreadPoolExecutor(COMPILERS) as others:
        modules = [pool.submit(of, "compile", place, name) for place, name in places if (place / f"{name}.ttgir").exists()]
        for source, wrong in zip(sources, others.map(compile_cuda, sources)):
            if wrong:
                print(f"{source.name}: {wrong[:300]}", flush=True)
        for done in (module.result() for module in modules):
            if done.returncode:
                print(f"{done.args[3:]}: {done.stderr.strip()[-300:]}", flush=True)
    print(f"compiled in {time.monotonic() - begin:.0f} s", flush=True)
    with open(folder / "tasks.json", "w", buffering=1) as out:  # an interrupted run leaves its lines
        for name in names:
            done = of("one", folder, name, SECONDS_OF_TILES if name == "tiles" else SECONDS)
            lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
            if done.returncode:
                print(f"{name:18} FAILED: {done.stderr.strip()[-400:]}", flush=True)
                right = False
            for line in lines:
                out.write(line + "\n")
                good, text = line_of(json.loads(line))
                right = right and good
                print(text, flush=True)
    print(f"all in {time.monotonic() - begin:.0f} s", flush=True)
    return 0 if right else 1


def main():
    what = sys.argv[1] if len(sys.argv) > 2 else ""
    folder = pathlib.Path(sys.argv[3 if what == "print" else 2]).resolve() if len(sys.argv) > (3 if what == "print" else 2) else None
    if folder is None or what not in ("print", "compile", "one", "run"):
        sys.exit(__doc__)
    if what == "print":
        return print_modules(sys.argv[2], folder, sys.argv[4:])
    names = sys.argv[3:] or [name for name in PROGRAMS if (folder / f"{name}.ttgir").exists() or (folder / "cuda" / name).exists()]
    if what == "run":
        return run(folder, names)
    for name in names:
        if name == "tiles":
            run_tiles(folder)
        else:
            (compile_one if what == "compile" else run_one)(folder, name)


if __name__ == "__main__":
    sys.exit(main())
