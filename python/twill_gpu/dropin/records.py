"""Records of the drop-in, for report(): a row for each compilation and each race of this process."""

from __future__ import annotations

import dataclasses
import logging
import os
import sys
import threading
from typing import Any, Iterator

from ..answers import paragraphs
from ..program import TwillError
from ..tables import table

log = logging.getLogger("twill_gpu")
BEING_MADE = "Twill's kernel is still being made, launches are Triton's until it is there"


@dataclasses.dataclass(frozen=True)
class Compilation:
    """One kernel with a product that Triton compiled while the drop-in was on.

    runs: "twill", "triton", or "race" if launches decide. why: one line, for "triton", and for a race that needs an explanation.
    seconds: time of Twill's part. from_cache: the kernel came from Triton's cache or the drop-in's.
    """

    kernel: str
    num_warps: int
    num_stages: int
    arch: int
    runs: str
    why: str
    seconds: float
    from_cache: bool = False
    spare_registers: int = 0
    key: str = ""  # key of the answer on disk, which has the module

    def __str__(self) -> str:
        where = " (from the cache)" if self.from_cache else ""
        untried = " (never run on sm_100)" if self.arch == 100 and self.runs != "triton" else ""
        return f"{self.kernel} ({self.num_warps} warps, {self.num_stages} stages): {self.runs}{': ' if self.why else ''}{self.why}{untried}{where}"


@dataclasses.dataclass(frozen=True)
class Race:
    """One decision: times of a launch in microseconds, and the kernel that this bucket of sizes takes from now on.

    Kernels are "triton", "twill", and "twill over tiles", which walks the tiles of a launch with a CTA on each SM. new: the kernel
    that came. held: the kernel that had such launches until then. why: one line, if there was no measurement. from_cache: it was
    measured in an earlier process, or for an equal kernel of this process.
    """

    kernel: str
    device: str
    bucket: str
    new_us: float
    held_us: float
    takes: str
    why: str = ""
    new: str = "twill"
    held: str = "triton"
    from_cache: bool = False

    def __str__(self) -> str:
        where = f"{self.kernel} on {self.device}" if self.device else self.kernel  # without a device, no kernel was loaded
        if self.why:
            return f"{where}: takes {self.takes}, not {self.new}: {self.why}"
        return (f"{where}: takes {self.takes}: {self.new} {self.new_us:.1f} us, "
                f"{self.held} {self.held_us:.1f} us ({self.held_us / self.new_us:.2f}x){' (measured before)' if self.from_cache else ''}")


@dataclasses.dataclass(frozen=True)
class Report:
    """Kernels that ran, with their speed-up. Prints as text; notebooks show tables. why_off: reason why the drop-in was not switched on."""

    compilations: tuple[Compilation, ...]
    races: tuple[Race, ...]
    why_off: str = ""

    def __str__(self) -> str:
        lines = [*([f"off: {self.why_off}"] if self.why_off else []), *(str(row) for row in (*self.compilations, *self.races))]
        return "\n".join(lines) if lines else "no kernel with a product was compiled while the drop-in was on"

    def __iter__(self) -> Iterator[Compilation | Race]:
        return iter((*self.compilations, *self.races))

    def to_dict(self) -> dict[str, Any]:
        """The report as a value for JSON."""
        return {"compilations": [dataclasses.asdict(row) for row in self.compilations],
                "races": [dataclasses.asdict(row) for row in self.races], "why_off": self.why_off}

    def _repr_html_(self) -> str:
        head = ("kernel", "warps", "stages", "runs", "why")
        rows = [(row.kernel, row.num_warps, row.num_stages, row.runs, row.why) for row in self.compilations]
        races = [(row.kernel, row.device, row.new, f"{row.new_us:.1f}", row.held, f"{row.held_us:.1f}", row.takes) for row in self.races]
        off = paragraphs(f"off: {self.why_off}") if self.why_off else ""
        return off + table(head, rows) + table(("kernel", "device", "new", "us", "held", "us", "takes"), races)


_lock = threading.Lock()
_rows: list[Compilation | Race] = []
_compiled: set[str] = set()  # hashes of the kernels with rows
_why_off = ""
_MOST = 10_000  # rows kept, so that a program that compiles for ever does not grow for ever


def add(row: Compilation | Race, verbose: bool) -> None:
    """Stores a row, and logs it: to the logger twill_gpu, and on standard error if requested. Never raises."""
    with _lock:
        _rows.append(row)
        del _rows[:-_MOST]
    try:
        log.info("%s", row)
        if verbose:
            print(f"twill: {row}", file=sys.stderr, flush=True)
    except Exception:  # a handler of the user's, or a standard error that is closed
        pass


def settle(key: str, runs: str, why: str) -> None:
    """Changes the rows of kernels that waited for the answer with this key, once it is known."""
    with _lock:
        for number, row in enumerate(_rows):
            if isinstance(row, Compilation) and row.key == key and row.why == BEING_MADE:
                _rows[number] = dataclasses.replace(row, runs=runs, why=why)


def _note(kernel: str) -> None:
    """Notes that the kernel has a row. Forgets others if there are many: a row may then come twice."""
    if len(_compiled) >= _MOST:
        _compiled.clear()
    _compiled.add(kernel)


def compiled(row: Compilation, metadata: dict[str, Any]) -> None:
    """Stores a kernel's row in its metadata, which Triton's cache keeps. know() reads it in later processes."""
    metadata["twill_row"] = {"runs": row.runs, "why": row.why if row.runs == "triton" else "", "key": row.key, "spare_registers": row.spare_registers}
    with _lock:
        _note(metadata["hash"])


def know(metadata: Any, verbose: bool) -> None:
    """Adds the row of a kernel that comes from Triton's cache, once, so that a report also has kernels that another process compiled."""
    facts = getattr(metadata, "twill_row", None)
    with _lock:
        if facts is None or metadata.hash in _compiled:
            return
        _note(metadata.hash)
    add(Compilation(metadata.name, metadata.num_warps, metadata.num_stages, metadata.target.arch, seconds=0.0, from_cache=True, **facts), verbose)


def first_line(wrong: BaseException) -> str:
    """An exception as one line of at most 200 characters."""
    lines = [line for line in str(wrong).splitlines() if line.strip()]
    name = "" if isinstance(wrong, TwillError) else f"{type(wrong).__name__}: "
    return (name + (lines[0] if lines else ""))[:200]


def report() -> Report:
    """The drop-in's compilations and races in this process so far."""
    with _lock:
        rows = tuple(_rows)
    return Report(tuple(row for row in rows if isinstance(row, Compilation)),
                  tuple(row for row in rows if isinstance(row, Race)), _why_off)


def stays_off(why: str) -> None:
    """Stores the reason why the drop-in was not switched on, and issues it as a warning, which Python prints by default. Never raises."""
    global _why_off
    _why_off = why
    try:
        log.warning("twill: off: %s", why)
    except Exception:  # as in add()
        pass


def clear() -> None:
    """Forgets the rows so far."""
    global _why_off
    with _lock:
        _why_off = ""
        _rows.clear()
        _compiled.clear()


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()  # another thread of the parent may have held it


os.register_at_fork(after_in_child=_after_fork)
