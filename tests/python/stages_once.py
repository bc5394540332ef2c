"""Triton's two LLVM stages, which are run once in a process for each module: tests compile the same few kernels again and again.

What a stage is handed decides what it makes: the module with its locations, the options, the target, and the environment's switches that are part of
Triton's own keys. A stage that fails is run each time.
"""

import copy
import functools

from triton._C.libtriton import get_cache_invalidating_env_vars
from triton.backends.nvidia.compiler import CUDABackend

_made = {}  # by stage and what it is handed: what it returned, and what it wrote in the metadata


def _once(name):
    real = getattr(CUDABackend, name)

    @functools.wraps(real)
    def stage(self, source, metadata, *rest):
        key = name, str(source), repr(rest), str(self.target), str(sorted(get_cache_invalidating_env_vars().items()))
        if key not in _made:
            before = copy.copy(metadata)
            product = real(self, source, metadata, *rest)
            written = {fact: value for fact, value in metadata.items() if fact not in before or before[fact] is not value}
            _made[key] = product, copy.deepcopy(written)
            return product
        product, written = _made[key]
        metadata.update(copy.deepcopy(written))
        return product

    setattr(CUDABackend, name, stage)


def remember():
    """Called once in a process, before tests look at the stages or replace them."""
    for name in ("make_llir", "make_ptx"):
        _once(name)
