"""Kernels printed as TTGIR, each once: tests that need the same text from the same program find it in a shared folder."""
import fcntl
import hashlib
import json
import pathlib
import subprocess
import tempfile

VERSIONS = ("3.6", "3.9")  # one of each spelling


def printed(printer, kernel, version, out, folder):
    """The reason why the kernel is not printed for that Triton, one of VERSIONS; else "", and OUT is written.

    PRINTER is twill_print_ttgir (print_ttgir.cpp), which prints for all VERSIONS at once. FOLDER keeps the texts, by the bytes of
    the program and the kernel's text. The first test that needs a kernel prints it; other tests wait for it.
    """
    program = hashlib.sha256(pathlib.Path(printer).read_bytes()).hexdigest()[:16]
    key = hashlib.sha256(pathlib.Path(kernel).read_bytes()).hexdigest()
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / f"{program}.{key}.json", "a+") as kept:
        fcntl.flock(kept, fcntl.LOCK_EX)
        kept.seek(0)
        known = kept.read()
        if not known:
            for old in folder.glob("*.json"):
                if not old.name.startswith(program):
                    old.unlink(missing_ok=True)
            known = json.dumps(print_all(printer, kernel))
            kept.write(known)
    said, text = json.loads(known)[version]
    if not said:
        pathlib.Path(out).write_text(text)
    return said


def print_all(printer, kernel):
    """By version, the reason why there is no text, and the text."""
    with tempfile.TemporaryDirectory() as made:
        done = subprocess.run([printer, str(kernel), made], capture_output=True, text=True)
        if done.returncode != 0:
            return {version: [f"{printer} ended with {done.returncode}: {done.stderr}", ""] for version in VERSIONS}
        made = pathlib.Path(made)
        texts = {version: made / f"{version}.ttgir" for version in VERSIONS}
        return {version: [(made / f"{version}.said").read_text(), text.read_text() if text.exists() else ""]
                for version, text in texts.items()}
