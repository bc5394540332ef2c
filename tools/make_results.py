#!/usr/bin/env python3
"""Writes docs/results.md from what `twill` answers.

Usage: make_results.py [--program build/release/twill] [--output FILE]

Everything but the seconds is the same on every computer.
"""

import argparse
import contextlib
import datetime
import io
import json
import pathlib
import platform
import re
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "bench/gpu"))
import table as hardware  # noqa: E402

# Machine: kernels of its architecture, as (title, file below kernels/, further options).
KERNELS = {
    "h200": [
        ("FA forward, not sub-tiled", "fa_fwd/sm_90/d128", ["--subtile", "0"]),
        ("FA forward, sub-tiled (2 x 64 rows)", "fa_fwd/sm_90/d128", []),
        ("FA forward, sub-tiled in the source (2 x 64)", "fa_fwd_subtiled/sm_90/2x64n128d128", []),
        ("FA forward, causal", "fa_fwd_causal/sm_90/d128", []),
        ("FA backward", "fa_bwd/sm_90/m64n128d128_tmared", []),
        ("GEMM 128x128x64", "gemm/sm_90/tma_128x128x64", []),
        ("GEMM 128x256x64", "gemm/sm_90/tma_128x256x64", []),
        ("dual GEMM", "dual_gemm/sm_90/128x128x64", []),
        ("GEMM + row sum", "gemm_rowsum/sm_90/128x128x64", []),
    ],
    "b200": [
        ("FA forward, not sub-tiled", "fa_fwd/sm_100/d128", ["--subtile", "0"]),
        ("FA forward, sub-tiled in the source (2 x 64)", "fa_fwd_subtiled/sm_100/2x64n128d128", []),
        ("FA forward, sub-tiled in the source (2 x 128)", "fa_fwd_subtiled/sm_100/2x128n128d128", []),
        ("FA forward, causal", "fa_fwd_causal/sm_100/d128", []),
        ("FA backward, 64 x 128", "fa_bwd/sm_100/m64n128d128_tmared", []),
        ("FA backward, 128 x 128", "fa_bwd/sm_100/m128n128d128_tmared", []),
        ("GEMM 128x128x64", "gemm/sm_100/tma_128x128x64", []),
        ("GEMM 128x256x64", "gemm/sm_100/tma_128x256x64", []),
        ("dual GEMM", "dual_gemm/sm_100/128x128x64", []),
        ("GEMM + row sum", "gemm_rowsum/sm_100/128x128x64", []),
    ],
}

# Names of the published loops' ops in the extracted problems: with the sub-tile's letter, where Twill cuts tiles ...
CUT_BY_TWILL = {
    "ldK": "load0", "ldV": "load1", "qk": "mma0", "pv": "mma1", "rmax": "row_max", "mnew": "vec_scale_max",
    "sub": "scale_sub", "alpha": "vec_sub_exp2", "exp": "exp2", "rsum": "row_sum", "lupd": "vec_mul_add",
    "cvt": "convert", "resc": "rescale",
}
# ... and with numbers, where the source has two sub-tiles: {0} counts sub-tiles, {1} and {2} the two products (tensor-memory loads, stores) of each.
CUT_IN_SOURCE = {
    "ldK": "load0", "ldV": "load1", "qk": "mma{1}", "pv": "mma{2}", "rmax": "row_max{0}", "mnew": "vec_scale_max{0}",
    "sub": "scale_sub{0}", "alpha": "vec_sub_exp2_{0}", "exp": "exp2_{0}", "rsum": "row_sum{0}",
    "lupd": "vec_mul_add{0}", "cvt": "convert{0}", "resc": "rescale{0}", "ldS": "tmem_load{1}", "ldO": "tmem_load{2}",
    "stP": "tmem_store{1}", "stO": "tmem_store{2}",
}
GROUPS = {"VL": "LOAD", "W1_0": "MMA"}

# Flash Attention 3 by its source: in both warpgroups the product of P and V runs one iteration behind, beside the softmax. (The published loop has
# this in one warpgroup, which is enough under published rates.)
FA3_BOTH = """
  group VL: ldK ldV
  group WG0: qkA pvA@1 rmaxA mnewA subA expA alphaA rsumA lupdA cvtA rescA
  group WG1: qkB pvB@1 rmaxB mnewB subB expB alphaB rsumB lupdB cvtB rescB
  unit TC: qkA pvA qkB pvB
"""

# Title, a loop of loops/published or the lines of an order, kernel, machine, pool, names.
FORCED = [
    ("Flash Attention 3, both warpgroups pipelined", FA3_BOTH, "fa_fwd/sm_90/d128", "h200", "2x64", CUT_BY_TWILL),
    ("Flash Attention 3, one of them", "fa3_forward_hopper", "fa_fwd/sm_90/d128", "h200", "2x64", CUT_BY_TWILL),
    ("Flash Attention 4", "fa4_forward_blackwell", "fa_fwd_subtiled/sm_100/2x128n128d128", "b200", "3x128",
     CUT_IN_SOURCE),
]

MEASURED_HEAD = """
## Printed kernels on a GPU

{device}, {date}, CUDA {cuda}, PyTorch {torch}, Triton 3.6.0: speed over the fastest library call (cuBLAS or the best of cublasLt's
heuristics, cuDNN), sustained, the least over all sizes and sources of the bar, GEMM and GEMM + row sum with tiles of 128 x 256.
[The log](hardware-log.md) has all kernels, sizes and strategies.

"""

FORCED_HEAD = """
## What the published structures cost under these costs

The order, stages and groups of Flash Attention 3 and 4 (`loops/published`, or written down in the tool), forced on the
problem that Twill extracts. The table has the least II they can reach, beside the optimum over all structures for the same pool, at
both rates. Published orders compute every exponential on the MUFU, where the optimum may have
alternatives.

| structure | kernel | pool | rates | its least II | optimum | cost |
|---|---|---|---|---|---|---|
"""

SIMULATED_HEAD = """
## Plans of kernels on {machine}, simulated

Cycles per iteration of the plan of each kernel above as `twill simulate` runs it. Costs are added one after the other:
the plan's order with every operation at its full rate, shared pipes, the signals of barriers, the latency of loads. A
kernel whose schedule cannot be carried out has the plan of another, so II may differ from the one above. What
has been measured is in [hardware.md](hardware.md); nothing on a b200 has.

| kernel | II | order | with shared pipes | with barriers | with loads |
|---|---|---|---|---|---|
"""

STRATEGIES = ["twill", "modulo", "triton", "cypress", "sequential"]

STRATEGIES_HEAD = """
## Strategies on {machine}, simulated

The same loops as other compilers arrange them (`twill compare`; reference/strategies.md says what each does), through the
same checks, plans and simulator: simulated cycles per iteration in the steady state, and in parentheses the II of the
schedule at its slowest co-run rates (of `twill` also at the fastest). What is missing is explained below the table.

| kernel | {names} |
|---|{rule}
"""

EVERY_HEAD = """
## Every kernel on {machine}, simulated

The same for everything in `kernels/` with tensor-core work: simulated cycles per iteration, and the II. Where there is none,
`twill compare KERNEL` says why. `twill` is the optimum of fixed costs, and runs in that order; where another column is less, its
order happens to share the pipes better, which no fixed costs tell ([decision 0004](decisions/0004-shared-pipes.md)). What printed
kernels take on an H200, beside what was simulated, is in [hardware.md](hardware.md).

| kernel | {names} |
|---|{rule}
"""

ARCHITECTURES = {"h200": "sm_90", "b200": "sm_100"}

# Strategy: the synthetic loop of its structure that was timed, its cycles.
TIMED = {
    "twill": ("Flash Attention 3's order, ping-pong barriers", "2422"),
    "modulo": ("Flash Attention 3's order, no barriers", "2372 to 3121, by how far apart the groups start"),
    "triton": ("in order, each product waited for", "3018"),
}

TIMED_HEAD = """
### Beside loops that were timed

The sub-tiled attention forward above has the shape of synthetic loops that were timed on an H200 (two warpgroups of 64 rows,
128 keys a step, head dimension 128). Those have no loads, so this compares structures, not kernels. [Decision
0004](decisions/0004-shared-pipes.md) has all of them, simulated one by one, with how far off each is.

| strategy | simulated | the timed loop | measured |
|---|---|---|---|
"""

TIMED_LOOPS_HEAD = """
### All loops that were timed

Copied from [decision 0004](decisions/0004-shared-pipes.md), which says what the loops are, what the model gets wrong about the one far off,
and which tests repeat the table.

"""

HEAD = """# Results

Made by `tools/make_results.py`, which runs `twill` on everything below; nothing here is written by hand. All but the
seconds are the same on every computer. Seconds are processor time of the whole command, one run
on one core of: {computer}, on {day}.

MinII is the larger of what one resource and what one circuit of dependences ask for; II is the optimum, proven unless
marked. "Bounded by" says why no schedule is faster; where it is a search, every smaller II was refuted. Groups count
those with an operation, the load group too.
"""

LOOPS_HEAD = """
## Loops with published-rate costs

The bundled `loops/*.loop`: costs derived from published rates, exclusive units only. The head of each file says where
they come from.

| loop | MinII | II | bounded by | stages | groups | crossings | length | seconds |
|---|---|---|---|---|---|---|---|---|
"""

KERNELS_HEAD = """
## Triton kernels on {machine}

Costs of the machine description: {about}.

II is the optimum with every operation at the rates named, of the candidate whose plan is simulated to be fastest.
"Proven" is the lower bound with every operation at its fastest, over all pools; "kept" is the II that this order keeps
with every operation at its slowest co-run rate; "expected" is what it takes when its groups share the pipes.

| kernel | pool | rates | MinII | II | proven .. kept | expected | bounded by | stages | groups | seconds |
|---|---|---|---|---|---|---|---|---|---|---|
"""


def run(program, arguments, text=None):
    return subprocess.run([program, *arguments], cwd=ROOT, capture_output=True, text=True, input=text)


def schedule(program, arguments):
    """The JSON of `twill schedule`, or the reason why there is no schedule."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "schedule.json"
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = run(program, ["schedule", *arguments, "-o", str(file)])
        if file.exists():
            answer = json.loads(file.read_text())
            answer["cpu"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
            return answer, ""
        return None, done.stderr.strip().splitlines()[0]


def seconds(answer):
    return f"{answer['cpu']:.2f}"


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


def kernel_rows(program, machine):
    for title, path, options in KERNELS[machine]:
        kernel = f"kernels/{path}.pre.ttgir"
        answer, reason = schedule(program, [kernel, "--machine", machine, *options])
        if answer is None:
            yield row([title, reason, *[""] * 9])
            continue
        bracket = answer["bracket"]
        span = "" if bracket is None else f"{bracket['fastest']} .. {bracket['slowest']}"
        expected = "" if bracket is None or bracket["expected"] is None else bracket["expected"]
        yield row([title, answer["pool"], answer["rate"], answer["min_ii"]["value"], interval(answer), span, expected,
                   limiter(answer), stages(answer), used_groups(answer), seconds(answer)])


def simulated_rows(program, machine):
    for title, path, options in KERNELS[machine]:
        done = run(program, ["simulate", f"kernels/{path}.pre.ttgir", "--machine", machine, "--json", *options])
        if done.returncode != 0:
            yield row([title, "no plan: " + done.stderr.strip().splitlines()[0].split("error: ")[-1], *[""] * 4])
            continue
        answer = json.loads(done.stdout)
        account = answer["account"]
        yield row([title, answer["initiation_interval"],
                   *(f"{account[part]:.0f}" for part in ("order", "pipes", "barriers", "loads"))])


def compared(program, machine, path, options):
    """The rows of `twill compare` by strategy, or the reason why there are none."""
    done = run(program, ["compare", f"kernels/{path}.pre.ttgir", "--machine", machine, "--json", *options])
    if not done.stdout:
        return None, done.stderr.strip().splitlines()[0]
    return {row["strategy"]: row for row in json.loads(done.stdout)["rows"]}, ""


def strategy_cell(answer):
    simulated = "-" if answer["simulated"] is None else f"{answer['simulated']:.0f}"
    interval = answer["initiation_interval"]
    return simulated if interval is None else f"{simulated} ({interval})"


def every_kernel_section(program, machine):
    """A row for each kernel of the machine's architecture."""
    table = EVERY_HEAD.format(machine=machine, names=" | ".join(STRATEGIES), rule="---|" * len(STRATEGIES))
    for file in sorted((ROOT / "kernels").glob(f"*/{ARCHITECTURES[machine]}/*.pre.ttgir")):
        path = str(file.relative_to(ROOT / "kernels")).removesuffix(".pre.ttgir")
        rows, _ = compared(program, machine, path, [])
        if rows is not None:
            table += row([path, *(strategy_cell(rows[name]) for name in STRATEGIES)])
    return table


def strategy_section(program, machine):
    """The table of all strategies, the reasons of empty cells, and the attention loop beside timed loops."""
    head = STRATEGIES_HEAD.format(machine=machine, names=" | ".join(STRATEGIES), rule="---|" * len(STRATEGIES))
    table, notes, timed = "", "", ""
    for title, path, options in KERNELS[machine]:
        rows, reason = compared(program, machine, path, options)
        if rows is None:
            table += row([title, reason, *[""] * (len(STRATEGIES) - 1)])
            continue
        cells = []
        for name in STRATEGIES:
            answer = rows[name]
            cells.append(strategy_cell(answer))
            notes += f"- {title}, {name}: {answer['note']}\n" if answer["note"] else ""
        table += row([title, *cells])
        if path == "fa_fwd/sm_90/d128" and not options:
            timed = TIMED_HEAD + "".join(
                row([name, f"{rows[name]['simulated']:.0f}", *TIMED[name]]) for name in TIMED) + timed_loops()
    return head + table + ("\n" + notes if notes else "") + timed


def timed_loops():
    """The whole table of the decision."""
    text = (ROOT / "docs/decisions/0004-shared-pipes.md").read_text()
    return TIMED_LOOPS_HEAD + re.search(r"^\| loop \|.*?\n(?=\n)", text, re.MULTILINE | re.DOTALL)[0]


def renamed(op, names):
    """The extracted op for "expA@1" of a published order; the stage stays."""
    name, _, stage = op.partition("@")
    if name not in names:
        part = "AB".index(name[-1])
        if names is CUT_BY_TWILL:
            name = names[name[:-1]] + name[-1]
        else:
            name = names[name[:-1]].format(part, 2 * part, 2 * part + 1)
    else:
        name = names[name]
    return f"{name}@{stage}" if stage else name


def order_for(published, names):
    """A published order for the extracted problem: its groups and its tensor core."""
    file = ROOT / "loops/published" / f"{published}.loop"
    lines = published if "\n" in published else file.read_text().split("\norder\n", 1)[1]
    order = ["order"]
    for line in lines.strip("\n").splitlines():
        kind, name, ops = re.fullmatch(r"  (\w+) (\w+): (.*)", line).groups()
        if kind == "group" or name == "TC":
            order.append(f"  {kind} {GROUPS.get(name, name)}: " + " ".join(renamed(op, names) for op in ops.split()))
    return "\n".join(order) + "\n"


def forced_at(program, rate, published, arguments, names):
    """The least II of the order at a rate, the optimum there, and their difference."""
    loop = run(program, ["loop", *arguments, "--rate", rate]).stdout
    done = run(program, ["evaluate", "-"], loop + "\n" + order_for(published, names))
    answer = schedule(program, [*arguments, "--rate", rate])[0]
    least = re.search(r"II (\d+) cycles", done.stdout)
    if least is None:
        return [(done.stdout + done.stderr).strip().splitlines()[0], interval(answer), ""]
    # `evaluate` checks the order alone. The demands on the pipes are the same in any order, and an order that runs at an II runs at every larger II.
    pipes = max((load["cycles"] for load in answer["loads"] if load["kind"] == "pipe"), default=0)
    least = max(int(least[1]), pipes)
    broken = sorted(set(re.findall(r"^  ([a-z-]+):", done.stdout, re.MULTILINE)) - {"pipe"}) if done.returncode == 6 else []
    note = f" (breaks {', '.join(broken)})" if broken else ""
    cost = f"{100 * (least / answer['initiation_interval'] - 1):+.1f} %"
    return [f"{least}{note}", interval(answer), cost]


def forced_rows(program):
    for title, published, path, machine, pool, names in FORCED:
        arguments = [f"kernels/{path}.pre.ttgir", "--machine", machine, "--pool", pool]
        for rate in ("fastest", "slowest"):
            yield row([title, path, pool, rate, *forced_at(program, rate, published, arguments, names)])


def computer():
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "")
    return model or platform.machine()


def measured_section():
    """The bars of printed kernels, from the last run on a GPU (bench/gpu/all.py)."""
    newest = json.loads((ROOT / "bench/gpu/measured/h200-newest.json").read_text())
    with contextlib.redirect_stdout(io.StringIO()) as bars:
        hardware.bars_table(newest["rows"])
    return MEASURED_HEAD.format(**newest) + bars.getvalue().split("\n\n", 1)[1].rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=str(ROOT / "build/release/twill"))
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "docs/results.md")
    arguments = parser.parse_args()
    program = str(pathlib.Path(arguments.program).resolve())
    text = HEAD.format(computer=computer(), day=datetime.date.today()) + LOOPS_HEAD + "".join(loop_rows(program))
    for machine in KERNELS:
        about = "measured on an H200" if machine == "h200" else "public documents, nothing measured (model only)"
        text += KERNELS_HEAD.format(machine=machine, about=about) + "".join(kernel_rows(program, machine))
        text += SIMULATED_HEAD.format(machine=machine) + "".join(simulated_rows(program, machine))
        text += strategy_section(program, machine)
        text += every_kernel_section(program, machine)
    text += FORCED_HEAD + "".join(forced_rows(program))
    text += measured_section()
    arguments.output.write_text(text)
    print(f"wrote {arguments.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
