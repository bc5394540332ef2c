#!/usr/bin/env python3
"""Breaks printed kernels, one place each, and runs them: mutants_test.py TWILL [--sample N] [--seed S] [--only REGEX]

Protects: `twill run` finds every mistake of a kind that a printer or a planner can make: a wait, an arrival, a fence, a commit or a barrier
left out, a parity, a slot, a count or an operand that is wrong. Mistakes of synchronization are found at a line of kernel.cu, others at
least by the numbers. And the kernels as they are printed are right.

Without --sample all mutants; with it, N of each kernel, of as many kinds as there are.
"""
import argparse
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Options, and trip counts: enough for short sections, and more than any ring has slots.
KERNELS = (
    ("gemm", "kernels/gemm/sm_90/tma_128x128x64.pre.ttgir", (), "1,9"),
    ("cluster", "kernels/gemm/sm_90/tma_128x256x64.pre.ttgir", ("--cluster", "2"), "1,6"),
    ("copies", "kernels/gemm/sm_90/ptr_128x128x64.pre.ttgir", (), "1,9"),
    ("attention", "kernels/fa_fwd/sm_90/d128.pre.ttgir", (), "1,5"),
    ("staged", "kernels/fa_fwd/sm_90/d128.pre.ttgir", ("--spare-registers", "16"), "1,2,5"),
)

# Changes that a kind makes to a line; None if it does not apply there. `numbers`: mutants that perhaps only the results show.
DROPPED = ("barrier_wait", "wgmma_wait", "barrier_arrive", "barrier_expect", "wgmma_fence", "fence_proxy_async", "barrier_init_fence",
           "wgmma_commit", "bulk_commit", "bulk_wait_read", "named_sync", "copies_arrive", "stage")


def drop(name):
    def change(line):
        whole = re.fullmatch(r"(\s*)(?:if \((?:leader|twill::elect_one\(\))\) )?twill::" + name + r"(?:<[^>]*>)?\(.*\);.*", line)
        return None if not whole or "keeps ptxas" in line else whole[1] + ";"
    return change


def replace(pattern, by):
    def change(line):
        changed = re.sub(pattern, by, line, count=1)
        return None if changed == line else changed
    return change


# A value that is not staged has the contents of an earlier iteration: only the numbers show it.
KINDS = {f"without {name}": (drop(name), name == "stage") for name in DROPPED}
KINDS |= {
    "without __syncwarp": (replace(r"__syncwarp\(\);", ";"), False),
    "without __syncthreads": (replace(r"__syncthreads\(\);", ";"), False),
    "parity of a full barrier": (replace(r"(barrier_wait\(.*_full.*\.phase)\);", r"\1 ^ 1u);"), False),
    "parity of an empty barrier": (replace(r"(barrier_wait\(.*_empty.*\.phase) \^ 1u\);", r"\1);"), False),
    "slot of a copy": (replace(r"(tma_load\w*\(smem \+ \d+ \+ )r(\d)_(\w+)\.slot", r"\1(r\2_\3.slot + 1) % \2"), False),
    "slot of an operand": (replace(r"(operand\(smem \+ \d+ \+ )r(\d)_(\w+)\.slot", r"\1(r\2_\3.slot + 1) % \2"), False),
    "slot of a staged value": (replace(r"(read_staged\(smem \+ \d+ \+ )r(\d)_(\w+)\.slot", r"\1(r\2_\3.slot + 1) % \2"), True),
    "bytes of a barrier": (replace(r"(barrier_expect\(.*, )(\d+)\)", r"\1 \2 / 2)"), False),
    "arrivals of a barrier": (replace(r"(barrier_init\(.*\], )(\d+)\)", r"\1 \2 + 1)"), False),
    "operand further on": (replace(r"(twill::advance\(b, )", r"\g<1>32 + "), True),
    "accumulates": (replace(r", k > 0\);", ", true);"), True),
    "order of a wait": (replace(r"wgmma_wait<0>", "wgmma_wait<1>"), False),
    "coordinate of a copy": (replace(r"(tma_load.*, )column(,| )", r"\1column + 8\2"), True),
}


# Mutants that something else implies, by a word of the line or the next. A slot for keys is free when one for values is: there are fewer of
# these, and they are awaited after it; and the tile of queries is read by products alone, of which each thread knows that they are done.
IMPLIED = {("attention", "without barrier_wait", "load0_empty")}
IMPLIED |= {(label, "without __syncwarp", "ttg_local_alloc") for label in ("attention", "staged")}


def is_harmless(label, text, kind, line):
    """Whether the PTX ISA allows what the mutant does: of products that add to the accumulators of the product before, and to registers that
    nobody has touched since, only the first needs a wgmma.fence; and only TMA and other CTAs need to be told of fresh mbarriers."""
    lines = text.splitlines()
    if any(label == of and kind == what and where in lines[line - 1] + lines[line] for of, what, where in IMPLIED):
        return True
    if kind == "without barrier_init_fence":
        return "twill::tma_load" not in text
    if kind != "without wgmma_fence":
        return False
    loop = max((i for i in range(line) if "for (int n = " in lines[i]), default=None)
    role = max(i for i in range(line) if "void role_" in lines[i])
    if loop is None or loop < role:
        return False
    body = "\n".join(lines[loop:next(i for i in range(loop, len(lines)) if ".advance<1>();" in lines[i])])
    touched = {name for name in re.findall(r"(\w+)\[", re.sub(r"smem.*|barriers.*", "", body))}
    return not touched & set(re.findall(r"wgmma_[sr]s<[^(]*\((\w+),", body))



def mutants(text):
    """Mutants as (kind, line number, mutated text), in the order of the text."""
    lines = text.splitlines()
    end = next((i for i, line in enumerate(lines) if "__CUDACC_RTC__" in line and line.startswith("#ifndef")), len(lines))
    for kind, (change, numbers) in KINDS.items():
        for i, line in enumerate(lines[:end]):
            changed = change(line)
            if changed is not None:
                yield kind, i + 1, "\n".join(lines[:i] + [changed] + lines[i + 1:]) + "\n"


def documents(text):
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        document, at = decoder.raw_decode(text, at)
        yield document


def chosen(all_of, sample, seed):
    if sample is None:
        return all_of
    rng = random.Random(seed)
    kinds = {}
    for it in all_of:
        kinds.setdefault(it[0], []).append(it)
    names = sorted(kinds)
    rng.shuffle(names)
    return [rng.choice(kinds[name]) for name in names[:sample]]


def judge(kind, line, report):
    """The complaint about a report; None if the mutant is found."""
    if report["complaints"]:
        return f"does not compile: {report['complaints'][0]}"
    if report["agrees"]:
        return "is not found"
    found = [it for trial in report["trials"] for it in trial["findings"]]
    if KINDS[kind][1] or any(it["line"] > 0 for it in found):
        return None
    return "is found without a line"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program")
    arguments.add_argument("--sample", type=int)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--only", default="")
    options = arguments.parse_args()
    wrong, count = [], 0
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        for label, kernel, more, trips in KERNELS:
            printed = scratch / label
            subprocess.run([options.program, "emit", "cuda", kernel, "--machine", "h200", "--no-compile", *more, "-o", str(printed)], cwd=ROOT,
                           check=True, capture_output=True)
            text = (printed / "kernel.cu").read_text()
            wanted = [it for it in mutants(text) if re.search(options.only, f"{label} {it[0]}") and not is_harmless(label, text, *it[:2])]
            wanted = chosen(wanted, options.sample, options.seed)
            folders = [printed]
            for number, (kind, line, changed) in enumerate(wanted):
                folder = scratch / f"{label}.{number}"
                shutil.copytree(printed, folder)
                (folder / "kernel.cu").write_text(changed)
                folders.append(folder)
            done = subprocess.run([options.program, "run", *map(str, folders), "--json", "--trips", trips, "--completion", "late", "--seed", str(options.seed)],
                                  cwd=ROOT, capture_output=True, text=True)
            reports = list(documents(done.stdout))
            if len(reports) != len(folders):
                wrong.append(f"{label}: {len(reports)} reports of {len(folders)} kernels: {done.stderr.strip()[:500]}")
                continue
            if not reports[0]["agrees"]:
                wrong.append(f"{label}: wrong as it is printed: {json.dumps(reports[0]['trials'])[:500]}")
            for (kind, line, changed), report in zip(wanted, reports[1:]):
                count += 1
                complaint = judge(kind, line, report)
                if complaint:
                    at = text.splitlines()[line - 1].strip()
                    wrong.append(f"{label}: {kind} at line {line} {complaint}: {at}")
    print("\n".join(wrong) or f"{count} mutants are found")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
