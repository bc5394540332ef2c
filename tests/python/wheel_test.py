"""Installs by `pip install ./python` in a clean environment: the wheel has the program, its types and the switch for TWILL=1."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Wheel(unittest.TestCase):
    def test_the_wheel_stands_alone(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            tools = str(pathlib.Path(sys.executable).parent)
            environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
            subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--config-settings",
                            f"build-dir={folder / 'build'}", "--wheel-dir", str(folder), str(ROOT / "python")], check=True, env=environment)
            wheel, = folder.glob("*.whl")
            self.assertRegex(wheel.name, r"^twill_gpu-[\d.]+-py3-none-.*linux.*\.whl$")
            with zipfile.ZipFile(wheel) as archive:
                names = archive.namelist()
            for name in ("twill_gpu/py.typed", "twill_gpu/bin/twill", "twill_gpu/dropin/backend.py", "twill_gpu/plugin/compiler.py"):
                self.assertIn(name, names)
            self.assertFalse([name for name in names if "__pycache__" in name])
            self.runs_alone(wheel, folder)

    def test_a_program_that_is_built_for_the_wheel_needs_libc_alone(self):
        """Protects machines without a C++ library of ours: configured only, since building takes minutes."""
        with tempfile.TemporaryDirectory() as scratch:
            subprocess.run(["cmake", "-G", "Ninja", "-S", str(ROOT / "python"), "-B", scratch, "-DCMAKE_BUILD_TYPE=Release", "-DTWILL_BUILD_ANEW=ON"],
                           check=True, capture_output=True)
            steps = (pathlib.Path(scratch) / "build.ninja").read_text()
        link = steps[steps.index("CXX_EXECUTABLE_LINKER__twill_Release"):]
        for flag in ("-static-libstdc++", "-static-libgcc"):
            self.assertIn(flag, link)
        self.assertNotIn("libfmt", steps)
        self.assertIn("FMT_HEADER_ONLY", steps)
        self.assertNotIn("-O3", steps)
        self.assertLess(steps.count(": CXX_COMPILER__"), 200)  # sources in units

    def test_a_program_that_runs_only_in_its_folder_makes_no_wheel(self):
        """Protects users who install: a wheel whose script calls a program beside it would never run."""
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            script = folder / "twill"
            script.write_text('#!/bin/sh\nexec "$(dirname "$0")/twill.bin" "$@"\n')
            script.chmod(0o755)
            done = subprocess.run(["cmake", "-G", "Ninja", "-S", str(ROOT / "python"), "-B", str(folder / "build")], check=False, capture_output=True,
                                  text=True, env={**os.environ, "TWILL_PROGRAM": str(script)})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("does not run away from its folder", " ".join(done.stderr.split()))

    def runs_alone(self, wheel, folder):
        clean = {name: value for name, value in os.environ.items() if name not in ("TWILL_PROGRAM", "PYTHONPATH")}
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True, env=clean)
        python = str(folder / "venv" / "bin" / "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", str(wheel)], check=True, env=clean)
        code = ("import twill_gpu; print(twill_gpu.find_program().path, "
                f"twill_gpu.schedule({str(ROOT / 'loops' / 'fig1.loop')!r}).interval)")
        said = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True, env=clean, cwd=folder).stdout.split()
        self.assertIn(str(folder), said[0])
        self.assertEqual(said[1], "2")


if __name__ == "__main__":
    unittest.main()
