#!/usr/bin/env python3
"""Printed TTGIR on a GPU, beside plain Triton, in the kernels of `kernels/` themselves.

  ttgir.py print TWILL FOLDER        print all modules, FOLDER/NAME.ttgir; no GPU needed
  ttgir.py table FOLDER              what a run found, as a table for docs/hardware-ttgir.md
  ttgir.py run FOLDER [NAME...]      check and measure them: needs a Hopper GPU, PyTorch and the Triton of the texts (3.6)

For each kernel of `ttgir_cases.py`: small sizes, trip counts from the shortest on, module against plain Triton bit by bit and both against float64;
1,000 launches with equal bits; then speed in turns, burst (12 ms) and sustained (150 ms), TFLOPS. Beside the module stand plain Triton with
the launch options that the TTGIR was made with, the best of Triton's launch options (CONFIGURATIONS, burst), and the library's
kernel where there is one. The module is given by Triton's own launch option `ir_override`. Each kernel runs in a process of its own, with a
limit; all are compiled first, several at a time. One line of JSON per kernel goes to FOLDER/ttgir.json, the table to
standard output. Lines of other kernels stay, while their modules are there.
"""
import concurrent.futures
import json
import pathlib
import statistics
import subprocess
import sys
import time

from ttgir_cases import CASES, ROOT

SECONDS = 100  # limit for one kernel
LAUNCHES = 1000
COMPILERS = 8  # processes that compile at a time
CONFIGURATIONS = [{"num_warps": warps, "num_stages": stages} for warps in (4, 8) for stages in (2, 3, 4)]


def bits_equal(a, b):
    import torch
    view = torch.int32 if a.dtype == torch.float32 else torch.int16
    return bool(torch.equal(a.view(view), b.view(view)))


def error(out, wanted):
    rows = out.reshape(-1, wanted.shape[-1])[: wanted.reshape(-1, wanted.shape[-1]).shape[0]].double()
    return float((rows - wanted.reshape(-1, wanted.shape[-1])).norm() / wanted.norm())


def worst(errors):
    """The largest value; a NaN counts as larger than all, and no value as unknown."""
    return max((wrong if wrong == wrong else float("inf") for wrong in errors), default=float("nan"))


def runs(one):
    """Whether plain Triton compiles the kernel with its own options, and the kernel fits an SM."""
    try:
        sort_of_kernel(one.compile())
    except Exception:
        return False
    return True


def check(make, sizes, module):
    import torch
    found = {"sizes": len(sizes), "equal": 0, "differing": 0}
    errors, plain_errors = [], []
    for seed, size in enumerate(sizes):
        torch.manual_seed(seed)
        one = make(*size)
        exact = [out.exact for out in one.outs]
        printed = one.run(ir_override=module)
        plain = one.run() if runs(one) else None
        found["equal"] += plain is not None and all(bits_equal(a, b) for a, b, same in zip(plain, printed, exact) if same)
        for index, wanted in enumerate(one.reference()):
            errors.append(error(printed[index], wanted))
            plain_errors += [error(plain[index], wanted)] if plain else []
    found |= {"worst": worst(errors), "plain_worst": worst(plain_errors)}
    first = one.run(ir_override=module)
    for _ in range(LAUNCHES):
        found["differing"] += not all(bits_equal(a, b) for a, b, same in zip(first, one.run(ir_override=module), exact) if same)
    return found


def milliseconds(call, duration):
    import torch
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    call()
    begin.record()
    call()
    end.record()
    torch.cuda.synchronize()
    count = max(3, int(duration * 1e3 / max(begin.elapsed_time(end), 1e-3)))
    begin.record()
    for _ in range(count):
        call()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / count


def sort_of_kernel(compiled):
    """Shared memory, registers and spills of a compiled kernel, which decide the number of CTAs on an SM."""
    compiled._init_handles()
    return {"shared": compiled.metadata.shared, "registers": compiled.n_regs, "spills": compiled.n_spills, "warps": compiled.metadata.num_warps}


def resident(kind):
    """CTAs that an SM of Hopper holds at once, for kernels without clusters: by shared memory, of which the driver takes 1 KiB for each, and by
    registers.
    """
    return min(233472 // (kind["shared"] + 1024), 65536 // (kind["registers"] * 32 * kind["warps"]))


def best_of_triton(one):
    """Triton's launch options with their TFLOPS (burst), without those that do not compile or do not fit."""
    found = []
    for options in CONFIGURATIONS:
        try:
            found.append({**options, "tflops": round(one.flops / milliseconds(lambda: one.call(**options), .012) * 1e-9, 1), **sort_of_kernel(one.compile(**options))})
        except Exception as problem:
            found.append({**options, "tflops": 0.0, "why": str(problem).strip()[-120:]})
    return found


def speeds(ways, flops):
    """TFLOPS of calls by name, burst and sustained: medians of turns that alternate in order."""
    times = {(way, kind): [] for way in ways for kind in ("burst", "sustained")}
    for kind, duration, rounds, pause in (("burst", .012, 4, .08), ("sustained", .15, 2, 0)):
        for turn in range(rounds):
            for way in sorted(ways, reverse=turn % 2 == 1):
                time.sleep(pause)
                if kind == "sustained":
                    milliseconds(ways[way], .05)
                times[way, kind].append(milliseconds(ways[way], duration))
    rate = {key: round(flops / statistics.median(values) * 1e-9, 1) for key, values in times.items()}
    return {way: [rate[way, "burst"], rate[way, "sustained"]] for way in ways}


def measure(make, sizes, module):
    import torch
    rows = []
    for size in sizes:
        torch.manual_seed(0)
        one = make(*size)
        ways = {"module": lambda: one.call(ir_override=module)}
        kinds = {"module": sort_of_kernel(one.compile(ir_override=module))}
        if runs(one):
            ways["plain"] = lambda: one.call()
            kinds["plain"] = sort_of_kernel(one.compile())
        configurations = best_of_triton(one)
        best = max(configurations, key=lambda found: found["tflops"])
        options = {name: best[name] for name in CONFIGURATIONS[0]}
        if best["tflops"] > 0:
            ways["best"] = lambda: one.call(**options)
        if one.library:
            try:
                one.library()
                ways["library"] = one.library
            except Exception as problem:
                print(f"library: {problem}", file=sys.stderr)
        rows.append({"size": size, **speeds(ways, one.flops), "best_options": options, "kernels": kinds, "configurations": configurations})
        del one
        torch.cuda.empty_cache()
    return rows


def run_one(folder, name):
    make, small, large = CASES[name]
    module = str(folder / f"{name}.ttgir")
    print(json.dumps({"name": name, "check": check(make, small, module), "speed": measure(make, large, module)}), flush=True)


def compile_one(folder, name):
    make, small, _ = CASES[name]
    one = make(*small[0])
    for options in [{}, {"ir_override": str(folder / f"{name}.ttgir")}] + CONFIGURATIONS:
        try:
            one.compile(**options)
        except Exception:
            pass  # the launch reports this


def of(name, what, folder):
    return subprocess.run([sys.executable, __file__, what, str(folder), name], capture_output=True, text=True, timeout=SECONDS)


def compile_quietly(name, folder):
    try:
        of(name, "compile", folder)
    except subprocess.TimeoutExpired:
        print(f"{name:34} not compiled within {SECONDS} s", flush=True)


def lines_of_others(folder, names):
    """The lines of an earlier run about other kernels whose modules still exist."""
    path = folder / "ttgir.json"
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [line for line in lines if (name := json.loads(line)["name"]) not in names and (folder / f"{name}.ttgir").exists()]


def run(folder, names):
    import torch
    import triton
    print(f"{torch.cuda.get_device_name(0)}, PyTorch {torch.__version__}, Triton {triton.__version__}; TFLOPS burst / sustained", flush=True)
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(COMPILERS) as pool:
        list(pool.map(lambda name: compile_quietly(name, folder), names))
    print(f"compiled in {time.monotonic() - begin:.0f} s", flush=True)
    kept = lines_of_others(folder, names)
    with open(folder / "ttgir.json", "w", buffering=1) as out:  # an interrupted run leaves its lines
        out.writelines(kept)
        for name in names:
            try:
                done = of(name, "one", folder)
                lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
                why = "" if lines else done.stderr.strip()[-400:]
            except subprocess.TimeoutExpired:
                lines, why = [], f"no end within {SECONDS} s"
            if not lines:
                print(f"{name:34} FAILED: {why}", flush=True)
                continue
            found = json.loads(lines[0])
            out.write(lines[0] + "\n")
            checks = found["check"]
            print(f"{name:34} {checks['equal']} of {checks['sizes']} sizes equal plain Triton bit by bit; error {checks['worst']:.1e} (plain {checks['plain_worst']:.1e}); {checks['differing']} of {LAUNCHES} launches differ", flush=True)
            for row in found["speed"]:
                ratio = lambda way: " / ".join(f"{a / b:.2f}x" for a, b in zip(row["module"], row[way])) if way in row else "-"
                both = lambda way: " / ".join(map(str, row[way])) if way in row else "-"
                best = "w{num_warps} s{num_stages}".format(**row["best_options"])
                print(f"{'':34} {str(tuple(row['size'])):24} plain {both('plain')}  best {both('best')} ({best})  library {both('library')}  module {both('module')}  "
                      f"{ratio('plain')}  of best {ratio('best')}", flush=True)


def table(folder):
    """Prints the rows of FOLDER/ttgir.json."""
    print("| kernel | size | plain Triton | best of Triton | library | module | of plain | of best | CTAs of an SM | bits |\n|---|---|---|---|---|---|---|---|---|---|")
    for line in (folder / "ttgir.json").read_text().splitlines():
        found = json.loads(line)
        checks = found["check"]
        bits = "equal" if checks["equal"] == checks["sizes"] else f"differ in {checks['sizes'] - checks['equal']} of {checks['sizes']}"
        if checks.get("plain_worst") != checks.get("plain_worst"):  # no number: there is no plain result
            bits = "plain does not run"
        for row in found["speed"]:
            both = lambda way: " / ".join(f"{rate:.0f}" for rate in row[way]) if way in row else "-"
            ratio = lambda way: " / ".join(f"{a / b:.2f}" for a, b in zip(row["module"], row[way])) if way in row else "-"
            ctas = lambda way: resident(row["kernels"][way]) if way in row["kernels"] else "-"
            size = " x ".join(map(str, row["size"]))
            print(f"| {found['name']} | {size} | {both('plain')} | {both('best')} | {both('library')} | {both('module')} | {ratio('plain')} | {ratio('best')} | "
                  f"{ctas('plain')}, {ctas('module')} | {bits} |")


def print_modules(twill, folder):
    """Prints the modules that can be printed. A refusal is reported, and that module is not measured."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in CASES:
        kernel, variant = name.split(".", 1)
        text = folder / f"{name}.ttgir"
        text.unlink(missing_ok=True)
        done = subprocess.run([twill, "emit", "ttgir", str(ROOT / "kernels" / kernel / "sm_90" / f"{variant}.pre.ttgir"), "-o", str(text)], capture_output=True, text=True)
        if done.returncode:
            print(f"{name}: not printed, exit {done.returncode}: {done.stderr.strip().splitlines()[0]}", flush=True)


def main():
    what = sys.argv[1] if len(sys.argv) > 2 else ""
    if what == "print":
        print_modules(sys.argv[2], pathlib.Path(sys.argv[3]))
    elif what == "one":
        run_one(pathlib.Path(sys.argv[2]), sys.argv[3])
    elif what == "table":
        table(pathlib.Path(sys.argv[2]))
    elif what == "compile":
        compile_one(pathlib.Path(sys.argv[2]), sys.argv[3])
    elif what == "run":
        folder = pathlib.Path(sys.argv[2])
        run(folder, sys.argv[3:] or [name for name in CASES if (folder / f"{name}.ttgir").exists()])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
