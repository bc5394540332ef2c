"""The launcher of kernels that Triton and Twill have both compiled: for each bucket of sizes the fastest kernel, measured once.

A compiled kernel is plain Triton's; its metadata names the answer with the other kernel (`twill_kernel`). If that is missing or
not finished, or an error occurs, the launch is Triton's. If launches have many tiles, a third kernel comes later, which walks
the tiles.
"""

from __future__ import annotations

import collections
import concurrent.futures
import dataclasses
import threading
import types
from typing import Any, Callable, Sequence

from triton.backends.nvidia.compiler import CUDABackend
from triton.backends.nvidia.driver import CudaLauncher

from ..program import TwillError
from . import call, contest, inductor, later, over_tiles, records, settings, state, store, tuning
from .answer import Answer
from .records import first_line


OVER_TILES = "twill over tiles"
MOST_SHARING = 50  # launches of a bucket whose arguments share memory; after these, the bucket is Triton's for good


def launcher(source: Any, metadata: Any) -> Any:
    """Replaces the driver's launcher class. A kernel without a second kernel keeps Triton's launcher, at no cost."""
    facts = getattr(metadata, "twill_kernel", None)
    records.know(metadata, state.current().verbose)
    plain = CudaLauncher(source, metadata)
    if not facts:
        return plain
    try:
        inductor.adopt()  # also in a process that makes no backend, since it finds all kernels compiled
        racer = Racer(source, metadata, facts, plain)
        racer.look()
        return racer.call
    except Exception as wrong:  # a launcher that cannot be made must not stop a program
        records.add(records.Race(metadata.name, "", "", 0.0, 0.0, "triton", first_line(wrong)), state.current().verbose)
        return plain


def positions(signature: Sequence[Any]) -> list[int]:
    """For each argument of the compiled function, the number of the caller's argument to which it belongs.

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


def bits_of(numbers: Sequence[int]) -> tuple[int, ...]:
    """Key of a decision: launches share it if their grids and integers have as many bits each."""
    try:
        return tuple(map(int.bit_length, numbers))
    except TypeError:  # integers of another kind, such as NumPy's
        return tuple(int(number).bit_length() for number in numbers)


def bucket_of(numbers: Sequence[int]) -> str:
    """Name of the sizes that share a decision."""
    return "_".join(map(str, bits_of(numbers)))


def storage_of(argument: Any) -> int | None:
    """Address of a tensor's or descriptor's memory, which other arguments may share; None if it is unknown."""
    tensor = getattr(argument, "base", None)
    tensor = argument if tensor is None else tensor
    try:
        return int(tensor.untyped_storage().data_ptr())
    except AttributeError:
        return None


@dataclasses.dataclass
class Side:
    """A kernel of Twill's: its answer, and the call that launches it once it is loaded."""

    name: str
    key: str  # of the answer
    answer: concurrent.futures.Future[Answer] | None  # None: not requested yet
    load: Callable[[Answer], tuple[Callable[..., None], str]]
    call: Callable[..., None] | None = None
    device: str = ""
    off: bool = False  # whether it will never come

    def look(self) -> bool:
        """Loads the kernel once its answer is finished. Raises TwillError for a refusal, and errors of loading."""
        if self.call is None and self.answer is not None and self.answer.done():
            found = self.answer.result()
            if not found.accepted:
                raise TwillError(found.why)
            self.call, self.device = self.load(found)
        return self.call is not None


class Racer:
    """Triton's kernel, Twill's finished kernels, and the kernel for each launch. Triton launches by `call`.

    Triton's kernel has all launches first; each new kernel of Twill's then races the kernel that has them.
    """

    def __init__(self, source: Any, metadata: Any, facts: dict[str, Any], plain: CudaLauncher) -> None:
        kinds = list(source.signature.values())
        place = positions(kinds)
        self._source, self._metadata, self._plain = source, metadata, plain
        self._key: str = facts["key"]
        self._read = sorted({place[number] for number in facts["read"]})
        self._written = sorted({place[number] for number in facts["written"]})
        self._integers = [number for number, kind in enumerate(kinds) if kind in ("i32", "i64")]
        self._settings = state.current().changed(**settings.parse_overlay(getattr(metadata, "twill", "")))
        self._device = _current_device()  # Triton has loaded its kernel there; Twill's is loaded and measured there, too
        self._processors = 0  # of the device, once they are known
        # By grid and integers: the call that launches Twill's kernel, or False. The same by their numbers of bits and whether there are tiles to
        # walk. And by kernels and bucket: whether the new kernel wins, and the number of launches that shared memory.
        self._decided: dict[Any, Any] = {}
        self._decided_bits: dict[Any, Any] = {}
        self._buckets: dict[tuple[str, str, str], bool] = {}
        self._sharing: collections.Counter[tuple[str, str, str]] = collections.Counter()
        self._lock = threading.Lock()
        self._one_tile = Side("twill", self._key, later.known(self._key), lambda found: load(source, metadata, found))
        self._over_tiles: Side | None = None
        self.call = call.decided_call(plain, self._integers, self._decided, self._decide)

    def look(self) -> bool:
        """Loads Twill's kernel once its answer is finished. Raises TwillError for a refusal, and errors of loading."""
        return self._one_tile.look()

    def _decide(self, key: Any, stream: int, function: int, packed: Any, arguments: Sequence[Any]) -> Any:
        """The kernel of this launch, as in `decided`. Stored unless it could not be measured here."""
        try:
            if self._decided_bits:
                with self._lock:
                    takes = self._decided_bits.get(self._bits(key))
                    if takes is not None:
                        self._keep(key, takes)
                        return takes
            return self._decided_now(key, stream, function, packed, arguments)
        except Exception as wrong:  # an error at a launch must not stop a program: this launch, and all to come, are Triton's
            self._one_tile.off, self._settings = True, self._settings.changed(persistent=False)
            self._over_tiles, self._decided[key] = None, False
            self._say(self._one_tile, "triton", "", first_line(wrong))
            return False

    def _decided_now(self, key: Any, stream: int, function: int, packed: Any, arguments: Sequence[Any]) -> Any:
        if _current_device() != self._device:  # a launch by a stream of this device, while another device is current
            return False
        first = self._one_tile
        if first.answer is None:
            if tuning.now():
                return False
            first.answer = later.find(self._key, self._metadata)
        try:
            self._begin_over_tiles(key[:3], first.answer)
        except Exception as wrong:
            self._settings = self._settings.changed(persistent=False)
            records.add(records.Race(self._metadata.name, first.device, "", 0.0, 0.0, "triton", first_line(wrong), OVER_TILES), self._settings.verbose)
        if not first.answer.done() or first.call is None and not first.off and _capturing():
            return False
        with self._lock:
            if key not in self._decided:
                takes, lasting = self._taker(key[:3], stream, function, packed, arguments)
                if not lasting:
                    return takes
                self._decided_bits[self._bits(key)] = takes
                self._keep(key, takes)
            return self._decided[key]

    def _bits(self, key: Sequence[int]) -> tuple[Any, ...]:
        """Key of a decision: sizes with the same key share the decision."""
        return self._settings.persistent and self._walks(key[0], key[1], key[2]), *bits_of(key)

    def _keep(self, key: Any, takes: Any) -> None:
        if len(self._decided) >= call.MOST_SIZES:
            self._decided.clear()
        self._decided[key] = takes

    # ---- the kernel that walks tiles
    def _begin_over_tiles(self, grid: tuple[int, ...], first: concurrent.futures.Future[Answer]) -> None:
        """Begins the kernel that walks tiles, at the program's first launch with enough tiles, if that kernel does not exist yet."""
        if self._over_tiles is not None or not self._settings.persistent or self._one_tile.off or tuning.now() or not self._walks(*grid):
            return
        source, metadata = with_grid(self._source), self._metadata
        answer = later.begin_over_tiles(self._key, metadata, first,
                                        lambda found: CudaLauncher(source, merged(metadata, found)))  # some Tritons build the launcher, and keep it
        processors = self._processors
        self._over_tiles = Side(OVER_TILES, over_tiles.key_of(self._key), answer, lambda found: load(source, metadata, found, processors))
        answer.add_done_callback(lambda _: self._decide_again())

    def _walks(self, x: int, y: int, z: int) -> bool:
        """Whether a launch has tiles to walk: with fewer than two for each SM, there is hardly anything to gain."""
        self._processors = self._processors or _processors()
        return 2 * self._processors <= x * y * z < over_tiles.MOST_TILES

    def _decide_again(self) -> None:
        """Forgets decisions, since there is a new kernel. Called beside launches."""
        with self._lock:
            self._decided.clear()
            self._decided_bits.clear()

    # ---- who takes a launch
    def _taker(self, grid: tuple[int, ...], stream: int, function: int, packed: Any, arguments: Sequence[Any]) -> tuple[Any, bool]:
        """The kernel of this launch, as in `decided`, and whether all its contenders were finished."""
        bucket = bucket_of((*grid, *(arguments[number] for number in self._integers)))
        takes, lasting = None, True
        for side in (self._one_tile, self._over_tiles):
            if side is None or side.answer is None or not side.answer.done() or side is self._over_tiles and not self._walks(*grid):
                continue
            wins = self._judged(side, takes, grid, stream, function, packed, arguments, bucket)
            lasting = lasting and wins is not None
            takes = side if wins else takes
        return takes.call if takes is not None else False, lasting

    def _judged(self, side: Side, held: Side | None, grid: tuple[int, ...], stream: int, function: int, packed: Any, arguments: Sequence[Any],
                bucket: str) -> bool | None:
        """Like _wins(), but no if an error occurs: for good if the kernel itself fails."""
        if side.off or self._one_tile.off:
            return False
        try:
            if side.call is None and _capturing():
                return None
            side.look()
            return self._wins(side, held, grid, stream, function, packed, arguments, bucket)
        except Exception as wrong:
            side.off = side.call is None
            self._say(side, name_of(held), bucket, first_line(wrong))
            return False

    def _wins(self, side: Side, held: Side | None, grid: tuple[int, ...], stream: int, function: int, packed: Any, arguments: Sequence[Any],
              bucket: str) -> bool | None:
        """Whether a kernel takes such launches from `held`: decided before, or by a contest here; None if no contest is possible."""
        decision = side.name, name_of(held), bucket
        if decision in self._buckets:
            return self._buckets[decision]
        path = store.race_path(side.key, side.device, bucket)
        known = store.read_json(path) if self._settings.cache else None
        if known is None or [known.get(name) for name in ("held", "margin", "rules")] != [name_of(held), self._settings.margin, contest.RULES]:
            if _capturing():
                return None
            if self._overlaps(arguments):
                return self._left(side, held, decision)
            known = self._contest(side, held, grid, stream, function, packed, arguments, bucket)
            if self._settings.cache:
                store.write_json(path, known)
        else:
            self._say(side, side.name if known["wins"] else name_of(held), bucket, held=name_of(held), new_s=max(known["new_s"]),
                      held_s=max(known["held_s"]), from_cache=True)
        self._buckets[decision] = bool(known["wins"])
        return self._buckets[decision]

    def _left(self, side: Side, held: Side | None, decision: tuple[str, str, str]) -> bool | None:
        """Notes a launch whose arguments share memory, which has no decision. After many of them the answer is no, since each look takes the host
        longer.
        """
        self._sharing[decision] += 1
        if self._sharing[decision] < MOST_SHARING:
            return None
        self._buckets[decision] = False
        self._say(side, name_of(held), decision[2], f"no race, since {MOST_SHARING} launches had memory that is read and written")
        return False

    def _overlaps(self, arguments: Sequence[Any]) -> bool:
        """Whether memory that is written may also be read: then a second launch is another computation."""
        read = {storage_of(arguments[number]) for number in self._read}
        written = {storage_of(arguments[number]) for number in self._written}
        return None in read | written or bool(read & written)

    def _contest(self, side: Side, held: Side | None, grid: tuple[int, ...], stream: int, function: int, packed: Any, arguments: Sequence[Any],
                 bucket: str) -> dict[str, Any]:
        quiet = (stream, function, packed, None, None, None, *arguments)  # launch hooks must not see measurements
        new, old = side.call, held.call if held else call.one_kernel(self._plain, function, packed)  # the host does the same for both sides
        assert new is not None and old is not None
        found = contest.decide(lambda: new(*grid, *quiet), lambda: old(*grid, *quiet), contest.timer_on(stream), self._settings)
        self._say(side, side.name if found.wins else name_of(held), bucket, held=name_of(held), new_s=max(found.new), held_s=max(found.held))
        return {"wins": found.wins, "held": name_of(held), "new_s": found.new, "held_s": found.held, "turns": found.turns,
                "margin": self._settings.margin, "rules": contest.RULES}

    def _say(self, side: Side, takes: str, bucket: str, why: str = "", held: str = "triton", new_s: float = 0.0, held_s: float = 0.0,
             from_cache: bool = False) -> None:
        records.add(records.Race(self._metadata.name, side.device or self._one_tile.device, bucket, 1e6 * new_s, 1e6 * held_s, takes, why,
                                 side.name, held, from_cache), self._settings.verbose)


def name_of(side: Side | None) -> str:
    return side.name if side is not None else "triton"


def merged(metadata: Any, found: Answer) -> Any:
    """Metadata of Twill's kernel."""
    return types.SimpleNamespace(**{**metadata._asdict(), **found.metadata})


def with_grid(source: Any) -> Any:
    """Triton's compiled kernel, with the grid after its arguments: for a launcher."""
    signature = {**source.signature, **dict.fromkeys(over_tiles.GRID, "i32")}
    return types.SimpleNamespace(fn=source.fn, constants=source.constants, signature=signature)


def load(source: Any, metadata: Any, found: Answer, processors: int = 0) -> tuple[Callable[..., None], str]:
    """Twill's kernel on the current device: the call that launches it in the place of Triton's, and the device's name.

    processors: for a kernel that walks tiles, the largest number of CTAs; `source` is with_grid() then.
    """
    from triton.runtime import driver

    cubin = store.get_cubin(found.cubin)
    if cubin is None:
        raise TwillError(later.GONE)
    other = merged(metadata, found)
    utils, device = driver.active.utils, _current_device()
    function = utils.load_binary(other.name, cubin, other.shared, device)[1]
    packed = CUDABackend.pack_metadata(None, other)
    launcher = CudaLauncher(source, other)
    if processors:
        return call.walking_kernel(launcher, function, packed, processors), _device_name(device)
    made: Any = call.one_kernel(launcher, function, packed)
    made.kernel = function, other  # for other launchers
    return made, _device_name(device)


def _current_device() -> int:
    from triton.runtime import driver

    return int(driver.active.get_current_device())


def _processors() -> int:
    """SMs of the current device."""
    from triton.runtime import driver

    return int(driver.active.utils.get_device_properties(_current_device())["multiprocessor_count"])


def _capturing() -> bool:
    import torch

    return bool(torch.cuda.is_current_stream_capturing())


def _device_name(device: int) -> str:
    import torch

    return str(torch.cuda.get_device_name(device))
