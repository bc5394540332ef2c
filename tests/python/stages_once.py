"""Runs Triton's two LLVM stages once for each module in a process, since tests compile the same few kernels repeatedly.

A result is used again only for equal inputs: the module with its locations, the options, the target, and the environment's switches in Triton's own
keys. Limits: a stage that fails runs each time, and so does a first run in another process. A stage that reads other state, such as a file, would
get an old result. Tests that replace stages do so after remember().
"""

import copy
import functools

from triton._C.libtriton import get_cache_invalidating_env_vars
from triton.backends.nvidia.compiler import CUDABackend

_made = {}  # by stage and inputs: its result, and its changes of the metadata


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
    """Replaces the stages. Called once in a process, before tests inspect or replace stages."""
    for name in ("make_llir", "make_ptx"):
        _once(name)
