#!/usr/bin/env python3
"""cuda_pins_test.py TWILL

Protects: with --pins, a wait that is printed only to keep ptxas from moving code never waits. Its phase is the phase before the first
of an mbarrier without arrivals. (The full barrier of a slot that the role holds will not do: another warp of the role may release
it, and the slot be filled again, before this wait reads the phase.) Without the option there is no such wait.
"""
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "gpu"))
sys.dont_write_bytecode = True
import emit  # noqa: E402


def main():
    pins, wrong = 0, []
    with tempfile.TemporaryDirectory() as scratch:
        for name in emit.SOURCES:
            for strategy in emit.STRATEGIES:
                folder = pathlib.Path(scratch) / f"{name}.{strategy}"
                if emit.emit(sys.argv[1], name, strategy, folder, extra=["--pins"]).returncode != 0:
                    continue
                text = (folder / "kernel.cu").read_text()
                for line in text.splitlines():
                    if "keeps ptxas from moving code" in line:
                        pins += 1
                        if "barrier_wait(&barriers.open, 1u);" not in line:
                            wrong.append(f"{folder.name}: {line.strip()}")
                    elif "barriers.open" in line and "barrier_init(&barriers.open, 1);" not in line:
                        wrong.append(f"{folder.name}: {line.strip()}")
        plain = pathlib.Path(scratch) / "plain"
        emit.emit(sys.argv[1], "fa_fwd_d128", "twill", plain)
        if "keeps ptxas from moving code" in (plain / "kernel.cu").read_text():
            wrong.append("a pin that nobody asked for")
    print("\n".join(wrong) or f"{pins} pins, none of which waits")
    return 1 if wrong or pins == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
