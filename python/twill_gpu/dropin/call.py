"""The function that each launch of a raced kernel calls, generated for that kernel.

Triton's launcher is a Python object that allocates scratch memory, if a kernel needs some, and calls the function that
launches. Its arguments to that function are watched once. A launch then looks up its decision and calls the function with the
same arguments, which takes the host no longer than Triton's launcher alone.
"""

from __future__ import annotations

import copy
from typing import Any, Callable, Sequence

from triton.backends.nvidia.driver import CudaLauncher

MOST_SIZES = 10_000  # grids and integers that a kernel keeps in memory: limits the growth of programs whose sizes never repeat
_HEAD = ("x", "y", "z", "stream", "function", "packed", "metadata", "enter", "exit")


def handed_on(launcher: Any) -> tuple[str, dict[str, Any]] | None:
    """Arguments that a launcher's call passes to its `launch`, as Python source, and the constants in it.

    The source names the arguments of the call as _HEAD does, and the kernel's `rest`. None for a launcher that does more than
    pass on its arguments, as for kernels with scratch memory, and for objects that are no launcher of Triton's.
    """
    if type(launcher) is not CudaLauncher:
        return None
    heard: list[Sequence[Any]] = []
    marks = {name: object() for name in _HEAD}
    rest = (object(), object())
    probe = copy.copy(launcher)
    try:
        probe.launch = lambda *arguments: heard.append(arguments)
        probe(*marks.values(), *rest)
    except Exception:  # a launcher that computes with its arguments
        return None
    if len(heard) != 1:
        return None
    names = {id(mark): name for name, mark in marks.items()}
    names[id(rest[0])], names[id(rest[1])] = "*rest", ""
    words, constants = [], {}
    for number, argument in enumerate(heard[0]):
        if argument == rest:
            words.append("rest")
        elif id(argument) in names:
            words.append(names[id(argument)])
        else:
            constants[f"constant_{number}"] = argument
            words.append(f"constant_{number}")
    given = [word for word in words if word]
    return (", ".join(given), constants) if "rest" in given or "*rest" in given else None


def one_kernel(launcher: Any, function: int, packed: Any) -> Callable[..., None]:
    """A call that launches the kernel of `function`, through its launcher, with the arguments of another kernel's launch."""
    return _made("def call(x, y, z, stream, _, its_packed, metadata, enter, exit, *rest):\n    {launch}\n", launcher,
                 function=function, packed=packed)


def walking_kernel(launcher: Any, function: int, packed: Any, processors: int) -> Callable[..., None]:
    """Like one_kernel(), for a kernel that walks tiles: a CTA for each processor, and the grid after the arguments."""
    return _made("def call(x, y, z, stream, _, its_packed, metadata, enter, exit, *rest):\n"
                 "    rest = *rest, x, y, z\n"
                 "    x, y, z = min(x * y * z, processors), 1, 1\n"
                 "    {launch}\n", launcher, function=function, packed=packed, processors=processors)


def decided_call(launcher: Any, integers: Sequence[int], decided: dict[Any, Any], decide: Callable[..., Any]) -> Callable[..., None]:
    """A call that launches the kernel in `decided` for the grid and the integers (numbers of arguments); Triton's kernel for False.

    `decide(key, stream, function, packed, rest)` is called if no decision exists. The dictionary and the numbers are the call's attributes.
    """
    key = ", ".join(["x", "y", "z", *(f"rest[{number}]" for number in integers)])
    text = ("def call(x, y, z, stream, function, packed, metadata, enter, exit, *rest):\n"
            f"    takes = decided.get(({key}))\n"
            "    if takes is None:\n"
            f"        takes = decide(({key}), stream, function, packed, rest)\n"
            "    if takes:\n"
            "        takes(x, y, z, stream, function, packed, metadata, enter, exit, *rest)\n"
            "    else:\n"
            "        {launch}\n")
    made = _made(text, launcher, decided=decided, decide=decide)
    made.decided, made.integers = decided, list(integers)  # type: ignore[attr-defined]
    return made


def _made(text: str, launcher: Any, **names: Any) -> Callable[..., None]:
    found = handed_on(launcher)
    if found is None:
        launch, names["launch"] = f"launch({', '.join(_HEAD)}, *rest)", launcher
    else:
        launch, names["launch"] = f"launch({found[0]})", launcher.launch
        names.update(found[1])
    exec(text.format(launch=launch), names)  # noqa: S102 (text of this file)
    made: Callable[..., None] = names["call"]
    return made
