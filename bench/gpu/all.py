"""Runs all GPU measurements by one command: `all.py [--program build/release/twill] [--folder gpu.out] [--only REGEX]`.

Emits the kernels, attention also with one tile per CTA, checks them against float64, measures them beside the libraries and
Triton's, and records the cycles of their iterations. Then bench/gpu/measured has the figures, from which docs/hardware.md,
docs/hardware-log.md and docs/results.md are written. With --only, which selects kernels (NAME.STRATEGY), the figures stay in
FOLDER. Work that FOLDER already has is not repeated, so an interrupted run goes on; delete the folder to begin anew. Takes
about half an hour.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys

ONE_TILE = r"^fa_fwd.*\.(twill|modulo)$"  # measured with one tile per CTA, too
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def call(name, *words, output=None):
    """Runs a program of this folder; its failure ends this one. `output`: file for its output, written once it has ended well."""
    print("--", name, *words, flush=True)
    command = [sys.executable, str(HERE / name), *map(str, words)]
    if output is None:
        subprocess.run(command, check=True)
        return
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    output.write_text(text)


def once(made, name, *words):
    """The same, unless the output exists; unfinished output has another name until it is whole."""
    if made.exists():
        return
    half = made.with_name(made.name + ".part")
    if half.is_dir():
        shutil.rmtree(half)
    call(name, *[half if word is made else word for word in words])
    half.rename(made)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/twill")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("gpu.out"))
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    folder, program = options.folder, ["--program", options.program, "--only", options.only]
    folder.mkdir(parents=True, exist_ok=True)
    kernels, bf16, stamped = folder / "kernels", folder / "bf16", folder / "stamped"
    measured, cycles = folder / "h200-newest.json", folder / "h200-cycles.json"
    once(kernels, "emit.py", kernels, *program, "--one-tile", ONE_TILE)
    once(bf16, "emit.py", bf16, *program, "--strategies", "twill,modulo", "--bf16")
    once(stamped, "emit.py", stamped, *program, "--strategies", "twill,modulo,triton", "--instrument", "sections")
    for emitted in (kernels, bf16):
        call("check.py", emitted, "--done", folder / "checked.txt")
    once(measured, "measure.py", kernels, "--only", r"\.(twill|modulo)(-one)?$", "--turns", 3, "--json", measured)
    once(cycles, "timeline.py", stamped, "--json", cycles)
    if options.only:
        return
    for made in (measured, cycles):
        shutil.copy(made, HERE / "measured")
    call("results.py", HERE / "measured", output=ROOT / "docs/hardware.md")
    call("table.py", HERE / "measured", output=ROOT / "docs/hardware-log.md")
    call("../../tools/make_results.py", "--program", options.program)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"{error.cmd[1]} ended with {error.returncode}")
