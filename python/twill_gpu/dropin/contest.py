"""A contest of two kernels: turns that alternate until one is clearly faster. In unclear cases, the current kernel stays, first Triton's."""

from __future__ import annotations

import dataclasses
import statistics
import time
from typing import Callable, Sequence

from .settings import Settings

TURNS = 8  # turns of each side before the first look
MOST_TURNS = 32  # most turns of each side; then the contest stays unclear
FEWEST_TURNS = 3  # turns of kernels that are so long that more would take seconds
MOST_LAUNCHES = 200  # most launches of one turn
MOST_LASTING = 1000  # most launches of one long turn
MOST_SECONDS = 0.3  # limit of one side's first turns, which only kernels that take longer in FEWEST_TURNS exceed
PASSING = 7 / 8  # share of the turns that must be won by the margin
LASTING = 0.010  # seconds of a turn in which a GPU becomes as warm as in a program that launches only this kernel
LASTING_TURNS = 4  # long turns of each side after the first
RULES = 2  # version of the rules of a contest: part of the data on disk

# Measures (GPU, host) seconds of one of some launches in a row.
Timer = Callable[[Callable[[], None], int], tuple[float, float]]


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Whether the new kernel takes such launches; medians of (GPU, host) seconds of a launch; number of turns of each side."""

    wins: bool
    new: tuple[float, float]
    held: tuple[float, float]
    turns: int


def clear(new: Sequence[float], held: Sequence[float], margin: float) -> bool | None:
    """Whether the new kernel wins by times of turns that were taken in pairs; None if more turns are needed.

    It wins if its typical and its best turn, and nearly all of its turns beside their neighbours, are faster by the margin.
    Disturbances make turns longer, never shorter: without the best turns, one busy moment of the other side would be a win.
    """
    most = 1.0 - margin
    if statistics.median(new) > most * statistics.median(held) or min(new) > most * min(held):
        return False
    passed = sum(ours <= most * theirs for ours, theirs in zip(new, held))
    return True if passed >= PASSING * len(new) else None


def decide(first: Callable[[], None], second: Callable[[], None], timer: Timer, settings: Settings) -> Verdict:
    """Decides between a new kernel of Twill's (`first`) and the kernel that has such launches so far.

    A launch counts with the longer of its times on the GPU and on the host. The new kernel must win by that time, and on the GPU alone: the
    host does much the same for both, so a difference there is an accident.
    """
    sides = (first, second)
    guess = max(timer(side, 2)[0] for side in sides)  # also loads and warms up
    turns = max(FEWEST_TURNS, min(TURNS, int(MOST_SECONDS / max(guess, 1e-9))))
    launches = max(1, min(MOST_LAUNCHES, int(settings.race_ms * 1e-3 / turns / max(guess, 1e-6))))
    took: tuple[list[tuple[float, float]], list[tuple[float, float]]] = ([], [])
    wins, more = None, turns
    for side in sides:
        timer(side, launches)  # the first turn of a kernel has the clocks and caches of the kernel before it
    while wins is None and len(took[0]) + more <= MOST_TURNS:
        for so_far, new in zip(took, _turns(sides, timer, launches, more)):
            so_far.extend(new)
        wins = _both([clear([of(turn) for turn in took[0]], [of(turn) for turn in took[1]], settings.margin) for of in (_gpu, max)])
        more = len(took[0])
    seconds = max(_medians(side)[0] for side in took)
    if wins and launches * seconds < LASTING:
        return _lasting(sides, timer, seconds, len(took[0]), settings.margin)
    return Verdict(bool(wins), _medians(took[0]), _medians(took[1]), len(took[0]))


def _turns(sides: Sequence[Callable[[], None]], timer: Timer, launches: int, count: int) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Times `count` turns of each side. The sides alternate in going first."""
    took: tuple[list[tuple[float, float]], list[tuple[float, float]]] = ([], [])
    for turn in range(count):
        for number in ((0, 1), (1, 0))[turn % 2]:
            took[number].append(timer(sides[number], launches))
    return took


def _lasting(sides: Sequence[Callable[[], None]], timer: Timer, seconds: float, turns: int, margin: float) -> Verdict:
    """The verdict of turns so long that the GPU lowers its clocks as in a program. seconds: of a launch of the slower side.

    A kernel that keeps the tensor cores busier draws more power: one that had won short turns by 8 % lost long turns by 4 %. Half of the
    margin suffices here, since short turns had all of it.
    """
    launches = max(1, min(MOST_LASTING, round(LASTING / max(seconds, 1e-9))))
    took = _turns(sides, timer, launches, 1 + LASTING_TURNS)
    new, held = took[0][1:], took[1][1:]  # without the first turns, before which the GPU was cooler
    wins = statistics.median(ours[0] / theirs[0] for ours, theirs in zip(new, held)) <= 1.0 - margin / 2
    return Verdict(wins, _medians(new), _medians(held), turns)


def _gpu(turn: tuple[float, float]) -> float:
    return turn[0]


def _both(verdicts: Sequence[bool | None]) -> bool | None:
    """Whether all values are True; None if none is False and some are None."""
    return False if False in verdicts else None if None in verdicts else True


def _medians(turns: list[tuple[float, float]]) -> tuple[float, float]:
    gpu, host = (statistics.median(side) for side in zip(*turns))
    return gpu, host


def timer_on(stream: int) -> Timer:
    """Times launches on a CUDA stream by events, which PyTorch makes. The GPU is kept busy while the host runs ahead."""
    import torch

    on = torch.cuda.current_stream()
    if on.cuda_stream != stream:
        on = torch.cuda.ExternalStream(stream)

    def turn(launch: Callable[[], None], launches: int) -> tuple[float, float]:
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

    return turn
