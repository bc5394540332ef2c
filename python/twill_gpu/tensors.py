"""Arguments for analyses: tensors and descriptors that have a type and a shape, but no memory."""

from __future__ import annotations

import dataclasses
import math
import operator
from typing import Sequence

from .program import TwillError

_BYTES = {"fp64": 8, "i64": 8, "fp32": 4, "i32": 4, "fp16": 2, "bf16": 2, "i16": 2, "i8": 1, "u8": 1, "fp8e4nv": 1, "fp8e5": 1}
_NAMES = {"float64": "fp64", "int64": "i64", "float32": "fp32", "int32": "i32", "float16": "fp16", "bfloat16": "bf16",
          "int16": "i16", "int8": "i8", "uint8": "u8", "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5"}


class DType(str):
    """The name of an element type as Triton spells it, with its size."""

    @property
    def itemsize(self) -> int:
        return _BYTES[self]

    @property
    def is_floating_point(self) -> bool:
        return self.startswith(("fp", "bf"))


@dataclasses.dataclass(frozen=True)
class Tensor:
    """Stands for a tensor of which only type, shape and alignment matter: row-major, aligned to 16 bytes."""

    shape: tuple[int, ...]
    dtype: DType

    def stride(self, dimension: int | None = None) -> int | tuple[int, ...]:
        strides = tuple(math.prod(self.shape[k + 1:]) for k in range(len(self.shape)))
        return strides if dimension is None else strides[dimension]

    @staticmethod
    def data_ptr() -> int:
        return 0

    @staticmethod
    def ptr_range() -> int:
        return 0


def tensor(shape: Sequence[int], dtype: str) -> Tensor:
    """A tensor without memory. dtype: "fp16", "bf16", "fp32", "i32", ... or PyTorch's name for it. Raises TwillError for other names."""
    name = _NAMES.get(dtype, dtype)
    if name not in _BYTES:
        raise TwillError(f"no element type {dtype!r}: there are {', '.join(_BYTES)}")
    return Tensor(_extents(shape, "shape"), DType(name))


def _extents(shape: Sequence[int], what: str) -> tuple[int, ...]:
    """The numbers of a shape. Raises TwillError for other objects and negative numbers."""
    try:
        found = tuple(operator.index(number) for number in shape)
    except TypeError:
        found = (-1, )
    if min(found, default=0) < 0:
        raise TwillError(f"a {what} has a number for each dimension, as (4096, 64), not {shape!r}")
    return found


def descriptor(shape: Sequence[int], dtype: str, block_shape: Sequence[int]) -> object:
    """A Triton TensorDescriptor of such a tensor, with blocks of `block_shape`. Needs Triton."""
    try:
        from triton.tools.tensor_descriptor import TensorDescriptor
    except ImportError as wrong:
        raise TwillError(f"descriptors need Triton: {wrong}") from None
    base, block = tensor(shape, dtype), _extents(block_shape, "block's shape")
    if len(block) != len(base.shape):
        raise TwillError(f"a block has as many dimensions as its tensor, {len(base.shape)}, not {block_shape!r}")
    return TensorDescriptor(base, list(base.shape), list(base.stride()), list(block))  # type: ignore[arg-type]
