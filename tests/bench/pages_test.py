#!/usr/bin/env python3
"""Protects the pages of measurements: each is what its printer makes of the committed measurements, so that printing it again loses nothing."""
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Pages(unittest.TestCase):
    def test_each_is_as_printed(self):
        for printer, page in (("results.py", "hardware.md"), ("table.py", "hardware-log.md")):
            printed = subprocess.run([sys.executable, "-B", ROOT / "bench" / "gpu" / printer, ROOT / "bench" / "gpu" / "measured"],
                                     capture_output=True, text=True, check=True).stdout
            self.assertEqual(printed, (ROOT / "docs" / page).read_text(), page)


unittest.main()
