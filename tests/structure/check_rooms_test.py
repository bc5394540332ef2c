"""Protects tools/check_rooms.py: it finds all faults that it promises to find, and accepts a sound tree."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import check_rooms

TABLE = """# Architecture
## Rooms
| room | what lives there | may include |
|---|---|---|
| `support` | small things | - |
| `problem` | the problem | support |
| `solve` | the search | problem |
| `verify` | the check | problem |
## Outside
"""

SOUND = {
    "ARCHITECTURE.md": TABLE,
    "src/twill/support/id.h": "#pragma once\n#include <vector>\n",
    "src/twill/problem/problem.h": '#pragma once\n#include "twill/support/id.h"\n',
    "src/twill/solve/solve.cpp": '#include "twill/support/id.h"\n#include <fmt/core.h>\n',
    "src/twill/solve/CMakeLists.txt": "twill_room(solve SOURCES solve.cpp USES problem LINKS fmt::fmt)\n",
    "src/twill/verify/verify.cpp": '#include "twill/problem/problem.h"\n',
}


def problems_of(changes):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {**SOUND, **changes}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return list(check_rooms.check(root))


class CheckRooms(unittest.TestCase):
    def expect(self, changes, *expected):
        self.assertEqual(problems_of(changes), list(expected))

    def test_sound(self):
        self.expect({})

    def test_include_against_the_flow(self):
        self.expect({"src/twill/problem/pose.cpp": '\n#include "twill/solve/solve.h"\n'},
                    "src/twill/problem/pose.cpp:2: problem may not include solve")

    def test_include_through_a_subfolder(self):
        self.expect({"src/twill/verify/rules/unit.cpp": '#include "twill/solve/solve.h"\n'},
                    "src/twill/verify/rules/unit.cpp:1: verify may not include solve")

    def test_names_of_the_text(self):
        self.expect({"src/twill/solve/solve.cpp": 'auto x = OpKind::tt_load;\nauto y = "scf.for";  // arith.addi\n',
                     "src/twill/problem/pose.cpp": 'auto z = integer_attribute(op, "axis");\n'},
                    "src/twill/problem/pose.cpp:1: asks for an attribute of the text: lower it to a field of ir::Traits",
                    "src/twill/solve/solve.cpp:1: tt_load is a name of the text: ask for a kind of ir/op_kind.h",
                    "src/twill/solve/solve.cpp:2: scf.for is a name of the text: ask for a kind of ir/op_kind.h")

    def test_link_against_the_flow(self):
        self.expect({"src/twill/verify/CMakeLists.txt": "twill_room(verify\n SOURCES verify.cpp\n USES problem solve)\n"},
                    "src/twill/verify/CMakeLists.txt: verify may not use solve")

    def test_solve_and_verify_in_the_table(self):
        self.expect({"ARCHITECTURE.md": TABLE.replace("the check | problem", "the check | solve")},
                    "ARCHITECTURE.md: verify may not include solve")

    def test_circle_in_the_table(self):
        problems = problems_of({"ARCHITECTURE.md": TABLE.replace("things | -", "things | problem")})
        self.assertIn("ARCHITECTURE.md: problem and support may include each other", problems)

    def test_room_without_row(self):
        self.expect({"src/twill/extra/x.h": "#pragma once\n"}, "src/twill/extra: has no row in ARCHITECTURE.md")

    def test_row_without_room(self):
        self.expect({"ARCHITECTURE.md": TABLE.replace("## Outside", "| `plan` | plans | solve |\n## Outside")},
                    "ARCHITECTURE.md: there is no room src/twill/plan")

    def test_header_beside_the_file(self):
        self.expect({"src/twill/solve/a.cpp": '#include "solve.h"\n'},
                    'src/twill/solve/a.cpp:1: write "solve.h" as "twill/ROOM/..."')

    def test_foreign_headers(self):
        self.expect({"src/twill/solve/a.h": "#pragma once\n#include <fmt/core.h>\n#include <CLI/CLI.hpp>\n#include <z3/z3.h>\n"},
                    "src/twill/solve/a.h:2: <fmt/core.h> belongs in .cpp files only",
                    "src/twill/solve/a.h:3: <CLI/CLI.hpp> belongs in cli only",
                    "src/twill/solve/a.h:4: <z3/z3.h> is not a library Twill is built on")

    def test_long_file_and_missing_pragma(self):
        self.expect({"src/twill/solve/a.h": "\n" * (check_rooms.LINES_MAX + 1)},
                    "src/twill/solve/a.h:1: has 501 lines, more than 500",
                    "src/twill/solve/a.h:1: has no #pragma once")


if __name__ == "__main__":
    unittest.main()
