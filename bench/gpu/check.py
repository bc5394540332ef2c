"""Checks emitted kernels on a GPU against float64: `check.py FOLDER [--only REGEX] [--launches N] [--small] [--done FILE]
[--sanitizer TOOL [--found FILE]]`.

Fresh random inputs, poisoned outputs, odd sizes, trip counts from zero up; then many launches of a small problem back to
back, whose result must not change. A kernel whose name is in the file --done is skipped, and kernels that pass are added to
that file, so that a run can be resumed.

With --sanitizer (memcheck, racecheck, synccheck, initcheck) each kernel runs at the small sizes under compute-sanitizer, in a
process of its own. The verdicts of the tool are recorded in the file --found, and kernels with a verdict are not run again.
"""
import argparse
import pathlib
import re
import sys

import torch

import kernels
import sanitize


def error_of(output, reference):
    wrong = (output.double() - reference).norm() / reference.norm().clamp_min(1e-30)
    return float("inf") if torch.isnan(wrong) else wrong.item()


def check_size(kernel, size):
    """The largest relative error of any output."""
    problem = kernel.make(size, kernel.dtype)
    kernel.launch(problem)
    torch.cuda.synchronize()
    return max(error_of(output, reference) for output, reference in zip(problem.outputs, problem.reference()))


def check_many(kernel, launches):
    """Whether the last of many launches gives the same bits as the first."""
    problem = kernel.make(kernel.sizes[3], kernel.dtype)
    kernel.launch(problem)
    torch.cuda.synchronize()
    first = [output.clone() for output in problem.outputs]
    for output in problem.outputs:
        output.fill_(float("nan"))
    for _ in range(launches):
        kernel.launch(problem)
    torch.cuda.synchronize()
    return all(torch.equal(a, b) for a, b in zip(first, problem.outputs))


def sanitized(options):
    """Number of kernels that are not clean under the tool. This process compiles all of them first."""
    labels = [kernel.label for kernel in kernels.build(options.folder, options.only)]

    def command_of(label):
        return [sys.executable, __file__, options.folder, "--only", f"^{re.escape(label)}$", "--small", "--launches", "0"]

    return sanitize.run(labels, options.sanitizer, options.found, command_of, options.timeout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--only")
    parser.add_argument("--launches", type=int, default=200, help="of strategies other than twill; twill gets 50 times that; 0: none")
    parser.add_argument("--small", action="store_true", help="only the first sizes")
    parser.add_argument("--done", type=pathlib.Path)
    parser.add_argument("--sanitizer", choices=sanitize.TOOLS)
    parser.add_argument("--found", type=pathlib.Path, default=pathlib.Path("sanitized.json"), help="where --sanitizer records what it finds")
    parser.add_argument("--timeout", type=int, default=1200, help="seconds of a kernel under --sanitizer")
    options = parser.parse_args()
    if options.sanitizer:
        failed = sanitized(options)
        print(f"{failed} not clean")
        sys.exit(failed > 0)
    done = options.done.read_text().split() if options.done and options.done.exists() else []
    failed = 0
    for kernel in kernels.build(options.folder, options.only):
        if kernel.label in done:
            continue
        limit = 4e-3 if kernel.dtype == torch.bfloat16 else 6e-4
        worst, at = 0.0, None
        for size in kernel.sizes[:4] if options.small else kernel.sizes:
            error = check_size(kernel, size)
            if not error <= limit:
                print(f"  {kernel.label} {size}: relative error {error:.2e}", flush=True)
            if at is None or error > worst:
                worst, at = error, size
        launches = options.launches * (50 if kernel.strategy.startswith("twill") else 1)
        same = launches == 0 or check_many(kernel, launches)
        good = worst <= limit and same
        failed += not good
        print(f"{'ok  ' if good else 'FAIL'} {kernel.label}: largest relative error {worst:.2e} at {at}; "
              f"{launches} launches {'alike' if same else 'DIFFER'}", flush=True)
        if good and options.done:
            with options.done.open("a") as file:
                file.write(kernel.label + "\n")
    print(f"{failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
