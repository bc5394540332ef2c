"""The program `twill`: its place, and questions to it.

All knowledge of this package about kernels comes from the program, over its command line and its documented JSON.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import json
import os
import re
import selectors
import subprocess
import tempfile
import time
from pathlib import Path
from typing import IO, Any, Iterator, Mapping, Sequence

_HERE = Path(__file__).resolve().parent


class TwillError(Exception):
    """Base of all errors that this package raises on purpose."""


class ProgramNotFound(TwillError):
    """The program was not found."""


class TimedOut(TwillError):
    """The program was stopped after its time limit."""


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """One message of the program, with its place. `line` and `column` count from 1; 0: no place."""

    file: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        return f"{place}: {self.message}" if place else self.message


class Refused(TwillError):
    """The program gave no answer: exit code, and its message (docs/reference/cli.md, exit codes)."""

    def __init__(self, exit_code: int, diagnostic: Diagnostic) -> None:
        super().__init__(str(diagnostic))
        self.exit_code = exit_code
        self.diagnostic = diagnostic

    def __reduce__(self) -> tuple[Any, ...]:  # with two arguments, so that it may cross processes
        return (type(self), (self.exit_code, self.diagnostic))


def parse_diagnostic(text: str) -> Diagnostic:
    """The first error that the program printed on standard error, else the first line there."""
    lines = [line for line in text.splitlines() if line.strip()]
    for line in lines:
        found = re.match(r"(?:(?P<file>.*?):)?(?:(?P<line>\d+):(?P<column>\d+):)? ?error: (?P<message>.*)", line)
        if found:
            return Diagnostic(found["file"] or "", int(found["line"] or 0), int(found["column"] or 0), found["message"])
    return Diagnostic("", 0, 0, lines[0].strip() if lines else "no message")


def candidates(environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Paths where the program may be, best first: $TWILL_PROGRAM alone if set; else the source tree's, then the wheel's own."""
    if environment.get("TWILL_PROGRAM"):
        return [Path(environment["TWILL_PROGRAM"]).expanduser()]
    tree = _HERE.parent.parent
    built = [tree / "build" / "release" / "twill"] if (tree / "src" / "twill").is_dir() else []
    return [*built, _HERE / "bin" / "twill"]


@dataclasses.dataclass(frozen=True)
class Program:
    """A program `twill` on this computer."""

    path: Path

    def run(self, arguments: Sequence[str], text: str = "", timeout_s: float | None = None) -> str:
        """Standard output of `twill ARGUMENTS` with `text` as standard input.

        Raises Refused for every exit code but 0, TimedOut after `timeout_s` seconds.
        """
        done = self._done(arguments, text, timeout_s)
        if done.returncode != 0:
            raise _refused(done)
        return done.stdout

    def _done(self, arguments: Sequence[str], text: str, timeout_s: float | None) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run([str(self.path), *arguments], input=text, capture_output=True, encoding="utf-8",
                                  errors="backslashreplace", timeout=timeout_s, check=False)
        except subprocess.TimeoutExpired:
            raise _too_long(arguments, timeout_s) from None
        except OSError as wrong:
            raise self._not_run(wrong) from None

    @contextlib.contextmanager
    def text_first(self, arguments: Sequence[str], text: str = "", timeout_s: float | None = None) -> Iterator[str]:
        """Standard output of `twill ARGUMENTS --text-first`, as soon as it is whole. The block runs while the program checks it.

        Raises like run(). If the end of the block raises, the output must not be used.
        """
        limit = _Limit(arguments, timeout_s)
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said:  # a pipe without a reader could become full
            given.write(text.encode())
            given.seek(0)
            try:
                process = subprocess.Popen([str(self.path), *arguments, "--text-first"], stdin=given, stdout=subprocess.PIPE, stderr=said)
            except OSError as wrong:
                raise self._not_run(wrong) from None
            with process:
                try:
                    output = limit.read(process.stdout).decode("utf-8", "backslashreplace")
                    if not output:  # a refusal
                        limit.end(process, said)
                    yield output
                    limit.end(process, said)
                finally:
                    process.kill()

    def _not_run(self, wrong: OSError) -> ProgramNotFound:
        return ProgramNotFound(f"{self.path} cannot be run: {wrong.strerror}")

    def ask(self, arguments: Sequence[str], text: str = "", timeout_s: float | None = None,
            answers: Sequence[int] = (0, )) -> dict[str, Any]:
        """The JSON of `twill ARGUMENTS --json`. Raises like run(), but not for the exit codes `answers`, which come with JSON."""
        done = self._done([*arguments, "--json"], text, timeout_s)
        if done.returncode != 0 and (done.returncode not in answers or not done.stdout):
            raise _refused(done)
        try:
            answer: dict[str, Any] = json.loads(done.stdout)
        except ValueError:
            raise TwillError(f"twill {arguments[0]} printed no JSON: is {self.path} the program twill?") from None
        return answer

    def fingerprint(self) -> str:
        """16 hexadecimal digits of the program's contents."""
        status = self.path.stat()
        return _fingerprint(self.path, status.st_mtime_ns, status.st_size)


def _refused(done: subprocess.CompletedProcess[str]) -> Refused:
    return Refused(done.returncode, parse_diagnostic(done.stderr))


def _too_long(arguments: Sequence[str], timeout_s: float | None) -> TimedOut:
    return TimedOut(f"twill {arguments[0]} was stopped after {timeout_s:g} seconds")


class _Limit:
    """The time limit of a program at work."""

    def __init__(self, arguments: Sequence[str], timeout_s: float | None) -> None:
        self._arguments, self._timeout_s = arguments, timeout_s
        self._last = time.monotonic() + (timeout_s or 0.0)

    def _left(self) -> float | None:
        """Seconds that are left; None without a limit."""
        return None if self._timeout_s is None else max(0.0, self._last - time.monotonic())

    def read(self, pipe: IO[bytes] | None) -> bytes:
        """All that comes from a pipe until its other end is closed. Raises TimedOut."""
        assert pipe is not None
        parts: list[bytes] = []
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while selector.select(self._left()):
                parts.append(os.read(pipe.fileno(), 1 << 16))
                if not parts[-1]:
                    return b"".join(parts)
        raise _too_long(self._arguments, self._timeout_s)

    def end(self, process: subprocess.Popen[bytes], said: IO[bytes]) -> None:
        """Waits for the program's end. Raises TimedOut, and Refused with its message for every exit code but 0."""
        try:
            code = process.wait(self._left())
        except subprocess.TimeoutExpired:
            raise _too_long(self._arguments, self._timeout_s) from None
        if code != 0:
            said.seek(0)
            raise Refused(code, parse_diagnostic(said.read().decode("utf-8", "backslashreplace")))


@functools.lru_cache(maxsize=None)
def _fingerprint(path: Path, modified_ns: int, size: int) -> str:
    del modified_ns, size  # only for the key: a new build is another program
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def find_program() -> Program:
    """The first of candidates() that exists. Raises ProgramNotFound, with all places."""
    places = candidates()
    for path in places:
        if path.is_file():
            return Program(path)
    looked = ", ".join(str(path) for path in places)
    raise ProgramNotFound(f"no program twill: looked at {looked}. Build it (cmake --preset release && "
                          "cmake --build --preset release), or set TWILL_PROGRAM to its path")
