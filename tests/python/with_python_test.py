"""The ptxas that a test's Triton calls, as with_python.py chooses it: with_python_test.py"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
PRINTS = "#!/bin/sh\necho \"$TRITON_PTXAS_PATH\"\n"


class Ptxas(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.environment = pathlib.Path(scratch.name)
        python = self.environment / "bin" / "python"
        ptxas = self.environment / "lib/python3.11/site-packages/triton/backends/nvidia/bin/ptxas"
        for file, text in ((python, PRINTS), (ptxas, "")):
            file.parent.mkdir(parents=True)
            file.write_text(text)
            file.chmod(0o755)

    def called(self, **variables):
        """The ptxas that a test with these variables would call, "" for Triton's own."""
        others = {name: value for name, value in os.environ.items() if name not in ("TRITON_PTXAS_PATH", "KEPT_PTXAS")}
        command = [sys.executable, str(HERE / "with_python.py"), str(self.environment), "a_test.py"]
        return subprocess.run(command, env=others | variables, capture_output=True, text=True, check=True).stdout.strip()

    def test_a_folder_for_results_has_results_kept(self):
        """Protects the time of the tests: with KEPT_PTXAS, equal texts are compiled once."""
        self.assertEqual(self.called(KEPT_PTXAS=str(self.environment)), str(HERE / "kept_ptxas"))
        self.assertEqual(self.called(), "")

    def test_a_developers_ptxas_stays(self):
        """Protects a developer who tests another ptxas: kept_ptxas would call Triton's own instead."""
        self.assertEqual(self.called(KEPT_PTXAS=str(self.environment), TRITON_PTXAS_PATH="/opt/ptxas"), "/opt/ptxas")


if __name__ == "__main__":
    unittest.main()
