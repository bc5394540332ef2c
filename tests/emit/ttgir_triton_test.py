#!/usr/bin/env python3
"""Prints kernels as TTGIR and has Triton compile them: ttgir_triton_test.py TWILL PRINTER PYTHON VERSION FOLDER

Protects: what `twill emit ttgir` prints is compiled to a cubin by the Triton of that version: every bundled Hopper kernel but
those of REFUSED, which must say why, and kernels of other kinds (ttgir_kinds.py); for Tritons that SPILLS does not name, SAMPLE
alone, which the program itself prints, with the text that PRINTER (printed.py) has for the other tests. No more shared memory than an SM has, no product serialized by ptxas, nothing spilled but where SPILLS says so. Equal texts are
compiled once by an environment, which keeps what came out; FOLDER keeps what is printed (printed.py). Exits with 77, which ctest reports
as skipped, where there is no such Triton.
"""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import ttgir_kinds
from printed import VERSIONS, printed

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED_MEMORY = 232448

# Kernels that are not printed, with a part of the reason.
REFUSED = {
    "softmax/br4bc1024": "no loop of the kernel has tensor-core work",
} | {f"kinds/{name}": why for name, why in ttgir_kinds.REFUSED.items()}

# Kernels whose code spills, or whose products ptxas serializes, by Triton. The ptxas of 3.6 keeps the registers of a product apart from
# values computed of them. Of the first no plan needs fewer registers; of the second the estimate, which stands in for a compiler, knows
# nothing of products (`--python` does). Attention backward in one pass has no plan without spills. Sums of tiles by the last CTA spill
# behind the loop, where the addresses of a tile live beside two tiles; so do products of experts in 3.9, planned for two CTAs an SM,
# which are 1.15 to 1.2 times as fast with 3.6 (docs/hardware-ttgir.md; not measured with 3.9).
# Loads that fill in ones pass through registers of the group that copies: 4 and 24 bytes. Scales of a right operand are widened in
# registers, tile by tile, beside the sum.
BACKWARD = {
    "fa_bwd/m64n128d128_atomic",
    "fa_bwd/m64n128d128_tmared",
    "fa_bwd/m64n128d64_tmared",
    "fa_bwd_subtiled/m64n2x64d128",
    "fa_bwd_subtiled/m64n2x64d128w8",
    "fa_bwd_subtiled/m64n2x64d64",
}
# Planned for two CTAs an SM; the estimate misses what ptxas spills or serializes. On an H100 they are faster all the same
# (docs/hardware-ttgir.md). The kernel linear_chunk was not measured.
TOGETHER = {"fa_fwd_bias/d64_desc", "kinds/linear_chunk"}
SPILLS = {
    "3.6": {"fa_fwd/d128m64", "fa_fwd_subtiled/2x128n128d128", "kinds/last_cta", "kinds/ones_beyond", "kinds/polar_ns", "kinds/scaled_right"},
    "3.9": {"fa_fwd/d128m64", "fa_fwd_bias/d128_causal", "fa_fwd_bias/d128_desc", "fa_fwd_subtiled/2x128n128d128", "fa_simple/m128n128d128", "kinds/last_cta", "kinds/moe_scatter", "kinds/ones_beyond", "kinds/rms_gemm", "kinds/scaled_right"},
}
SERIALIZED = {"3.6": {"fa_fwd_subtiled/2x128n128d64"} | BACKWARD | TOGETHER, "3.9": {"fa_fwd_subtiled/2x128n128d128"} | BACKWARD | TOGETHER}

# Kernels for the Tritons between: copies by TMA and by threads, products of registers, a loop over tiles.
SPELLS_AS = {"3.7": "3.6", "3.8": "3.9"}
SAMPLE = {"fa_fwd/d64", "gemm/ptr_128x128x64", "gemm/tma_128x128x64", "gemm_persistent/128x128x64_nested"}


def kernels(version):
    paths = sorted(ROOT.glob("kernels/*/sm_90/*.pre.ttgir"))
    named = {f"{path.parent.parent.name}/{path.name.removesuffix('.pre.ttgir')}": path for path in paths}
    return named if version in SPILLS else {name: named[name] for name in sorted(SAMPLE)}


def by_program(twill, printer, path, version, out, kept):
    """The reason why the program does not print the kernel, or a note that its text differs from PRINTER's for the Triton of this spelling."""
    done = subprocess.run([twill, "emit", "ttgir", str(path), "--triton", version, "-o", str(out)], capture_output=True, text=True)
    if done.returncode != 0:
        return f"exit {done.returncode}: {done.stderr}"
    other = pathlib.Path(f"{out}.other")
    said = printed(printer, path, SPELLS_AS[version], other, kept)
    return said or ("" if other.read_bytes() == pathlib.Path(out).read_bytes() else f"twill and {printer} print different texts")


def print_all(twill, printer, version, folder, kept):
    """Complaints, and the file of each kernel that was printed. One of two tests begins at the end, so they seldom wait for each other."""
    complaints, files = [], {}
    kinds = ttgir_kinds.write(folder).items() if version in SPILLS else ()
    every = list((kernels(version) | {f"kinds/{name}": path for name, path in kinds}).items())
    for name, path in every if version == VERSIONS[0] else reversed(every):
        out = folder / (name.replace("/", ".") + ".ttgir")
        said = printed(printer, path, version, out, kept) if version in VERSIONS else by_program(twill, printer, path, version, out, kept)
        if name in REFUSED:
            if REFUSED[name] not in said:
                complaints.append(f"{name}: not refused as it should be: {said}")
        elif said:
            complaints.append(f"{name}: {said}")
        else:
            files[str(out)] = name
    return complaints, files


def compiled(python, files, folder):
    """By file: the result (compile_ttgir.py), and the messages about missing files."""
    script = pathlib.Path(__file__).with_name("compile_ttgir.py")
    kept = pathlib.Path(python).parents[1] / "compiled"
    kept.mkdir(exist_ok=True)
    places = {file: kept / (hashlib.sha256(script.read_bytes() + pathlib.Path(file).read_bytes()).hexdigest() + ".json") for file in files}
    found = {file: json.loads(place.read_text()) for file, place in places.items() if place.exists()}
    new = [file for file in files if file not in found]
    if not new:
        return found, []
    # Passes in one thread make the same code in an eighth less of the processors' time, which other tests take.
    done = subprocess.run([python, "-B", str(script), *new], capture_output=True, text=True,
                          env={"TRITON_CACHE_DIR": folder + "/cache", "HOME": folder, "MLIR_DISABLE_MULTITHREADING": "1"})
    for line in filter(lambda it: it.startswith("{"), done.stdout.splitlines()):
        facts = json.loads(line)
        file = facts.pop("file")
        found[file] = facts
        if "error" not in facts:
            written = places[file].with_suffix(f".{os.getpid()}")
            written.write_text(json.dumps(facts))
            written.replace(places[file])
    said = f"compile_ttgir.py ended with {done.returncode} after {len(found)} of {len(files)}:\n{done.stderr[-2000:]}"
    return found, [said] if len(found) != len(files) else []


def complaint(name, facts, version):
    if "error" in facts:
        return f"{name}: {facts['error'][:2000]}"
    if facts["shared"] > SHARED_MEMORY:
        return f"{name}: {facts['shared']} bytes of shared memory"
    expected = name == "kinds/printed" or name in SERIALIZED.get(version, ())  # a print is a call, which products do not cross
    if bool(facts["remarks"]) > expected:
        return f"{name}: {facts['remarks']}"
    if name not in BACKWARD and (facts["spilled"] > 0) != (name in SPILLS.get(version, ())):
        return f"{name}: {facts['spilled']} bytes spilled"
    if facts["products"] == 0 or facts["cubin"] == 0:
        return f"{name}: no products in {facts}"
    return ""


def main():
    twill, printer, python, version, kept = sys.argv[1:]
    if not pathlib.Path(python).exists():
        print(f"skipped: no Triton {version} in {python} (tools/triton-venvs.sh makes one)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        complaints, files = print_all(twill, printer, version, pathlib.Path(folder), kept)
        found, missing = compiled(python, files, folder)
        complaints += missing + list(filter(None, (complaint(files[file], facts, version) for file, facts in found.items())))
    for line in complaints:
        print(line)
    print(f"{len(files)} kernels printed and compiled with Triton {version}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
