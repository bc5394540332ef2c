"""Compiles printed TTGIR as Triton does from its TTGIR stage on, without a GPU: compile_ttgir.py FILE...

Run by the Python of an environment that has Triton. Prints a line of JSON for each file: its name, and either the result
(bytes of shared memory, registers requested, wgmma instructions, bytes spilled, ptxas' remarks C75xx) or the error.
"""
import contextlib
import io
import json
import os
import re
import sys

import triton
from triton.backends.compiler import GPUTarget

os.environ["TRITON_DUMP_PTXAS_LOG"] = "1"  # Triton prints what its ptxas says with -v
os.environ["TRITON_ALWAYS_COMPILE"] = "1"  # two kernels may have one text, and the cache keeps no report


def facts(path):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        kernel = triton.compile(path, target=GPUTarget("cuda", 90, 32), options={"num_warps": warps_of(path)})
    ptx, report = kernel.asm["ptx"], said.getvalue()
    if "bytes spill stores" not in report:
        raise RuntimeError("Triton did not print the report of its ptxas: " + report[:500])
    return {
        "shared": kernel.metadata.shared,
        "registers": sorted({int(n) for n in re.findall(r"setmaxnreg\.\w+[^;]*?\s(\d+);", ptx)}),
        "products": ptx.count("wgmma.mma_async"),
        "spilled": sum(int(n) for n in re.findall(r"(\d+) bytes spill stores", report)),
        "remarks": sorted(set(re.findall(r"\(C75\d\d\)[^\n]*", report))),
        "cubin": len(kernel.asm["cubin"]),
    }


def warps_of(path):
    with open(path) as file:
        return int(re.search(r'"ttg.num-warps" = (\d+)', file.read())[1])


for name in sys.argv[1:]:
    try:
        result = facts(name)
    except Exception as error:  # any exception of Triton: the caller prints it
        result = {"error": str(error)}
    print(json.dumps({"file": name, **result}), flush=True)
