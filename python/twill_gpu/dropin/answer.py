"""The answer about one module: Twill's kernel compiled to machine code, or why Triton's own is taken."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

import triton
from triton._C.libtriton import get_cache_invalidating_env_vars

from ..locations import of_source, placed
from ..program import Diagnostic, Program, ProgramNotFound, Refused, TimedOut
from . import store
from .lowering import Compiled, NoCode, compile_printed
from .records import first_line
from .settings import Settings, machine_contents

# Bytes of shared memory that a CTA of sm_90 and sm_100 may have; programs see less only where a driver keeps more for itself.
MOST_SHARED = 232448


@dataclasses.dataclass(frozen=True)
class Answer:
    """What became of one module. `why` is "" where there is a kernel; then the rest is about that."""

    key: str
    why: str
    module: str = ""  # as Twill printed it
    cubin: str = ""  # its name in the store
    metadata: dict[str, Any] = dataclasses.field(default_factory=dict)
    spare_registers: int = 0
    compiled: Compiled | None = None  # of this process; None from disk
    from_cache: bool = False

    @property
    def accepted(self) -> bool:
        return not self.why


@dataclasses.dataclass(frozen=True)
class Request:
    """A module to be scheduled, and everything that its kernel depends on."""

    text: str
    options: Any
    metadata: dict[str, Any]
    capability: int
    backend: Any
    settings: Settings
    program: Program

    def key(self) -> str:
        """Of the answer on disk: num_stages is not in it, since it changes nothing before pipelining."""
        options = {name: value for name, value in vars(self.options).items() if name not in ("num_stages", "twill", "debug")}
        return store.key_of(self.text, str(sorted(options.items(), key=str)), machine_contents(self.settings.machine_name(self.capability)),
                            repr(self.settings.spare_registers), self.program.fingerprint(), triton.__version__,
                            ptxas_version(self.backend), str(sorted(get_cache_invalidating_env_vars().items())))


def ptxas_version(backend: Any) -> str:
    """The version of the ptxas that Triton will call, as Triton's own keys have it."""
    from triton.backends.nvidia import compiler as nvidia

    return str(nvidia.get_ptxas_version(backend.target.arch))


def answer(request: Request, key: str) -> Answer:
    """The answer about `request`, whose key is `key`: from disk if it is there, else asked for, compiled and kept there."""
    kept = store.get_answer(key) if request.settings.cache else None
    if kept is not None:
        return Answer(key=key, from_cache=True, **kept)
    found, lasting = _answer_anew(request, key)
    if found.why:
        found = dataclasses.replace(found, why=placed(found.why, request.text))
    if lasting and request.settings.cache:
        store.write_json(store.answer_path(key), {name: getattr(found, name) for name in store.ANSWER})
    return found


def _answer_anew(request: Request, key: str) -> tuple[Answer, bool]:
    """The answer, and whether another process would get the same one (not where a time limit or a crash decided)."""
    why, tried = "", set[str]()
    for spare, alone in _attempts(request):
        try:
            module = printed(request, spare, alone)
        except Refused as wrong:
            if alone:
                continue
            return Answer(key, why or reason(request.text, wrong)), wrong.exit_code != 1
        except (TimedOut, ProgramNotFound) as wrong:
            return Answer(key, str(wrong)), False
        bare = re.sub(r"^//.*\n", "", module, flags=re.MULTILINE)  # remarks say how many registers were kept free
        if bare in tried:  # more to spare changed nothing: ptxas would say the same
            continue
        tried.add(bare)
        try:
            compiled = compile_printed(module, request.metadata, request.options, request.capability, request.backend)
        except NoCode as wrong:
            why = first_line(wrong)
            continue
        except Exception as wrong:  # Triton's stages raise what they like
            return Answer(key, f"Triton does not compile the printed module: {first_line(wrong)}"), False
        why = compiled.complaint(MOST_SHARED)
        if not why:
            return Answer(key, "", module, store.put_cubin(compiled.cubin), compiled.metadata, spare,
                          compiled), True
    return Answer(key, why), True


def _attempts(request: Request) -> Iterator[tuple[int, bool]]:
    """Registers to spare, and whether a CTA has its SM alone, one attempt after the other.

    Without registers to spare the program may have two CTAs share an SM. What ptxas spills then, it mostly keeps with a CTA alone.
    """
    for spare in request.settings.spare_registers:
        yield spare, False
        if not spare:
            yield spare, True


def printed(request: Request, spare_registers: int, alone: bool) -> str:
    """The module as Twill prints it. Raises what Program.run() does."""
    arguments = ["emit", "ttgir", "-", "--machine", request.settings.machine_name(request.capability)]
    if spare_registers:
        arguments += ["--spare-registers", str(spare_registers)]
    if alone:
        arguments += ["--ctas-per-sm", "1"]
    text = request.program.run(arguments, request.text, request.settings.timeout_s)
    if "tt.func" not in text:
        raise Refused(1, Diagnostic("", 0, 0, "twill emit ttgir printed no function"))
    return text


def reason(text: str, refused: Refused) -> str:
    """One line for a refusal, with the user's source line where the module has locations."""
    said = refused.diagnostic
    if refused.exit_code == 2 and "ttgir" in said.message:
        return "this program has no `twill emit ttgir`: it is older than this package"
    placed_there = of_source(said, text)
    return str(placed_there) if placed_there is not said else said.message
