"""docs/paper.md says which tests show its claims: each must exist. Usage: paper_page_test.py BUILD_FOLDER

Protects: a claim whose test was renamed or removed is not left standing.
"""

import fnmatch
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "paper.md"


def named_tests(text):
    """The patterns in back quotes after the word "test" or "tests", up to the next cell, stop or bracket."""
    for run in re.findall(r"\btests? ((?:`[^`]+`(?:, | and )?)+)", text):
        yield from re.findall(r"`([^`]+)`", run)


def main():
    listed = subprocess.run(["ctest", "-N"], cwd=sys.argv[1], capture_output=True, text=True, check=True).stdout
    known = re.findall(r"Test +#\d+: (\S+)", listed)
    patterns = sorted(set(named_tests(PAGE.read_text())))
    if len(patterns) < 15:
        sys.exit(f"only {len(patterns)} tests are named in {PAGE}: is it still written the way this test reads it?")
    missing = [pattern for pattern in patterns if not fnmatch.filter(known, pattern)]
    for pattern in missing:
        print(f"{PAGE}: there is no test {pattern}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
