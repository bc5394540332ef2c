"""The launcher of kernels that Triton and Twill have both compiled: for each bucket of sizes the faster one, measured once.

A compiled kernel is plain Triton's; its metadata names the answer that has the other one (`twill_kernel`). Where that is
missing or not there yet, or anything goes wrong, the launch is Triton's.
"""

from __future__ import annotations

import concurrent.futures
import threading
import types
from typing import Any, Callable, Sequence

from triton.backends.nvidia.compiler import CUDABackend
from triton.backends.nvidia.driver import CudaLauncher

from ..program import TwillError
from . import call, contest, later, records, state, store
from .answer import Answer
from .records import first_line


MOST_SIZES = 10_000  # grids and integers that a kernel keeps in memory: programs whose sizes never repeat do not grow for ever


def launcher(source: Any, metadata: Any) -> Any:
    """In the place of the driver's launcher class. What has no second kernel keeps Triton's launcher, at no cost."""
    facts = getattr(metadata, "twill_kernel", None)
    plain = CudaLauncher(source, metadata)
    if not facts:
        return plain
    try:
        racer = Racer(source, metadata, facts, plain)
        racer.look()
        return racer.call
    except Exception as wrong:  # a launcher that cannot be made must not stop a program
        records.add(records.Race(metadata.name, "", "", 0.0, 0.0, "triton", first_line(wrong)), state.current().verbose)
        return plain


def positions(signature: Sequence[Any]) -> list[int]:
    """For each argument of the compiled function, which of the caller's arguments it belongs to.

    A descriptor of rank r is 1 + 2r arguments of the function; constants are none.
    """
    place: list[int] = []
    for number, kind in enumerate(signature):
        if isinstance(kind, tuple) or kind.startswith("tensordesc_im2col"):
            raise ValueError("tuples and im2col descriptors have no known place among the function's arguments")
        if kind.startswith("tensordesc"):
            rank = kind[kind.index("["):kind.index("]")].count(",") + 1
            place += [number] * (1 + 2 * rank)
        elif kind != "constexpr":
            place.append(number)
    return place


def bucket_of(numbers: Sequence[int]) -> str:
    """Launches whose grid and integers have as many bits each share a decision."""
    return "_".join(str(int(number).bit_length()) for number in numbers)


def storage_of(argument: Any) -> int | None:
    """Where the memory of a tensor or descriptor begins that others may share; None where that is not known."""
    tensor = getattr(argument, "base", None)
    tensor = argument if tensor is None else tensor
    try:
        return int(tensor.untyped_storage().data_ptr())
    except AttributeError:
        return None


class Racer:
    """Triton's kernel, Twill's when it is there, and who takes which launches. `call` is what Triton launches by."""

    def __init__(self, source: Any, metadata: Any, facts: dict[str, Any], plain: CudaLauncher) -> None:
        kinds = list(source.signature.values())
        place = positions(kinds)
        self._source, self._metadata, self._plain = source, metadata, plain
        self._key: str = facts["key"]
        self._read = sorted({place[number] for number in facts["read"]})
        self._written = sorted({place[number] for number in facts["written"]})
        self._integers = [number for number, kind in enumerate(kinds) if kind in ("i32", "i64")]
        self._settings = state.current()
        self._twill: Callable[..., None] | None = None
        self._device = ""
        self._off = False  # Twill's kernel will not come
        # By grid and integers: the call that launches Twill's kernel, or False. And by bucket: whether Twill wins.
        self._decided: dict[Any, Any] = {}
        self._buckets: dict[str, bool] = {}
        self._lock = threading.Lock()
        self._answer: concurrent.futures.Future[Answer] = later.find(self._key, metadata)
        self.call = call.decided_call(plain, self._integers, self._decided, self._decide)

    def look(self) -> bool:
        """Loads Twill's kernel once its answer is there. Raises TwillError for a refusal, and what loading raises."""
        if self._twill is None and self._answer.done():
            found = self._answer.result()
            if not found.accepted:
                raise TwillError(found.why)
            self._twill, self._device = load(self._source, self._metadata, found)
        return self._twill is not None

    def _decide(self, key: Any, stream: int, function: int, packed: Any, arguments: Sequence[Any]) -> Any:
        """Whose launch this is, as in `decided`. Kept unless it could not be measured here."""
        try:
            return self._decided_now(key, stream, function, packed, arguments)
        except Exception as wrong:  # what comes of a launch must not stop a program: it is Triton's, and so are all to come
            self._off, self._decided[key] = True, False
            self._say("", 0.0, 0.0, False, first_line(wrong))
            return False

    def _decided_now(self, key: Any, stream: int, function: int, packed: Any, arguments: Sequence[Any]) -> Any:
        if not self._answer.done() or self._twill is None and not self._off and _capturing():
            return False
        grid = key[:3]
        bucket = bucket_of((*grid, *(arguments[number] for number in self._integers)))
        with self._lock:
            if key not in self._decided:
                wins = self._judged(grid, stream, function, packed, arguments, bucket)
                if wins is None:
                    return False
                if len(self._decided) >= MOST_SIZES:
                    self._decided.clear()
                self._decided[key] = self._twill if wins else False
            return self._decided[key]

    def _judged(self, grid: tuple[int, ...], stream: int, function: int, packed: Any, arguments: Sequence[Any], bucket: str) -> bool | None:
        """Like _wins(), and Triton's where anything fails: for good if that is Twill's kernel itself."""
        if self._off:
            return False
        try:
            self.look()
            return self._wins(grid, stream, function, packed, arguments, bucket)
        except Exception as wrong:
            self._off = self._twill is None
            self._say(bucket, 0.0, 0.0, False, first_line(wrong))
            return False

    def _wins(self, grid: tuple[int, ...], stream: int, function: int, packed: Any, arguments: Sequence[Any], bucket: str) -> bool | None:
        """Whether Twill's kernel takes such launches: decided before, or by a contest here; None where there can be none."""
        if bucket in self._buckets:
            return self._buckets[bucket]
        path = store.race_path(self._key, self._device, bucket)
        known = store.read_json(path) if self._settings.cache else None
        if known is None:
            if _capturing() or self._overlaps(arguments):
                return None
            known = self._contest(grid, stream, function, packed, arguments, bucket)
            if self._settings.cache:
                store.write_json(path, known)
        self._buckets[bucket] = bool(known["takes_twill"])
        return self._buckets[bucket]

    def _overlaps(self, arguments: Sequence[Any]) -> bool:
        """Whether memory that is written may also be read: then a second launch is another computation."""
        read = {storage_of(arguments[number]) for number in self._read}
        written = {storage_of(arguments[number]) for number in self._written}
        return None in read | written or bool(read & written)

    def _contest(self, grid: tuple[int, ...], stream: int, function: int, packed: Any, arguments: Sequence[Any],
                 bucket: str) -> dict[str, Any]:
        quiet = (stream, function, packed, None, None, None, *arguments)  # launch hooks are not for measurements
        twill, plain = self._twill, call.one_kernel(self._plain, function, packed)  # the same way for the host on both sides
        assert twill is not None
        found = contest.decide(lambda: twill(*grid, *quiet), lambda: plain(*grid, *quiet), contest.timer_on(stream), self._settings)
        self._say(bucket, max(found.twill), max(found.triton), found.takes_twill)
        return {"takes_twill": found.takes_twill, "twill_s": found.twill, "triton_s": found.triton, "turns": found.turns,
                "margin": self._settings.margin}

    def _say(self, bucket: str, twill: float, plain: float, wins: bool, why: str = "") -> None:
        records.add(records.Race(self._metadata.name, self._device, bucket, 1e6 * twill, 1e6 * plain, "twill" if wins else "triton", why),
                    self._settings.verbose)


def load(source: Any, metadata: Any, found: Answer) -> tuple[Callable[..., None], str]:
    """Twill's kernel on the current device: the call that launches it in the place of Triton's, and the device's name."""
    from triton.runtime import driver

    cubin = store.get_cubin(found.cubin)
    if cubin is None:
        raise TwillError("Twill's kernel is no longer in the cache")
    other = types.SimpleNamespace(**{**metadata._asdict(), **found.metadata})
    utils, device = driver.active.utils, driver.active.get_current_device()
    function = utils.load_binary(other.name, cubin, other.shared, device)[1]
    packed = CUDABackend.pack_metadata(None, other)
    return call.one_kernel(CudaLauncher(source, other), function, packed), _device_name(device)


def _capturing() -> bool:
    import torch

    return bool(torch.cuda.is_current_stream_capturing())


def _device_name(device: int) -> str:
    import torch

    return str(torch.cuda.get_device_name(device))
