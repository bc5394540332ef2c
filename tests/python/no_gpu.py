"""A driver of Triton's without a GPU: kernels are compiled, loaded and launched as usual, and calls of the GPU are recorded.

Only the parts that call the GPU are replaced: the driver's utilities, and PyTorch's questions. All other code is Triton's own.
"""

import contextlib
import sys
import types
from unittest import mock

from triton.backends.nvidia import driver as nvidia
from triton.runtime import driver
from triton.tools.tensor_descriptor import TensorDescriptor
from twill_gpu import tensors
from twill_gpu.dropin import race

MOST_SHARED = 232448
PROCESSORS = 132


class Array(tensors.Tensor):
    """A tensor with an address, but no memory. Views of one another share `storage`."""

    def __init__(self, shape, dtype, at, storage=None):
        super().__init__(tuple(shape), tensors.DType(dtype))
        self.__dict__.update(at=at, storage=at if storage is None else storage)

    def data_ptr(self):
        return self.at

    def untyped_storage(self):
        return types.SimpleNamespace(data_ptr=lambda: self.storage, size=lambda: 2**20)


def descriptor(array, *block):
    return TensorDescriptor(array, list(array.shape), list(array.stride()), list(block))


class Utils:
    """The calls of Triton's driver to the GPU. `launched` has the function of each launch, with its grid; `streams` its stream."""

    def __init__(self):
        self.launched, self.streams, self.loaded, self.devices = [], [], [], {}  # devices: by function, where it was loaded

    def load_binary(self, name, code, shared, device):
        self.loaded.append((name, code))
        self.devices[f"function {len(self.loaded)}"] = device
        return object(), f"function {len(self.loaded)}", 128, 0, 1024

    def get_device_properties(self, device):
        return {"max_shared_mem": MOST_SHARED, "multiprocessor_count": PROCESSORS}

    def launch(self, *arguments):
        self.launched.append((arguments[4], arguments[:3]))
        self.streams.append(arguments[3])

    def unload_module(self, module):
        pass

    def build_signature_metadata(self, kinds):
        return " ".join(kinds).encode()

    @staticmethod
    def is_stream_capturing(stream):
        return False

    def fill_tma_descriptor_tiled(self, *arguments):
        return object()

    fill_tma_descriptor = fill_tma_descriptor_tiled
    fill_tma_descriptor_im2col = fill_tma_descriptor_tiled


def new_driver():
    """Triton's own driver class, in its state on a computer with H100s, of which the first is current."""
    made = nvidia.CudaDriver.__new__(nvidia.CudaDriver)
    made.utils, made.launcher_cls = Utils(), nvidia.CudaLauncher
    made.get_device_capability = lambda device: (9, 0)
    current = [0]
    made.get_current_device, made.get_current_stream, made.set_current_device = (lambda: current[0]), (lambda device: 77 + device), \
        (lambda device: current.__setitem__(0, device))
    made.allocate_default_profile_scratch = None
    return made


@contextlib.contextmanager
def no_gpu():
    """Makes new_driver() the active driver, and returns it. Triton 3.6 builds a launcher by a C compiler: that is omitted."""
    made, before = new_driver(), driver._active
    driver._active = made
    with contextlib.ExitStack() as stack:
        if getattr(nvidia, "PyKernelArg", 0) is None:  # from 3.7 on, parts of the utilities are names of the module
            stack.enter_context(mock.patch.multiple(nvidia, PyKernelArg=types.SimpleNamespace, ARG_KERNEL=1, ARG_CONSTEXPR=0, ARG_TUPLE=2))
        else:
            module = types.SimpleNamespace(launch=made.utils.launch)
            stack.enter_context(mock.patch.object(nvidia, "compile_module_from_src", lambda **_: module))
            for name in ("library_dirs", "make_launcher"):
                stack.enter_context(mock.patch.object(nvidia, name, lambda *_: []))
        stack.enter_context(mock.patch.object(race, "_capturing", lambda: False))
        stack.enter_context(mock.patch.object(race, "_device_name", lambda device: "no GPU"))
        try:
            yield made
        finally:
            driver._active = before


def steps(work):
    """Python's instructions that a call executes, also in functions that it calls: a cost that no busy machine changes."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count

