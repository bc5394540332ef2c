"""Answers on disk, below Triton's cache folder: named by what they answer, written whole or not at all.

    twill/answer/KEY.json          what became of one module: refused and why, or compiled
    twill/answer/KEY.ttgir         the module, as it was before pipelining
    twill/answer/KEY.busy          computer and process that are at work on the answer
    twill/cubin/HASH.cubin         machine code, named by its contents
    twill/race/KEY/DEVICE/BUCKET.json  who won a race
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import threading
import time
from pathlib import Path
from typing import Any

from triton import knobs

from .lowering import write_whole


def folder() -> Path:
    """Where everything of the drop-in lies. Triton's cache folder may change while a program runs."""
    return Path(knobs.cache.dir) / "twill"


def key_of(*parts: str) -> str:
    """32 hexadecimal digits of some texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def read_json(path: Path) -> dict[str, Any] | None:
    """A JSON object, or None for what is not there or is no such file."""
    try:
        value = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Puts an object into a file, over what was there. A folder that cannot be written loses it, and stops nobody."""
    part = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(value))
        os.replace(part, path)
    except OSError:
        pass


def answer_path(key: str) -> Path:
    return folder() / "answer" / f"{key}.json"


def text_path(key: str) -> Path:
    return folder() / "answer" / f"{key}.ttgir"


ANSWER = ("why", "module", "cubin", "metadata", "spare_registers")


def get_answer(key: str) -> dict[str, Any] | None:
    """The fields ANSWER of an answer, or None where there is none, or one whose machine code is gone."""
    value = read_json(answer_path(key))
    if value is None or set(value) != set(ANSWER) or not (value["why"] or get_cubin(value["cubin"])):
        return None
    return value


_STALE = 600.0  # seconds after which a claim lapses


def claim(key: str) -> bool:
    """Whether this process may make an answer: no other process of this computer is at work on it. release() ends the claim.

    Doubt is a yes: the same answer is then made twice.
    """
    path, mine = answer_path(key).with_suffix(".busy"), f"{platform.node()} {os.getpid()}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "x", encoding="utf-8") as file:
            file.write(mine)
        return True
    except FileExistsError:
        if _at_work(path):
            return False
    except OSError:
        return True
    release(key)
    return True


def release(key: str) -> None:
    """Ends a claim."""
    answer_path(key).with_suffix(".busy").unlink(missing_ok=True)


def _at_work(path: Path) -> bool:
    """Whether a claim is that of another living process of this computer."""
    try:
        node, process = path.read_text().rsplit(" ", 1)
        if time.time() - path.stat().st_mtime > _STALE or node != platform.node() or int(process) == os.getpid():
            return False
        os.kill(int(process), 0)
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return True


def put_cubin(cubin: bytes) -> str:
    """Keeps machine code, and says under which name."""
    name = hashlib.sha256(cubin).hexdigest()[:32]
    write_whole(folder() / "cubin" / f"{name}.cubin", cubin)
    return name


def get_cubin(name: str) -> bytes | None:
    """Machine code that put_cubin() kept, or None where it is gone or damaged."""
    try:
        cubin = (folder() / "cubin" / f"{name}.cubin").read_bytes()
    except OSError:
        return None
    return cubin if hashlib.sha256(cubin).hexdigest()[:32] == name else None


def race_path(kernel: str, device: str, bucket: str) -> Path:
    return folder() / "race" / kernel / re.sub(r"\W+", "_", device) / f"{bucket}.json"
