"""Compiles printed TTGIR as Triton does from its TTGIR stage on, without a GPU: compile_ttgir.py FILE...

Run by the Python of an environment that has Triton. For each file a line of JSON: its name, and either what became of it
(bytes of shared memory, registers asked for, wgmma instructions, bytes spilled, ptxas' remarks C75xx) or the error.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import triton
from triton.backends.compiler import GPUTarget

PTXAS = os.path.join(os.path.dirname(triton.__file__), "backends", "nvidia", "bin", "ptxas")


def facts(path):
    kernel = triton.compile(path, target=GPUTarget("cuda", 90, 32), options={"num_warps": warps_of(path)})
    ptx = kernel.asm["ptx"]
    with tempfile.TemporaryDirectory() as folder:
        text = os.path.join(folder, "k.ptx")
        with open(text, "w") as file:
            file.write(ptx)
        report = subprocess.run([PTXAS, "-v", "--gpu-name=sm_90a", text, "-o", text + ".cubin"], capture_output=True, text=True).stderr
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
    except Exception as error:  # whatever Triton throws: the caller prints it
        result = {"error": str(error)}
    print(json.dumps({"file": name, **result}), flush=True)
