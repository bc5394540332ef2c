"""The arguments that a kernel reads and writes, and whether it may be launched twice for one result."""

from __future__ import annotations

import dataclasses
from typing import Any

from ..program import TwillError

_READS = ("tt.load", "tt.descriptor_load", "tt.descriptor_gather")
_WRITES = ("tt.store", "tt.descriptor_store", "tt.descriptor_scatter")
_HARMLESS = ("tt.return", "scf.yield", "scf.for", "scf.if", "llvm.intr.assume", "tt.func", "builtin.module", "tt.reduce.return",
             "tt.scan.return")
# Operations without a result, or with a result that hides an effect or an address: values behind them are unknown.
_OPAQUE = ("tt.call", "tt.int_to_ptr", "tt.assert", "tt.print", "tt.extern_elementwise", "tt.elementwise_inline_asm",
           "scf.while", "cf.br", "cf.cond_br")


class NotRepeatable(TwillError):
    """A second launch may have other effects than the first."""


@dataclasses.dataclass(frozen=True)
class Effects:
    """Numbers of the function's arguments through which global memory is read, and written. They have none in common."""

    read: tuple[int, ...]
    written: tuple[int, ...]


class _Uses:
    """Values of a module by identity: their definitions and sources."""

    def __init__(self, module: Any) -> None:
        self.ops: list[Any] = []
        module.walk(self.ops.append)
        self._sources: dict[int, list[Any]] = {}
        self._loads: set[int] = set()
        self._arguments: dict[int, int] = {}
        owners = {op.get_region(i).id(): op for op in self.ops for i in range(op.get_num_regions())}
        for op in self.ops:
            self._add(op, owners)

    def _add(self, op: Any, owners: dict[int, Any]) -> None:
        name, operands = op.get_name(), [op.get_operand(i) for i in range(op.get_num_operands())]
        owner = None
        if name not in ("builtin.module", "tt.func"):
            owner = owners.get(op.get_block().get_parent().id())
        if owner is not None and owner.get_name() == "tt.func":
            block = op.get_block()
            self._arguments.update((block.get_argument(i).id(), i) for i in range(block.get_num_arguments()))
        if name == "scf.yield" and owner is not None:
            self._carry(op, owner, operands)
        if name not in ("scf.for", "scf.if"):
            for i in range(op.get_num_results()):
                result = op.get_result(i).id()
                self._sources.setdefault(result, []).extend(operands)
                if name in _READS:
                    self._loads.add(result)

    def _carry(self, op: Any, owner: Any, yielded: list[Any]) -> None:
        """Follows values through a loop or a branch: yields and first values become results and carried values, one by one."""
        for k, value in enumerate(yielded):
            came = [value]
            if owner.get_name() == "scf.for":
                came.append(owner.get_operand(3 + k))
                self._sources.setdefault(op.get_block().get_argument(1 + k).id(), []).extend(came)
            if k < owner.get_num_results():
                self._sources.setdefault(owner.get_result(k).id(), []).extend(came)

    def roots(self, value: Any) -> set[int]:
        """Numbers of the arguments from which an address is computed. Raises NotRepeatable for addresses that are loaded."""
        found: set[int] = set()
        seen: set[int] = set()
        todo = [value]
        while todo:
            value = todo.pop()
            key = value.id()
            if key in seen:
                continue
            seen.add(key)
            if key in self._arguments:
                found.add(self._arguments[key])
            elif key in self._loads:
                if "ptr" in str(value.get_type()):
                    raise NotRepeatable("an address is loaded")
                continue  # an offset: the array does not depend on it
            todo.extend(self._sources.get(key, []))
        return found


def _is_address(kind: str) -> bool:
    return "ptr" in kind or "tensordesc" in kind


def effects_of(module: Any, addresses: set[int]) -> Effects:
    """Effects of a TTIR module whose arguments `addresses` are pointers or descriptors. Raises NotRepeatable, with the reason."""
    uses = _Uses(module)
    read: set[int] = set()
    written: set[int] = set()
    for op in uses.ops:
        name = op.get_name()
        if name in _READS:
            read |= uses.roots(op.get_operand(0)) & addresses
        elif name in _WRITES:
            written |= uses.roots(op.get_operand(0)) & addresses
        elif name in _OPAQUE or "atomic" in name or name.startswith("tt.descriptor_reduce"):
            raise NotRepeatable(f"it has {name}")
        elif op.get_num_results() == 0 and name not in _HARMLESS:
            raise NotRepeatable(f"it has {name}")
    if read & written:
        raise NotRepeatable(f"argument {min(read & written)} is read and written")
    return Effects(tuple(sorted(read)), tuple(sorted(written)))


def address_arguments(module: Any) -> set[int]:
    """Numbers of the function's arguments that are pointers or descriptors."""
    function = module.get_function(module.get_entry_func_name())
    kinds = module.get_function_signature(function)
    return {number for number, kind in enumerate(kinds) if kind.startswith("*") or _is_address(kind)}
