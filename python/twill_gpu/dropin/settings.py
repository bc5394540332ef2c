"""Settings of the drop-in: a value that is set as a whole, from a call, a context or the environment."""

from __future__ import annotations

import dataclasses
import math
import os
import re
import shlex
from pathlib import Path
from typing import Any, Mapping

from ..analysis import ARCHS as SHIPPED
from ..program import TwillError

DECISIONS = ("race", "always", "never")


@dataclasses.dataclass(frozen=True)
class Settings:
    """Settings of the drop-in.

    decide           "race": both kernels are compiled, and the first launch of each shape bucket measures which to take.
                     "always": Twill's wherever it compiles cleanly. "never": Triton's own.
    machine          name or file of a machine description; "auto": h200, and b200 for sm_100.
    blackwell        also kernels for sm_100. Nothing that is printed for it was ever run on such a GPU.
    spare_registers  registers per thread kept from tile data, one attempt after the other while ptxas spills or serializes products.
    margin           share of Triton's time by which Twill's kernel must be faster to be taken.
    race_ms          milliseconds of GPU time that each side of a race takes, at least.
    patience         how long a compilation waits for Twill's kernel, in multiples of what Triton's own took: not at all by
                     default. Launches are Triton's until it is there. It is begun beside Triton's own; for candidates of an
                     autotuner, without patience, once the program launches one of them. Only for "race".
    persistent       a kernel of one tile for each CTA is also made to walk tiles, a CTA on each SM, where launches have two tiles for
                     each or more; it races when it is there. Only for "race".
    inductor         Inductor's own kernels race, too, by Triton's launcher until it is decided, and then by Inductor's again.
    cache            keep answers on disk, below Triton's cache folder.
    timeout_s        seconds after which the program is stopped, and Triton's kernel taken.
    verbose          a line on standard error for each kernel and race.
    """

    decide: str = "race"
    machine: str = "auto"
    blackwell: bool = False
    spare_registers: tuple[int, ...] = (0, 16, 32)
    margin: float = 0.05
    race_ms: float = 6.0
    patience: float = 0.0
    persistent: bool = True
    inductor: bool = False
    cache: bool = True
    timeout_s: float = 60.0
    verbose: bool = False

    def __post_init__(self) -> None:
        if self.decide not in DECISIONS:
            raise TwillError(f"decide is one of {', '.join(DECISIONS)}, not {self.decide!r}")
        if not (isinstance(self.spare_registers, tuple) and self.spare_registers and all(isinstance(spare, int) for spare in self.spare_registers)):
            raise TwillError(f"spare_registers has a whole number for each attempt, as in (0,), not {self.spare_registers!r}")
        for name in ("margin", "race_ms", "patience", "timeout_s"):
            if not isinstance(getattr(self, name), (int, float)):
                raise TwillError(f"{name} is a number, not {getattr(self, name)!r}")
        if not 0 <= self.margin < 1:
            raise TwillError(f"margin is a share from 0 to 1, not {self.margin}")
        if not self.patience >= 0:
            raise TwillError(f"patience is a number from 0 on, not {self.patience}")
        for name in ("race_ms", "timeout_s"):
            if not 0 < getattr(self, name) < math.inf:
                raise TwillError(f"{name} is a number above 0, not {getattr(self, name)}")

    def changed(self, **changes: Any) -> Settings:
        """These settings with some changed. Raises TwillError for unknown names, values out of range, and unknown machines."""
        known = {field.name for field in dataclasses.fields(self)}
        unknown = sorted(set(changes) - known)
        if unknown:
            raise TwillError(f"no setting {unknown[0]!r}: there are {', '.join(sorted(known))}")
        machine = changes.get("machine", self.machine)
        if machine not in ("auto", self.machine, *SHIPPED) and not (isinstance(machine, (str, os.PathLike)) and os.path.isfile(machine)):
            raise TwillError(f"no machine {machine!r}: there are {', '.join(sorted(SHIPPED))}, and files of descriptions")
        if "machine" in changes:
            changes["machine"] = os.fspath(machine)
        if isinstance(changes.get("spare_registers"), list):
            changes["spare_registers"] = tuple(changes["spare_registers"])
        return dataclasses.replace(self, **changes)

    def machine_name(self, capability: int) -> str:
        """The machine description for the program, for kernels of this architecture."""
        return self.machine if self.machine != "auto" else "b200" if capability == 100 else "h200"

    def key(self) -> str:
        """All settings that change the resulting kernels, as a text: part of Triton's cache keys."""
        return repr((self.decide, machine_contents(self.machine), self.blackwell, self.spare_registers))


def machine_contents(machine: str) -> str:
    """The text of a machine's file, for keys; for a name, or a file that the program will refuse, the name itself."""
    try:
        return Path(machine).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return machine


def from_environment(environment: Mapping[str, str] = os.environ) -> Settings:
    """Settings from TWILL_BLACKWELL, TWILL_DECIDE, TWILL_INDUCTOR, TWILL_MACHINE, TWILL_PATIENCE, TWILL_PERSISTENT and TWILL_VERBOSE."""
    changes: dict[str, Any] = {}
    if environment.get("TWILL_DECIDE"):
        changes["decide"] = environment["TWILL_DECIDE"]
    if environment.get("TWILL_MACHINE"):
        changes["machine"] = environment["TWILL_MACHINE"]
    if environment.get("TWILL_PATIENCE"):
        try:
            changes["patience"] = float(environment["TWILL_PATIENCE"])
        except ValueError:
            raise TwillError(f"TWILL_PATIENCE is a number, not {environment['TWILL_PATIENCE']!r}") from None
    for name in ("blackwell", "inductor", "persistent", "verbose"):
        if environment.get(f"TWILL_{name.upper()}"):
            changes[name] = environment[f"TWILL_{name.upper()}"] != "0"
    return Settings().changed(**changes)


def parse_overlay(text: str) -> dict[str, Any]:
    """Changes for one kernel from the launch option `twill`: "always", or "decide=always machine=h100 spare_registers=16".

    Values with spaces are quoted, as in a shell. Raises TwillError.
    """
    changes: dict[str, Any] = {}
    try:
        words = shlex.split(text)
    except ValueError as wrong:
        raise TwillError(f"the launch option twill cannot be read: {wrong}") from None
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            name, value = "decide", word
        if name == "spare_registers":
            if not re.fullmatch(r"\d+(,\d+)*", value):
                raise TwillError(f"spare_registers is a number, or several with commas between, not {value!r}")
            changes[name] = tuple(int(number) for number in value.split(","))
        elif name == "persistent":
            changes[name] = value not in ("0", "False")
        elif name in ("decide", "machine"):
            changes[name] = value
        else:
            raise TwillError(f"the launch option twill knows decide, machine, persistent and spare_registers, not {name!r}")
    return changes


def overlay_text(changes: Mapping[str, Any]) -> str:
    """The launch option that parse_overlay() reads as `changes`."""
    words = []
    for name, value in sorted(changes.items()):
        written = ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
        words.append(f"{name}={shlex.quote(written)}")
    text = " ".join(words)
    Settings().changed(**parse_overlay(text))
    return text
