"""Answers on disk, below Triton's cache folder: named after their question, written whole or not at all.

twill/answer/KEY.json          outcome for one module: refused with the reason, or compiled
twill/answer/KEY.ttgir         the module before pipelining
twill/answer/KEY.busy          locked by the process that is at work on the answer
twill/cubin/HASH.cubin         machine code, named by its contents
twill/race/KEY/DEVICE/BUCKET.json  result of a race
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import threading
from pathlib import Path
from typing import Any

from triton import knobs


def folder() -> Path:
    """The folder of all files of the drop-in. Triton's cache folder may change while a program runs."""
    return Path(knobs.cache.dir) / "twill"


def key_of(*parts: str) -> str:
    """32 hexadecimal digits of some texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def read_json(path: Path) -> dict[str, Any] | None:
    """A JSON object, or None for a file that is missing or has no JSON object."""
    try:
        value = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def write_whole(path: Path, contents: bytes) -> None:
    """Writes a file that readers see whole or not at all. An existing file with these contents is left alone."""
    try:
        if path.read_bytes() == contents:
            return
    except OSError:
        pass
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        part.write_bytes(contents)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Writes an object as `write_whole` does. If the folder cannot be written, the object is lost without an error."""
    try:
        write_whole(path, json.dumps(value).encode())
    except OSError:
        pass


def answer_path(key: str) -> Path:
    return folder() / "answer" / f"{key}.json"


def text_path(key: str) -> Path:
    return folder() / "answer" / f"{key}.ttgir"


# Fields of an Answer that are stored on disk.
ANSWER = ("why", "module", "cubin", "metadata", "spare_registers", "spilled")


def get_answer(key: str) -> dict[str, Any] | None:
    """The fields ANSWER of an answer, or None if there is none, or if its machine code is gone."""
    value = read_json(answer_path(key))
    if value is None or set(value) != set(ANSWER) or not (value["why"] or get_cubin(value["cubin"])):
        return None
    return value


_claims: dict[str, int] = {}  # by key: the locked file of each claim of this process


def claim(key: str) -> bool:
    """Whether this process may make an answer: no other process holds the lock of its file. release() ends the claim, and so does the process's end.

    Doubt counts as yes, as on a file system without locks: the same answer is then made twice.
    """
    path = answer_path(key).with_suffix(".busy")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
    except OSError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(file), os.stat(path)):
            raise FileNotFoundError  # another process ended its claim in between
    except (BlockingIOError, FileNotFoundError):
        os.close(file)
        return False
    except OSError:
        os.close(file)
        return True
    _claims[key] = file
    return True


def release(key: str) -> None:
    """Ends a claim of this process, if there is one."""
    file = _claims.pop(key, None)
    if file is not None:
        answer_path(key).with_suffix(".busy").unlink(missing_ok=True)  # before the lock goes, or another process's file would be removed
        os.close(file)


def _after_fork() -> None:
    """Leaves the claims to the parent. Closing the child's copies of a locked file ends no lock."""
    for file in _claims.values():
        os.close(file)
    _claims.clear()


os.register_at_fork(after_in_child=_after_fork)


def put_cubin(cubin: bytes) -> str:
    """Stores machine code, and returns its name."""
    name = hashlib.sha256(cubin).hexdigest()[:32]
    write_whole(folder() / "cubin" / f"{name}.cubin", cubin)
    return name


def get_cubin(name: str) -> bytes | None:
    """Machine code that put_cubin() stored, or None if it is gone or damaged."""
    try:
        cubin = (folder() / "cubin" / f"{name}.cubin").read_bytes()
    except OSError:
        return None
    return cubin if hashlib.sha256(cubin).hexdigest()[:32] == name else None


def race_path(kernel: str, device: str, bucket: str) -> Path:
    return folder() / "race" / kernel / re.sub(r"\W+", "_", device) / f"{bucket}.json"
