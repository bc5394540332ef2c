"""Protects: with a certificate the answer is the same, byte for byte, and what it says is proven has a certificate that
`twill check` accepts for this input and machine.

answers_with_certificates.py TWILL SOURCE [--all]: the bundled loops and a few kernels of every kind, or all of them."""
import pathlib
import subprocess
import sys
import tempfile

FEW = ["loops/*.loop", "loops/published/*.loop", "kernels/gemm/sm_90/*.pre.ttgir", "kernels/fa_fwd/sm_90/d64.pre.ttgir",
       "kernels/fa_bwd/sm_90/m64n128d128_atomic.pre.ttgir", "kernels/fa_bwd_dq/*/*.pre.ttgir"]
ALL = ["loops/**/*.loop", "kernels/**/*.pre.ttgir"]


def run(*command):
    return subprocess.run([str(it) for it in command], capture_output=True, text=True, check=False)


def wrong_with(twill, path):
    """What is wrong with the answer's certificate, or None."""
    machine = ["--machine", "b200" if "sm_100" in str(path) else "h200"] if path.suffix == ".ttgir" else []
    plain = run(twill, "schedule", path, *machine)
    with tempfile.TemporaryDirectory() as folder:
        certified = run(twill, "schedule", path, *machine, "--certificate", folder)
        if (plain.returncode, plain.stdout) != (certified.returncode, certified.stdout):
            return "the answer is another one: " + certified.stderr
        if plain.returncode == 3:  # there is nothing to schedule
            return None
        if plain.stderr != certified.stderr:
            return "there is another warning: " + certified.stderr
        checked = run(twill, "check", folder, "--input", path, *machine)
        if checked.returncode != 0:
            return checked.stdout + checked.stderr
        if "optimal, proven" in plain.stdout and "together   optimal" not in checked.stdout:
            return "the certificate does not prove the optimum"
    return None


def main():
    twill, source = sys.argv[1], pathlib.Path(sys.argv[2])
    patterns = ALL if "--all" in sys.argv[3:] else FEW
    paths = sorted({path for pattern in patterns for path in source.glob(pattern)})
    bad = 0
    for path in paths:
        wrong = wrong_with(twill, path)
        if wrong:
            bad += 1
            print(f"{path.relative_to(source)}: {wrong}")
    print(f"{len(paths)} answers with certificates, {bad} wrong")
    return 1 if bad or len(paths) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
