#!/usr/bin/env python3
"""Protects runtime/wgmma.cuh from being edited by hand: it is what tools/make_wgmma.py prints.

    wgmma_header_test.py ROOT
"""

import os
import subprocess
import sys

root = sys.argv[1]
printed = subprocess.run([sys.executable, os.path.join(root, "tools", "make_wgmma.py")],
                         capture_output=True, text=True, check=True).stdout
with open(os.path.join(root, "runtime", "wgmma.cuh"), encoding="utf-8") as file:
    committed = file.read()
if printed != committed:
    print("runtime/wgmma.cuh is not what tools/make_wgmma.py prints")
    sys.exit(1)
