"""Schedules of kernels and problems, one or many, here or on workers."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import os
import time
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Sequence, Union

from .answers import Explanation, Schedule, paragraphs
from .locations import of_source
from .problem import Problem
from .program import Refused, TimedOut, TwillError, find_program

# A loop to be scheduled: a problem, a text of several lines, or the path of a file.
Source = Union[Problem, str, "os.PathLike[str]"]

# Work limits of the attempts of solve(): each is four times the one before, so all together cost a third more than the last.
_FIRST_LIMIT = 1_000_000
_GROWTH = 4
# Exit codes of `twill schedule` and `twill explain` that come with an answer: a schedule, a schedule without a plan, none at all, none found.
_ANSWERS = (0, 4, 5, 7)


@dataclasses.dataclass(frozen=True)
class Progress:
    """Result of an attempt: the best interval so far (None: no schedule yet), and the proven bound."""

    seconds: float
    interval: int | None
    at_least: int
    verdict: str


def is_text(source: Any) -> bool:
    """Whether this is a text or a path, and no function or problem."""
    return isinstance(source, (str, os.PathLike))


def text_of(source: Source) -> str:
    """The text for the program: of a problem, of a file, or the source itself if it has several lines."""
    if isinstance(source, Problem):
        return source.text
    if not is_text(source):
        raise TwillError(f"a source is a Problem, a text or a path, not {source!r}")
    if not str(source):
        raise TwillError("a source is a Problem, a text or a path, and this one is empty")
    if not isinstance(source, str) or "\n" not in source:
        try:
            return Path(source).read_text(encoding="utf-8")
        except OSError as wrong:
            raise TwillError(f"{source}: {wrong.strerror}") from None
        except ValueError:
            raise TwillError(f"{source}: no text") from None
    return source


def asked(arguments: Sequence[str], source: Source, timeout_s: float | None = None,
          answers: Sequence[int] = (0, )) -> dict[str, Any]:
    """The JSON about a source, as standard input. A refusal has the place of its file, or the source line of a kernel's operation."""
    text = text_of(source)
    try:
        return find_program().ask(arguments, text, timeout_s, answers)
    except Refused as wrong:
        raise _named(wrong, text, _name_of(source)) from None


def _name_of(source: Source) -> str:
    """The name of a file; "" for other sources."""
    return os.fspath(source) if isinstance(source, os.PathLike) or isinstance(source, str) and "\n" not in source else ""


def _named(wrong: Refused, text: str, name: str) -> Refused:
    """A refusal of standard input, with the user's own place."""
    said = wrong.diagnostic
    if said.file != "standard input":
        return wrong
    return Refused(wrong.exit_code, dataclasses.replace(said, file=name) if name else of_source(said, text))


def _of_task(wrong: Refused, one: Task) -> Refused:
    """A refusal of a task: at the line of the user's source if the text has locations, else at the line of the text, by the task's label."""
    located = _named(wrong, one.text, "")
    return located if located.diagnostic.file != wrong.diagnostic.file else _named(wrong, one.text, one.label)


def schedule(source: Source, machine: str | None = None, options: Sequence[str] = (),
             timeout_s: float | None = None) -> Schedule:
    """The fastest schedule of a kernel (TTGIR) or problem, as `twill schedule` finds it. Raises like Program.ask().

    Without a schedule, `verdict` of the answer says whether none exists or none was found.
    machine: a name or a machine file; None: the machine for the kernel's target. options: further options of the command line.
    """
    arguments = ["schedule", "-", *_machine(machine), *options]
    return Schedule(asked(arguments, source, timeout_s, _ANSWERS))


def explain_text(source: Source, machine: str | None = None, options: Sequence[str] = (),
                 timeout_s: float | None = None) -> Explanation:
    """Explains why a kernel or problem is no faster, and which changes would help, as `twill explain` does. Raises like Program.ask()."""
    arguments = ["explain", "-", *_machine(machine), *options]
    return Explanation(asked(arguments, source, timeout_s, _ANSWERS))


def _machine(machine: str | None) -> list[str]:
    if machine is not None and not isinstance(machine, (str, os.PathLike)):
        raise TwillError(f"a machine is a name, as h200, or the path of a description, not {machine!r}")
    return [] if machine is None else ["--machine", os.fspath(machine)]


def solve(source: Source, *, time_limit: float | None = None, machine: str | None = None,
          on_progress: Callable[[Progress], Any] | None = None) -> Schedule:
    """The best schedule that is found within `time_limit` seconds; None: until it is proven optimal or impossible.

    Attempts have growing work limits. Each is reported to `on_progress`; an exception of it ends the search and is raised here.
    Raises TimedOut if the time is over before any attempt has ended, Refused for a problem that cannot be read. If the memory
    does not suffice, returns the best so far, or raises Refused.
    """
    begin, limit, best = time.monotonic(), _FIRST_LIMIT, None
    while True:
        left = None if time_limit is None else time_limit - (time.monotonic() - begin)
        try:
            if left is not None and left <= 0:
                raise TimedOut(f"no answer within {time_limit:g} seconds")
            found = _attempt(source, machine, limit, left)
        except (TimedOut, Refused):
            if best is None:
                raise
            return best
        if found is not None:
            best = found
            if on_progress is not None:
                on_progress(Progress(time.monotonic() - begin, best.interval, best.at_least, best.verdict))
            if best.verdict in ("optimal", "infeasible"):
                return best
        limit *= _GROWTH


def _attempt(source: Source, machine: str | None, limit: int, left: float | None) -> Schedule | None:
    """One attempt; None if the work limit ended it without an answer."""
    found = schedule(source, machine, ["--work-limit", str(limit)], left)
    return None if found.verdict == "undecided" else found


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Outcome of one input of a sweep: an answer, perhaps that there is no schedule, or an error of the program or of the workers."""

    number: int
    label: str
    schedule: Schedule | None
    error: str = ""

    def __str__(self) -> str:
        return f"{self.label}: {self.error}" if self.schedule is None else f"{self.label}\n{self.schedule}"

    def _repr_html_(self) -> str:
        return paragraphs(str(self)) if self.schedule is None else paragraphs(self.label) + self.schedule._repr_html_()


@dataclasses.dataclass(frozen=True)
class Task:
    """One input of a sweep. It is a value: workers on other computers get it unchanged, with the text in it.

    wrong: reason why there is no text. The reason is the outcome then, and no worker gets the task.
    """

    text: str
    machine: str | None = None
    options: tuple[str, ...] = ()
    label: str = ""
    wrong: str = ""


def task(source: Source, machine: str | None = None, options: Sequence[str] = (), label: str = "") -> Task:
    """A task of sweep(), whose source's text is read now."""
    return Task(text_of(source), machine, tuple(options), label or _name_of(source))


def run_task(one: Task) -> dict[str, Any]:
    """Work of a worker: returns the JSON of the answer. Raises the errors of Program.ask()."""
    return find_program().ask(["schedule", "-", *_machine(one.machine), *one.options], one.text, answers=_ANSWERS)


def sweep(tasks: Iterable[Task | Source], executor: concurrent.futures.Executor | None = None, attempts: int = 2,
          on_outcome: Callable[[Outcome], Any] | None = None) -> list[Outcome]:
    """Schedules every task, and returns the outcomes in the order of the tasks. Sources in the list become tasks.

    executor: any concurrent.futures.Executor, such as that of a Dask client (`client.get_executor()`); None: threads here.
    If a worker breaks, its tasks are tried again, `attempts` times on the executor and then here.
    on_outcome is called with each outcome as soon as it is finished; an exception of it ends the sweep and is raised here.
    """
    if is_text(tasks) or isinstance(tasks, (Problem, Task)):
        raise TwillError("sweep takes a list of tasks and sources; schedule takes one source")
    todo = [one if isinstance(one, Task) else task(one) for one in tasks]
    outcomes: dict[int, Outcome] = {}
    broken: dict[int, str] = {}

    def hear(heard: Iterable[Outcome]) -> None:
        for outcome in heard:
            outcomes[outcome.number] = outcome
            if on_outcome is not None:
                on_outcome(outcome)

    here = concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0)))
    try:
        hear(Outcome(number, one.label, None, one.wrong) for number, one in enumerate(todo) if one.wrong)
        for where in [executor] * attempts + [here] if executor is not None else [here]:
            hear(_round([(number, one) for number, one in enumerate(todo) if number not in outcomes], where, broken))
    finally:
        here.shutdown(wait=False, cancel_futures=True)
    return [outcomes.get(number) or Outcome(number, one.label, None, f"no worker had an answer: {broken.get(number, 'none took the task')}")
            for number, one in enumerate(todo)]


def _round(todo: list[tuple[int, Task]], executor: concurrent.futures.Executor, broken: dict[int, str]) -> Iterator[Outcome]:
    """Submits the tasks to the executor once. Returns outcomes, each as soon as it is finished. Broken tasks have none, and a reason in `broken`."""
    futures: dict[concurrent.futures.Future[dict[str, Any]], tuple[int, Task]] = {}
    for number, one in todo:
        try:
            futures[executor.submit(run_task, one)] = number, one
        except Exception as wrong:  # a broken executor accepts no more tasks
            broken[number] = f"{type(wrong).__name__}: {wrong}"
            break
    for future in concurrent.futures.as_completed(futures):
        number, one = futures[future]
        try:
            outcome = Outcome(number, one.label, Schedule(future.result()))
        except Refused as wrong:  # the program's answer, which every worker would give
            outcome = Outcome(number, one.label, None, str(_of_task(wrong, one)))
        except (Exception, concurrent.futures.CancelledError) as lost:  # the worker, or the connection to it
            broken[number] = f"{type(lost).__name__}: {lost}"
            continue
        yield outcome
