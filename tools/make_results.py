#!/usr/bin/env python3
"""Writes docs/results.md from what `twill` answers. Usage: make_results.py [--program build/release/twill] [--output FILE]

Everything but the seconds is the same on every computer.
"""

import argparse
import json
import pathlib
import platform
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Title, kernel below kernels/, further options. GPU architecture to machine: sm_90 is h200, sm_100 is b200.
KERNELS = [
    ("FA forward, not sub-tiled", "fa_fwd/{}/d128", ["--subtile", "0"]),
    ("FA forward, sub-tiled", "fa_fwd/{}/d128", []),
    ("FA forward, sub-tiled in the source", "fa_fwd_subtiled/{}/2x64n128d128", []),
    ("FA forward, causal", "fa_fwd_causal/{}/d128", []),
    ("FA backward", "fa_bwd/{}/m64n128d128_tmared", []),
    ("GEMM 128x128x64", "gemm/{}/tma_128x128x64", []),
    ("GEMM 128x256x64", "gemm/{}/tma_128x256x64", []),
    ("dual GEMM", "dual_gemm/{}/128x128x64", []),
    ("GEMM + row sum", "gemm_rowsum/{}/128x128x64", []),
]
MACHINES = [("sm_90", "h200"), ("sm_100", "b200")]

HEAD = """# Results

Made by `tools/make_results.py`, which runs `twill` on everything below; nothing here is written by hand. All but the
seconds are the same on every computer. Seconds are wall time of reading, extracting, solving and checking, of one run
on one core of: {computer}.

MinII is the larger of what one resource and what one circuit of dependences ask for; II is the optimum, proven unless
marked. "Bounded by" says why no schedule is faster; where it is a search, every smaller II was refuted. Groups count
those with an operation, the load group too.
"""

LOOPS_HEAD = """
## Loops with published-rate costs

The bundled `loops/*.loop`: costs derived from published rates, exclusive units only. `loops/README` and the head of each
file say where they come from.

| loop | MinII | II | bounded by | stages | groups | crossings | length | seconds |
|---|---|---|---|---|---|---|---|---|
"""

KERNELS_HEAD = """
## Triton kernels

Costs of the machine description: {about}. The bracket's lower end is proven with every operation at its fastest, its
upper end is the II of the schedule, made with every operation at its slowest co-run rate; in between, what this
schedule's order is expected to take when its groups share the pipes.

| kernel | pool | MinII | II | bracket (expected) | bounded by | stages | groups | seconds |
|---|---|---|---|---|---|---|---|---|
"""


def run(program, arguments, text=None):
    return subprocess.run([program, *arguments], cwd=ROOT, capture_output=True, text=True, input=text)


def schedule(program, arguments):
    """The JSON of `twill schedule`, or the reason why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "schedule.json"
        done = run(program, ["schedule", *arguments, "--timing", "-o", str(file)])
        if file.exists():
            return json.loads(file.read_text()), ""
        return None, done.stderr.strip().splitlines()[0]


def seconds(answer):
    return f"{sum(answer['seconds'].values()):.2f}"


def limiter(answer):
    bound = answer["lower_bound"]
    if bound["kind"] in ("unit", "pipe"):
        return f"{bound['kind']} {bound['resource']}"
    return bound["kind"]


def interval(answer):
    ii = answer["initiation_interval"]
    if ii is None:
        return answer["verdict"]
    bound = answer["lower_bound"]["value"]
    return str(ii) if ii == bound else f"{ii} (at least {bound})"


def objective(answer, name):
    return next((str(level["value"]) for level in answer["objectives"] if level["name"] == name), "")


def stages(answer):
    return "" if answer["stage_count"] is None else str(answer["stage_count"])


def used_groups(answer):
    return str(sum(1 for group in answer.get("groups", []) if group["ops"]))


def row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |\n"


def loop_rows(program):
    for path in sorted((ROOT / "loops").glob("*.loop")):
        answer, reason = schedule(program, [str(path.relative_to(ROOT))])
        if answer is None:
            yield row([path.stem, reason, "", "", "", "", "", "", ""])
            continue
        yield row([path.stem, answer["min_ii"]["value"], interval(answer), limiter(answer), stages(answer),
                   used_groups(answer), objective(answer, "crossings"), objective(answer, "length"), seconds(answer)])


def kernel_rows(program, target, machine):
    for title, path, options in KERNELS:
        kernel = "kernels/" + path.format(target) + ".pre.ttgir"
        answer, reason = schedule(program, [kernel, "--machine", machine, *options])
        if answer is None:
            yield row([title, reason, "", "", "", "", "", "", ""])
            continue
        bracket = answer["bracket"]
        span = "" if bracket is None else f"{bracket['fastest']} .. {bracket['slowest']}"
        if bracket and bracket["expected"] is not None:
            span += f" ({bracket['expected']})"
        yield row([title, answer["pool"], answer["min_ii"]["value"], interval(answer), span, limiter(answer),
                   stages(answer), used_groups(answer), seconds(answer)])


def computer():
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "")
    return model or platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=str(ROOT / "build/release/twill"))
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "docs/results.md")
    arguments = parser.parse_args()
    program = str(pathlib.Path(arguments.program).resolve())
    text = HEAD.format(computer=computer()) + LOOPS_HEAD + "".join(loop_rows(program))
    for target, machine in MACHINES:
        about = "measured on an H200" if machine == "h200" else "public documents, nothing measured (model only)"
        text += KERNELS_HEAD.format(about=about).replace("## Triton kernels", f"## Triton kernels on {machine}")
        text += "".join(kernel_rows(program, target, machine))
    arguments.output.write_text(text)
    print(f"wrote {arguments.output}", file=sys.stderr)


main()
