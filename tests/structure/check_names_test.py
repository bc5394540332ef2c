"""Protects tools/check_names.py: it finds types that are missing on the glossary's pages, or listed without reason, and old words in names."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import check_names

GLOSSARY = """| name | also | meaning | where |
|---|---|---|---|
| transfer op | *old:* hand-off, errand | What `moves`. | `problem/hand_off.h`, `plan` |
| slot | M: row | A place. | [rules](rules.md) |

| word | here |
|---|---|
| stage | `--stages` |
"""


class CheckNames(unittest.TestCase):
    def test_types_are_structs_classes_enumerations_and_aliases_of_a_namespace(self):
        text = "struct Step {\nstruct Later;\nenum class Kind : char { a };\nclass Room final {\nusing Id = int;\n  using Inner = int;\n"
        self.assertEqual(check_names.types_of(text), ["Step", "Kind", "Room", "Id"])

    def test_homonyms_are_listed_with_exactly_their_rooms(self):
        page = "| type | in the room |\n| `Step` | `plan` an action of a `role`; `certify` a step of a proof |"
        listed = check_names.listed_types(page)
        self.assertEqual(listed, {"Step": {"plan", "certify"}})
        self.assertEqual(list(check_names.homonyms_against(listed, {"Step": {"plan", "certify"}, "Op": {"ir"}})), [])
        wrong = list(check_names.homonyms_against(listed, {"Step": {"plan", "solve"}, "Op": {"ir", "problem"}}))
        self.assertEqual([it.split(":")[0] for it in wrong],
                         ["lacks type Op of ir, problem", "lacks type Step of solve",
                          "lists type Step of certify, which is not there or shares its name no longer"])

    def test_old_words_are_found_in_names(self):
        words = check_names.old_words(GLOSSARY)
        self.assertEqual(words, {"hand-off", "errand"})
        wrong = list(check_names.old_names_among({"HandOffs", "ErrandKind", "Hand"}, words))
        self.assertEqual([it.split(" (")[0] for it in wrong], ["type ErrandKind has the old word 'errand'", "type HandOffs has the old word 'hand-off'"])

    def test_names_of_anonymous_namespaces_occur_once_in_a_room(self):
        one = "namespace {\n\nconstexpr int kMost = 3;\nstruct Step {\n};\n\n}  // namespace\n"
        self.assertEqual(list(check_names.private_names(one)), ["Step", "kMost"])
        other = "constexpr int kMost = 4;\nnamespace {\nstruct Later;\nint most(int kMost);\n}  // namespace\n"
        self.assertEqual(list(check_names.defined_twice({"solve": {"a.cpp": one, "b.cpp": other}, "plan": {"c.cpp": one}})), [])
        self.assertEqual(list(check_names.defined_twice({"solve": {"a.cpp": "namespace a {\n" + one, "b.cpp": "namespace b {\n" + one}})), [])
        wrong = list(check_names.defined_twice({"solve": {"a.cpp": one, "b.cpp": one.replace("Step", "Walk")}}))
        self.assertEqual([it.split(":")[1] for it in wrong], [" kMost is defined in a.cpp and b.cpp"])

    def test_files_are_named_by_comments_and_documents(self):
        self.assertEqual(list(check_names.files_named('#include "aa.h"\nint x;  // see plan/bb.h, cc.cpp, x.h\n', True)), [(2, "bb.h"), (2, "cc.cpp")])
        self.assertEqual(list(check_names.files_named("`plan/bb.h` and dd.h", False)), [(1, "bb.h")])

    def test_places_are_those_of_tables_that_say_where(self):
        self.assertEqual(list(check_names.places_of(GLOSSARY)), [(3, "problem/hand_off.h"), (3, "plan")])


if __name__ == "__main__":
    unittest.main()
