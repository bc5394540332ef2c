"""A contest of two kernels: turns that alternate until it is clear who is faster. Whatever stays unclear is the holder's, first Triton."""

from __future__ import annotations

import dataclasses
import statistics
import time
from typing import Callable, Sequence

from .settings import Settings

TURNS = 8  # of each side before the first look
MOST_TURNS = 32  # of each side before it stays unclear
FEWEST_TURNS = 3  # of kernels so long that more would take seconds
MOST_LAUNCHES = 200  # of one turn
MOST_LASTING = 1000  # of one long turn
MOST_SECONDS = 0.3  # of one side's first turns, but for kernels that take longer than all of it
PASSING = 7 / 8  # of the turns must be won by the margin
LASTING = 0.010  # seconds of a turn in which a GPU is as warm as in a program that launches nothing else
LASTING_TURNS = 4  # of these for each side, behind the first one
RULES = 2  # the way in which a contest is held: part of what is kept on disk

# Measures (GPU, host) seconds of one of some launches in a row.
Timer = Callable[[Callable[[], None], int], tuple[float, float]]


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Whether the new kernel takes such launches; medians of (GPU, host) seconds of a launch; how many turns each side had."""

    wins: bool
    new: tuple[float, float]
    held: tuple[float, float]
    turns: int


def clear(new: Sequence[float], held: Sequence[float], margin: float) -> bool | None:
    """Whether the new kernel wins by times of turns that were taken in pairs; None where more turns are needed.

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
        timer(side, launches)  # the first turn of a kernel is another one's, of clocks and caches before it
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
    """Times `count` turns of each side. The sides take turns in going first."""
    took: tuple[list[tuple[float, float]], list[tuple[float, float]]] = ([], [])
    for turn in range(count):
        for number in ((0, 1), (1, 0))[turn % 2]:
            took[number].append(timer(sides[number], launches))
    return took


def _lasting(sides: Sequence[Callable[[], None]], timer: Timer, seconds: float, turns: int, margin: float) -> Verdict:
    """The verdict of turns so long that the GPU lowers its clocks as it does in a program. seconds: of a launch of the slower side.

    A kernel that keeps the tensor cores busier draws more power: one that had won short turns by 8 % lost long ones by 4 %. Half of the margin
    is asked for here, since short turns had all of it.
    """
    launches = max(1, min(MOST_LASTING, round(LASTING / max(seconds, 1e-9))))
    took = _turns(sides, timer, launches, 1 + LASTING_TURNS)
    new, held = took[0][1:], took[1][1:]  # without the first turns, before which the GPU was cooler
    wins = statistics.median(ours[0] / theirs[0] for ours, theirs in zip(new, held)) <= 1.0 - margin / 2
    return Verdict(wins, _medians(new), _medians(held), turns)


def _gpu(turn: tuple[float, float]) -> float:
    return turn[0]


def _both(verdicts: Sequence[bool | None]) -> bool | None:
    """Whether all say yes; None where none says no and some do not know."""
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
