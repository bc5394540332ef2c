"""Runs the Python code of the documents, from the root of the repository."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = [ROOT / "docs" / "howto" / "triton-drop-in.md", ROOT / "docs" / "reference" / "python.md", ROOT / "README.md"]


class Pages(unittest.TestCase):
    def test_every_block_of_python_runs(self):
        count = 0
        for page in PAGES:
            for number, block in enumerate(re.findall(r"^```python\n(.*?)^```", page.read_text(), re.S | re.M)):
                if "(...," in block:
                    continue  # a fragment: one call of the reader's own kernel
                scratch = pathlib.Path(os.environ["TRITON_CACHE_DIR"]) / f"{page.stem}_{number}.py"  # kernels need a file
                scratch.write_text(block)
                with self.subTest(page=page.name, block=number):
                    done = subprocess.run([sys.executable, "-B", "-W", "ignore", str(scratch)], cwd=ROOT, capture_output=True, text=True, check=False)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    count += 1
        self.assertGreaterEqual(count, 5)


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        unittest.main()
