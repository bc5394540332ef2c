#!/usr/bin/env python3
"""Compiles a CUDA file that includes the runtime's device headers to PTX with NVRTC, which has no
host headers.

    nvrtc_test.py ROOT FILE

Exits with 77, which ctest reports as skipped, where there is no libnvrtc with its headers.
"""

import ctypes
import ctypes.util
import glob
import os
import sys

SKIPPED = 77


def homes():
    named = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    return [home for home in named if home and os.path.isdir(os.path.join(home, "include", "cccl"))]


def load(home):
    """libnvrtc of this CUDA installation, or None. (Its .alt twin has another builtins file.)"""
    for path in sorted(glob.glob(os.path.join(home, "lib64", "libnvrtc.so*")), key=len):
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    return None


def compile_with(nvrtc, options, text, name):
    """The log of a failed compilation, or None."""
    program = ctypes.c_void_p()
    status = nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), name.encode(), 0, None,
                                      None)
    if status != 0:
        return f"nvrtcCreateProgram: {status}"
    array = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    if nvrtc.nvrtcCompileProgram(program, len(options), array) == 0:
        return None
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    return log.value.decode()


def main(root, source):
    home = next(iter(homes()), None)
    nvrtc = load(home) if home else None
    if nvrtc is None:
        print("skipped: no libnvrtc with headers in CUDA_HOME or /usr/local/cuda")
        return SKIPPED
    includes = [root, os.path.join(home, "include"), os.path.join(home, "include", "cccl")]
    options = ["--gpu-architecture=compute_90a", "--std=c++17"] + [f"-I{path}" for path in includes]
    with open(source, encoding="utf-8") as file:
        log = compile_with(nvrtc, options, file.read(), os.path.basename(source))
    print(log if log else f"{os.path.basename(source)}: ok")
    return 1 if log else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
