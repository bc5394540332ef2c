"""The launcher of kernels that Triton and Twill have both compiled: for each bucket of sizes the faster one, measured once.

A compiled kernel is plain Triton's; its metadata names the other one (`twill_kernel`). Where that is missing, or anything
goes wrong, the launch is Triton's. Twill's must be faster by the margin, in GPU time and in what the host takes to launch.
"""

from __future__ import annotations

import operator
import threading
import time
import types
from typing import Any, Callable, Sequence

from triton.backends.nvidia.compiler import CUDABackend
from triton.backends.nvidia.driver import CudaLauncher

from . import records, state, store
from .answer import first_line
from .settings import Settings

TURNS = 6  # measured turns of each side, after the warm-up
MOST_LAUNCHES = 200  # of one turn


def launcher(source: Any, metadata: Any) -> Any:
    """In the place of the driver's launcher class. What has no second kernel keeps Triton's launcher, at no cost."""
    facts = getattr(metadata, "twill_kernel", None)
    plain = CudaLauncher(source, metadata)
    if not facts:
        return plain
    try:
        return RacingLauncher(source, metadata, facts, plain)
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


def takes_twill(twill: tuple[float, float], triton: tuple[float, float], margin: float) -> bool:
    """Whether Twill's kernel wins. Each side is (GPU, host) seconds of a launch: a launch takes the longer of the two."""
    return max(twill) <= (1.0 - margin) * max(triton)


class RacingLauncher:
    """Two loaded kernels, and who takes which launches."""

    def __init__(self, source: Any, metadata: Any, facts: dict[str, Any], plain: CudaLauncher) -> None:
        from triton.runtime import driver

        cubin = store.get_cubin(facts["cubin"])
        if cubin is None:
            raise FileNotFoundError("Twill's kernel is no longer in the cache")
        self._plain = plain
        other = types.SimpleNamespace(**{**metadata._asdict(), **facts["metadata"]})
        self._twill = CudaLauncher(source, other)
        utils, device = driver.active.utils, driver.active.get_current_device()
        loaded = utils.load_binary(other.name, cubin, other.shared, device)
        self._module, self._function = loaded[0], loaded[1]
        self._packed = CUDABackend.pack_metadata(None, other)
        self._name, self._key, self._device = metadata.name, facts["key"], _device_name(device)
        kinds = list(source.signature.values())
        place = positions(kinds)
        self._read = sorted({place[number] for number in facts["read"]})
        self._written = sorted({place[number] for number in facts["written"]})
        integers = [number for number, kind in enumerate(kinds) if kind in ("i32", "i64")]
        self._pick: Callable[[Any], Any] = operator.itemgetter(*integers) if integers else lambda arguments: ()
        self._integers = integers
        self._settings = state.current()
        self._decided: dict[Any, bool] = {}
        self._lock = threading.Lock()

    def __call__(self, x: int, y: int, z: int, stream: int, function: int, packed: Any, *rest: Any) -> None:
        key = (x, y, z, self._pick(rest[3:]))
        twill = self._decided.get(key)
        if twill is None:
            twill = self._decide(key, stream, function, packed, rest)
        if twill:
            self._twill(x, y, z, stream, self._function, self._packed, *rest)
        else:
            self._plain(x, y, z, stream, function, packed, *rest)

    def _decide(self, key: Any, stream: int, function: int, packed: Any, rest: tuple[Any, ...]) -> bool:
        """Whose launch this is. Kept unless it could not be measured here."""
        grid, arguments = key[:3], rest[3:]
        bucket = bucket_of((*grid, *(arguments[number] for number in self._integers)))
        with self._lock:
            if key in self._decided:
                return self._decided[key]
            path = store.race_path(self._key, self._device, bucket)
            known = store.read_json(path) if self._settings.cache else None
            try:
                if known is None:
                    if _capturing() or self._overlaps(arguments):
                        return False
                    known = self._race(grid, stream, function, packed, arguments, bucket)
                    if self._settings.cache:
                        store.write_json(path, known)
                self._decided[key] = bool(known["takes_twill"])
            except Exception as wrong:
                self._say(bucket, 0.0, 0.0, False, first_line(wrong))
                self._decided[key] = False
            return self._decided[key]

    def _overlaps(self, arguments: Sequence[Any]) -> bool:
        """Whether memory that is written may also be read: then a second launch is another computation."""
        read = {storage_of(arguments[number]) for number in self._read}
        written = {storage_of(arguments[number]) for number in self._written}
        return None in read | written or bool(read & written)

    def _race(self, grid: tuple[int, ...], stream: int, function: int, packed: Any, arguments: Sequence[Any],
              bucket: str) -> dict[str, Any]:
        quiet = (None, None, None, *arguments)  # launch hooks are not for measurements
        twill, plain = measure(lambda: self._twill(*grid, stream, self._function, self._packed, *quiet),
                               lambda: self._plain(*grid, stream, function, packed, *quiet), stream, self._settings)
        wins = takes_twill(twill, plain, self._settings.margin)
        self._say(bucket, max(twill), max(plain), wins)
        return {"takes_twill": wins, "twill_s": twill, "triton_s": plain, "margin": self._settings.margin}

    def _say(self, bucket: str, twill: float, plain: float, wins: bool, why: str = "") -> None:
        records.add(records.Race(self._name, self._device, bucket, 1e6 * twill, 1e6 * plain, "twill" if wins else "triton", why),
                    self._settings.verbose)


def measure(first: Callable[[], None], second: Callable[[], None], stream: int,
            settings: Settings) -> tuple[tuple[float, float], tuple[float, float]]:
    """(GPU, host) seconds of a launch of each, medians of turns that alternate in order."""
    sides = (first, second)
    guess = max(_turn(side, 2, stream)[0] for side in sides)  # also loads and warms up
    launches = max(3, min(MOST_LAUNCHES, int(settings.race_ms * 1e-3 / TURNS / max(guess, 1e-6))))
    took: tuple[list[tuple[float, float]], list[tuple[float, float]]] = ([], [])
    for turn in range(TURNS + 1):
        for number in ((0, 1), (1, 0))[turn % 2]:
            seconds = _turn(sides[number], launches, stream)
            if turn > 0:
                took[number].append(seconds)
    return _medians(took[0]), _medians(took[1])


def _medians(turns: list[tuple[float, float]]) -> tuple[float, float]:
    gpu, host = (sorted(side)[len(turns) // 2] for side in zip(*turns))
    return gpu, host


def _turn(launch: Callable[[], None], launches: int, stream: int) -> tuple[float, float]:
    """(GPU, host) seconds of one of `launches` launches in a row. The GPU is kept busy while the host runs ahead."""
    import torch

    on = torch.cuda.current_stream()
    if on.cuda_stream != stream:
        on = torch.cuda.ExternalStream(stream)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(on):
        torch.cuda._sleep(60_000 * min(launches, 40))  # cycles: some 30 us for each launch
        begin.record(on)
        at = time.perf_counter()
        for _ in range(launches):
            launch()
        host = time.perf_counter() - at
        end.record(on)
    end.synchronize()
    return begin.elapsed_time(end) * 1e-3 / launches, host / launches


def _capturing() -> bool:
    import torch

    return bool(torch.cuda.is_current_stream_capturing())


def _device_name(device: int) -> str:
    import torch

    return str(torch.cuda.get_device_name(device))
