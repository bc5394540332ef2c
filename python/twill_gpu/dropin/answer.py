"""The answer about one module: Twill's kernel compiled to machine code, or the reason why Triton's kernel is used."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import re
from typing import Any, Iterator, Sequence

import triton
from triton._C.libtriton import get_cache_invalidating_env_vars

from ..locations import of_source, placed
from ..program import Diagnostic, Program, ProgramNotFound, Refused, TimedOut
from . import store
from .lowering import Compiled, NoCode, compile_printed
from .records import first_line
from .settings import Settings, machine_contents

# Bytes of shared memory that a CTA of sm_90 and sm_100 may have. Programs see less only if a driver reserves more.
MOST_SHARED = 232448
_SHARES_AN_SM = "ttg.maxnreg"  # an attribute of modules of which an SM holds two CTAs at once
_ATTEMPTS = "2"  # version of the order of attempts: part of keys


@dataclasses.dataclass(frozen=True)
class Answer:
    """Outcome for one module. `why` is "" if there is a kernel; the other members then describe the kernel."""

    key: str
    why: str
    module: str = ""  # as printed by Twill
    cubin: str = ""  # name of the machine code in the store
    metadata: dict[str, Any] = dataclasses.field(default_factory=dict)
    spare_registers: int = 0
    spilled: int = 0  # bytes of registers that a thread keeps in memory: such a kernel must win a race
    compiled: Compiled | None = None  # of this process; None from disk
    from_cache: bool = False

    @property
    def accepted(self) -> bool:
        """Whether there is a kernel."""
        return not self.why

    @property
    def complaint(self) -> str:
        """Reason why the kernel, if there is one, is not used without a race; "" if it may be."""
        return self.why or (f"ptxas spills {self.spilled} bytes" if self.spilled else "")


@dataclasses.dataclass(frozen=True)
class Request:
    """A module to be scheduled, and all facts on which its kernel depends."""

    text: str
    options: Any
    metadata: dict[str, Any]
    capability: int
    backend: Any
    settings: Settings
    program: Program

    def key(self) -> str:
        """Key of the answer on disk. It leaves out num_stages, which changes nothing before pipelining."""
        options = {name: value for name, value in vars(self.options).items() if name not in ("num_stages", "twill", "debug")}
        return store.key_of(self.text, str(sorted(options.items(), key=str)), machine_contents(self.settings.machine_name(self.capability)),
                            _ATTEMPTS, repr(self.settings.spare_registers), self.program.fingerprint(), triton.__version__,
                            ptxas_version(self.backend), str(sorted(get_cache_invalidating_env_vars().items())))


@dataclasses.dataclass(frozen=True)
class Attempt:
    """Options with which the program is asked for a module. ctas_per_sm: 0 leaves the choice to the program."""

    spare_registers: int
    ctas_per_sm: int = 0


def ptxas_version(backend: Any) -> str:
    """The version of the ptxas that Triton will call, as in Triton's own keys."""
    from triton.backends.nvidia import compiler as nvidia

    return str(nvidia.get_ptxas_version(backend.target.arch))


def answer(request: Request, key: str) -> Answer:
    """The answer about `request`, whose key is `key`: from disk if possible, else from the program, compiled and stored."""
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
    """The answer, and whether another process would get the same one (not if a time limit or a crash decided).

    Takes the first kernel without complaints; if there is none, the kernel that spills least.
    """
    why, lasting, tried, found = "", True, set[str](), list[Answer]()
    todo = collections.deque(Attempt(spare) for spare in request.settings.spare_registers)
    while todo:
        attempt = todo.popleft()
        try:
            with printed(request, attempt) as module:  # compiled while the program checks it
                bare = re.sub(r"^//.*\n", "", module, flags=re.MULTILINE)  # the removed remarks state how many registers were kept free
                compiled = None if bare in tried else _compiled(request, module)
        except Refused as wrong:
            why, lasting = why or reason(request.text, wrong), lasting and wrong.exit_code > 1  # negative: ended by a signal
            if not tried:
                break
            continue
        except (TimedOut, ProgramNotFound) as wrong:
            return _least_spilling(found) or Answer(key, str(wrong)), False
        if compiled is None:  # more spare registers changed nothing: ptxas would report the same
            continue
        tried.add(bare)
        if _SHARES_AN_SM in module:  # half of the registers: without company, the plan is the same or nearly so
            todo.appendleft(dataclasses.replace(attempt, ctas_per_sm=1))
        if isinstance(compiled, NoCode):
            why = first_line(compiled)
            continue
        if isinstance(compiled, Exception):
            return _least_spilling(found) or Answer(key, f"Triton does not compile the printed module: {first_line(compiled)}"), False
        why = compiled.complaint(MOST_SHARED)
        if not why:
            found.append(Answer(key, "", module, "", compiled.metadata, attempt.spare_registers, compiled.spilled, compiled))
            if not compiled.spilled:
                lasting = True
                break
    return _least_spilling(found) or Answer(key, why), lasting


def _compiled(request: Request, module: str) -> Compiled | Exception:
    """The kernel of a printed module, or the error: Triton's stages raise exceptions of any kind."""
    try:
        return compile_printed(module, request.metadata, request.options, request.capability, request.backend)
    except Exception as wrong:
        return wrong


def _least_spilling(found: Sequence[Answer]) -> Answer | None:
    """The best of some kernels, now in the store; the first of equal ones. None without a kernel."""
    if not found:
        return None
    best = min(found, key=lambda one: one.spilled)
    assert best.compiled is not None
    return dataclasses.replace(best, cubin=store.put_cubin(best.compiled.cubin))


@contextlib.contextmanager
def printed(request: Request, attempt: Attempt) -> Iterator[str]:
    """The module printed by Twill, which the program checks during the block. Raises like Program.text_first()."""
    arguments = ["emit", "ttgir", "-", "--machine", request.settings.machine_name(request.capability)]
    if attempt.spare_registers:
        arguments += ["--spare-registers", str(attempt.spare_registers)]
    if attempt.ctas_per_sm:
        arguments += ["--ctas-per-sm", str(attempt.ctas_per_sm)]
    with request.program.text_first(arguments, request.text, request.settings.timeout_s) as text:
        if "tt.func" not in text:
            raise Refused(1, Diagnostic("", 0, 0, "twill emit ttgir printed no function"))
        yield text


def reason(text: str, refused: Refused) -> str:
    """One line for a refusal, with the user's source line if the module has locations."""
    said = refused.diagnostic
    if refused.exit_code == 2 and "ttgir" in said.message:
        return f"the program twill is older than this package: {said.message}"
    placed_there = of_source(said, text)
    return str(placed_there) if placed_there is not said else said.message
