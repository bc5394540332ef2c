"""Triton's NVIDIA backend with one stage changed.

`race`: Triton's own stages run unchanged, so the compiled kernel is plain Triton's for all other code. The key of Twill's answer
is in the metadata; only the drop-in's launcher reads it. Another thread compiles Twill's kernel beside Triton's own stages. For
an autotuner's candidates, and if Inductor is loaded, that begins when the program launches one of them, unless the compilation
has patience. With patience, the compilation waits for Twill's kernel; otherwise launches look for it later.
`always`: Twill's module replaces Triton's after the TTGIR stage.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import hashlib
import time
from pathlib import Path
from typing import Any, Callable

import triton
from triton.backends.nvidia.compiler import CUDABackend, CUDAOptions

from ..locations import placed
from ..program import TwillError, find_program
from . import beside, guards, inductor, later, records, settings, state, store, tuning
from .answer import Answer, Request, answer
from .effects import Effects, NotRepeatable, address_arguments, effects_of
from .lowering import before_pipelining, new_context, parse
from .records import first_line

Stage = Callable[[Any, dict[str, Any]], Any]

_LONGEST = 1e6  # seconds: the longest wait, also with unlimited patience


@dataclasses.dataclass(frozen=True)
class TwillOptions(CUDAOptions):
    """Triton's options and one more: `twill`, the drop-in's setting for this kernel ("always", "never", ...)."""

    twill: str = ""


class TwillBackend(CUDABackend):
    """The backend that Triton finds for "nvidia" while the drop-in is on."""

    def __init__(self, target: Any) -> None:
        super().__init__(target)
        for adopt in (state.adopt_driver, inductor.adopt):
            try:
                adopt()
            except Exception as wrong:  # unknown parts of Triton or PyTorch are left unchanged
                records.log.warning("%s: %s", adopt.__module__, first_line(wrong))

    def hash(self) -> str:
        """Part of the keys of Triton's cache on disk, of the autotuner's keys, and of Inductor's."""
        return f"{super().hash()}-twill-{fingerprint(state.current().key())}"

    def parse_options(self, opts: dict[str, Any]) -> TwillOptions:
        plain = super().parse_options(opts)
        values = {field.name: getattr(plain, field.name) for field in dataclasses.fields(plain)}
        return TwillOptions(**values, twill=opts.get("twill") or "")

    def add_stages(self, stages: dict[str, Stage], options: Any, language: Any) -> None:
        super().add_stages(stages, options, language)
        if {"ttir", "ttgir", "llir", "ptx", "cubin"} <= set(stages):  # other stages are not Triton's: Gluon writes its own pipeline
            Sitting(self, options, dict(stages)).put_into(stages)


@dataclasses.dataclass(frozen=True)
class Contender:
    """A possible kernel of Twill's: facts about the module that launches need, and the request for it."""

    request: Request
    key: str
    effects: Effects


class Sitting:
    """One compilation: Triton's stages, and the kernels made beside them."""

    def __init__(self, backend: TwillBackend, options: Any, real: dict[str, Stage]) -> None:
        self._backend, self._options, self._real = backend, options, real
        self._capability: int = backend._parse_arch(options.arch)
        self._settings = state.current()
        self._begin = 0.0
        self._kernel = ""
        self._ttir = ""
        self._contender: Contender | None = None
        self._answer: concurrent.futures.Future[Answer] | None = None
        self._row: records.Compilation | None = None  # the last row that was reported
        self._kept: list[tuple[Any, Any]] = []  # replaces later stages: their expected inputs and their results

    def put_into(self, stages: dict[str, Stage]) -> None:
        """Replaces Triton's stages by the drop-in's, which call Triton's."""
        stages["ttgir"] = self._ttgir
        stages["llir"] = functools.partial(self._later, "llir")
        stages["ptx"] = functools.partial(self._later, "ptx")
        stages["cubin"] = self._cubin

    def _ttgir(self, module: Any, metadata: dict[str, Any]) -> Any:
        self._begin = time.perf_counter()
        try:
            mine = self._of_twill(module, metadata)
        except Exception as wrong:  # bugs of the drop-in included: they must not stop a program
            self._say("triton", first_line(wrong))
            mine = None
        return self._real["ttgir"](module, metadata) if mine is None else mine

    def _of_twill(self, module: Any, metadata: dict[str, Any]) -> Any:
        """Twill's module in place of Triton's, or None if Triton's own stage is next, with `module` unchanged."""
        self._ttir = str(module)
        if "tt.dot" not in self._ttir:
            return None
        self._kernel = module.get_entry_func_name()
        self._settings = self._settings.changed(**settings.parse_overlay(getattr(self._options, "twill", "")))
        why = self._refused_in_advance()
        if why:
            self._say("triton", why)
        elif self._settings.decide == "always":
            return self._instead(module, metadata)
        else:
            self._name_contender(metadata)
        return None

    def _refused_in_advance(self) -> str:
        if self._settings.decide == "never":
            return "decide is never"
        option = guards.refused_option(self._options)
        return (f"the option {option} is left to Triton" if option else "") or guards.refused_knob() or \
            guards.refused_target(self._capability, self._settings.blackwell)

    def _request(self, metadata: dict[str, Any]) -> tuple[Request, str]:
        """The request about the module, and its key; its text is on disk then. Raises TwillError, and the errors of Triton's passes."""
        text = before_pipelining(self._ttir, self._options, self._capability, self._backend)
        request = Request(text, self._options, metadata, self._capability, self._backend, self._settings, find_program())
        key = request.key()
        store.write_whole(store.text_path(key), text.encode())
        return request, key

    # ---- decide = "always"
    def _instead(self, module: Any, metadata: dict[str, Any]) -> Any:
        """Twill's module in the caller's context, or None if it is refused. Raises the errors of Triton's passes."""
        found = answer(*self._request(dict(metadata)))
        if found.complaint:
            self._say("triton", found.complaint, found)
            return None
        mine = parse(found.module, module.context, ".ttgir")
        metadata["tensordesc_meta"] = mine.get_tensordesc_metadata()
        if found.compiled is not None:
            made = found.compiled
            metadata.update(made.metadata)
            self._kept = [(mine, made.llir), (made.llir, made.ptx), (made.ptx, made.cubin)]
        self._say("twill", "", found)
        return mine

    def _later(self, name: str, source: Any, metadata: dict[str, Any]) -> Any:
        """A stage after TTGIR: the stored result for its input, else Triton's own stage."""
        for handed, product in self._kept:
            if source is handed:
                return product
        return self._real[name](source, metadata)

    # ---- decide = "race"
    def _name_contender(self, metadata: dict[str, Any]) -> None:
        """Finds the name of Twill's kernel, and begins it unless it may be a candidate's. Raises TwillError, and the errors of Triton's passes."""
        try:
            effects = self._effects()
        except NotRepeatable as wrong:
            self._say("triton", f"no race, since a kernel that runs twice must do the same: {wrong}; "
                                "decide=\"always\" takes Twill's without one")
            return
        self._contender = Contender(*self._request(dict(metadata)), effects)
        self._answer = later.on_disk(self._contender.key) if self._settings.cache else None
        if self._answer is None and (self._settings.patience > 0 or not (tuning.now() or inductor.loaded())):
            self._answer = later.begin(self._contender.request, self._contender.key)

    def _effects(self) -> Effects:
        module = parse(self._ttir, new_context(self._backend), ".ttir")
        with beside.native():
            return effects_of(module, address_arguments(module))

    def _cubin(self, source: Any, metadata: dict[str, Any]) -> Any:
        """The last stage: Triton's own, with the other kernel's name in the metadata if that kernel exists, or may exist soon."""
        product = self._later("cubin", source, metadata)
        took = time.perf_counter() - self._begin
        contender = self._contender
        try:
            if contender is not None and self._may_race(contender, self._settings.patience * took):
                metadata["twill_kernel"] = {"key": contender.key, "read": contender.effects.read, "written": contender.effects.written}
        except Exception as wrong:
            self._say("triton", first_line(wrong))
        if self._row is not None:
            records.compiled(self._row, metadata)
        return product

    def _may_race(self, contender: Contender, seconds: float) -> bool:
        """Whether launches have two kernels to choose from, or may have two when an answer comes later."""
        if self._answer is None:
            self._say("race", "Twill's kernel is made when the program launches this one, and not an autotuner", Answer(contender.key, ""))
            return True
        try:
            found = self._answer.result(min(seconds, _LONGEST))
        except concurrent.futures.TimeoutError:
            self._say("race", records.BEING_MADE, Answer(contender.key, ""))
            self._answer.add_done_callback(_settle)
            return True
        self._say("race" if found.accepted else "triton", found.complaint, found)
        return found.accepted

    def _say(self, runs: str, why: str, found: Answer | None = None) -> None:
        """Adds a row to the report. If Triton's kernel runs, its reason begins with a line of the user's source."""
        why = placed(why, self._ttir) if runs == "triton" else why
        row = records.Compilation(self._kernel, self._options.num_warps, self._options.num_stages, self._capability, runs, why,
                                  time.perf_counter() - self._begin)
        if found is not None:
            row = dataclasses.replace(row, from_cache=found.from_cache, spare_registers=found.spare_registers, key=found.key)
        self._row = row
        records.add(row, self._settings.verbose)


def _settle(answer: concurrent.futures.Future[Answer]) -> None:
    """Has reports tell the outcome of an answer that came after its compilation."""
    found = answer.result()
    records.settle(found.key, "race" if found.accepted else "triton", found.complaint)


@functools.lru_cache(maxsize=None)
def _sources() -> str:
    """Hash of this package's contents: another version of it makes other kernels."""
    files = sorted(Path(__file__).resolve().parent.glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def fingerprint(settings_key: str) -> str:
    """16 hexadecimal digits of settings, program and this package. Raises no errors: files may have gone since the start."""
    try:
        parts = find_program().fingerprint(), _sources()
    except (TwillError, OSError):
        parts = "none", ""
    return store.key_of(settings_key, *parts, triton.__version__)[:16]
