#!/usr/bin/env python3
"""cuda_pins_test.py TWILL

Protects: with --pins, a wait that is printed only to keep ptxas from moving code never waits. So no pin may stand before the
wait for the same slot of the same barrier in its section. Without the option there is none.
"""
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "gpu"))
sys.dont_write_bytecode = True
import emit  # noqa: E402

SECTION = re.compile(r"// (?:prologue|drain|before the loop|after the loop)|for \(int n = |else if \(trips == ")
WAIT = re.compile(r"barrier_wait\(&barriers\.(\w+)\[(\w+)\.slot\]")


def main():
    pins, wrong = 0, []
    with tempfile.TemporaryDirectory() as scratch:
        for name in emit.SOURCES:
            for strategy in emit.STRATEGIES:
                folder = pathlib.Path(scratch) / f"{name}.{strategy}"
                if emit.emit(sys.argv[1], name, strategy, folder, extra=["--pins"]).returncode != 0:
                    continue
                text = (folder / "kernel.cu").read_text()
                for section in SECTION.split(text):
                    lines = section.splitlines()
                    for at, line in enumerate(lines):
                        if "keeps ptxas from moving code" not in line:
                            continue
                        pins += 1
                        slot = WAIT.search(line).groups()
                        if any((w := WAIT.search(later)) and w.groups() == slot and "complete:" not in later
                                                  for later in lines[at + 1:]):
                            wrong.append(f"{folder.name}: {line.strip()}")
        plain = pathlib.Path(scratch) / "plain"
        emit.emit(sys.argv[1], "fa_fwd_d128", "twill", plain)
        if "keeps ptxas from moving code" in (plain / "kernel.cu").read_text():
            wrong.append("a pin that nobody asked for")
    print("\n".join(wrong) or f"{pins} pins, all of held slots")
    return 1 if wrong or pins == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
