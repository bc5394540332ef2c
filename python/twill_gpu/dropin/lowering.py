"""The installed Triton's own lowering, run in parts: up to its pipelining, and from a printed module to the machine code.

There is no list of passes here. The code of Triton's functions runs with other globals, in which the pass manager or
`subprocess` is replaced. Triton itself is not changed, so several threads may do this at once.
"""

from __future__ import annotations

import atexit
import dataclasses
import functools
import hashlib
import json
import re
import shutil
import subprocess
import tempfile
import types
from pathlib import Path
from typing import Any, Callable

from triton._C.libtriton import ir
from triton.backends.nvidia import compiler as nvidia
from triton.runtime.errors import PTXASError

from ..program import TwillError
from . import beside, store
from .store import write_whole

PIPELINING = ("add_hopper_warpspec", "add_assign_latencies", "add_schedule_loops", "add_warp_specialize", "add_pipeline")


class NoPlace(TwillError):
    """This Triton's list of passes has no pipelining, before which the list could be cut."""


class NoCode(TwillError):
    """ptxas makes no machine code of a module; has the message of ptxas."""


class _Cut(Exception):
    """The next pass is the pipelining."""


class _Recorder:
    """A pass manager that runs the passes added before pipelining, and raises _Cut there."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self.calls: list[tuple[str, Callable[..., None], tuple[Any, ...]]] = []

    def enable_debug(self) -> bool:
        return False

    def run(self, module: Any, *tag: str) -> None:
        manager = ir.pass_manager(self._context)
        for name, add, arguments in self.calls:
            if name in PIPELINING:
                manager.run(module, *tag)
                raise _Cut
            add(manager, *arguments)
        raise NoPlace("this Triton's list of passes has no pipelining to cut before")


class _Proxy:
    """A module with some names replaced."""

    def __init__(self, real: Any, **names: Any) -> None:
        self.__dict__.update(names, _real=real)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


class _Passes(_Proxy):
    """A module of passes whose add_ functions are recorded in place of run."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._real, name)
        if isinstance(value, types.ModuleType):
            return _Passes(value)
        if name.startswith("add_"):
            return lambda manager, *arguments: manager.calls.append((name, value, arguments))
        return value


def _with_globals(function: Any, **names: Any) -> Any:
    """A copy of `function` with some of its globals replaced."""
    return types.FunctionType(function.__code__, dict(function.__globals__, **names), function.__name__,
                              function.__defaults__, function.__closure__)


def new_context(backend: Any) -> Any:
    """An MLIR context with Triton's dialects, for use by one thread at a time."""
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    return context


@functools.lru_cache(maxsize=None)
def _texts(folder: str) -> Path:
    """Folder for texts that are parsed: this folder, or a folder of the process if PTX cannot write this folder's name."""
    if not re.search(r'["\\\x00-\x1f]', folder):
        return Path(folder)
    made = tempfile.mkdtemp(prefix="twill-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made)


def parse(text: str, context: Any, suffix: str) -> Any:
    """A module of `text`. Its file is named after the text, since the name gets into the line table of the cubin."""
    path = _texts(str(store.folder() / "text")) / (hashlib.sha256(text.encode()).hexdigest()[:24] + suffix)
    write_whole(path, text.encode())
    with beside.native():
        module = ir.parse_mlir_module(str(path), context)
    module.context = context
    return module


def before_pipelining(ttir: str, options: Any, capability: int, backend: Any) -> str:
    """The TTGIR, with locations, that Triton's own passes make of a TTIR module up to the pipelining. Raises NoPlace."""
    module = parse(ttir, new_context(backend), ".ttir")
    make = _with_globals(nvidia.CUDABackend.make_ttgir, ir=_Proxy(ir, pass_manager=_Recorder),
                         passes=_Passes(nvidia.passes), nvidia=_Passes(nvidia.nvidia))
    try:
        with beside.native():
            make(module, {}, options, capability)
    except _Cut:
        return str(module)
    raise NoPlace("this Triton's list of passes ended before it was run")


@dataclasses.dataclass(frozen=True)
class Compiled:
    """Result of Triton's stages after TTGIR for a module."""

    llir: str
    ptx: str
    cubin: bytes
    metadata: dict[str, Any]  # written by the stages: shared, num_warps, name, tensordesc_meta, ...
    ptxas: str  # messages of ptxas

    def complaint(self, most_shared: int) -> str:
        """Reason why this code must not be used, "" if there is none: local memory, or products that ptxas serialized."""
        if self.metadata["shared"] > most_shared:
            return f"{self.metadata['shared']} bytes of shared memory, {most_shared} are there"
        remark = re.search(r"\(C75\d\d\)[^\n]{0,70}", self.ptxas)
        return f"ptxas: {remark[0]}" if remark else ""

    @property
    def spilled(self) -> int:
        """Bytes of registers that a thread keeps in memory since registers are short."""
        return max(map(int, re.findall(r"(\d+) bytes spill stores", self.ptxas)), default=0)


def _make_cubin_with_log(backend: Any, ptx: str, metadata: dict[str, Any], options: Any) -> tuple[bytes, str]:
    """Triton's own last stage, and the log of ptxas that it discards. Raises NoCode, and then Triton prints nothing."""
    said: list[str] = []
    printed: list[str] = []

    def run(command: Any, **more: Any) -> Any:
        try:
            return subprocess.run(command, **more)  # noqa: PLW1510 (Triton's call, as it is)
        finally:
            said.append(Path(more["stderr"].name).read_text())

    make = _with_globals(nvidia.CUDABackend.make_cubin, subprocess=_Proxy(subprocess, run=run), print=printed.append)
    try:
        cubin = make(backend, ptx, metadata, options, backend.target.arch)
    except PTXASError as wrong:
        fatal = re.search(r"^ptxas\b.*?\b(?:fatal|error)\s*: (.*)", "".join(said), re.MULTILINE)
        raise NoCode(f"ptxas: {fatal[1] if fatal else wrong}") from wrong
    for text in printed:  # such as the log of ptxas, if it was requested
        print(text)
    return cubin, "".join(said)


def compile_printed(text: str, metadata: dict[str, Any], options: Any, capability: int, backend: Any) -> Compiled:
    """Runs Triton's stages after TTGIR on a printed module, in a context of its own. Raises their errors."""
    context = new_context(backend)
    module = parse(text, context, ".ttgir")
    before = dict(metadata)
    mine = dict(metadata, tensordesc_meta=module.get_tensordesc_metadata())
    with beside.native():
        llir = backend.make_llir(module, mine, options, capability)
    with beside.native():
        ptx = backend.make_ptx(llir, mine, options, backend.target.arch)
    cubin, log = _make_cubin_with_log(backend, ptx, mine, options)
    written = {name: value for name, value in mine.items() if name not in before or before[name] != value}
    for name in ("num_warps", "shared", "tensordesc_meta"):  # also if they are unchanged
        written[name] = mine[name]
    return Compiled(str(llir), ptx, cubin, json.loads(json.dumps(written, default=vars)), log)  # as Triton reads it from disk
