"""Protects tools/check_words.py: it finds forbidden words in comments and in documents, and no others."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import check_words


def blocks(*lines, mark="//"):
    return list(check_words.comment_blocks("\n".join(lines), mark))


def longest(*lines):
    """Words of the longest sentence of a document."""
    return max((len(check_words.words_in(sentence)) for _, prose in check_words.prose_of("\n".join(lines))
                for sentence in check_words.sentences_of(prose)), default=0)


def comments(*lines, mark="//"):
    return list(check_words.comment_prose("\n".join(lines), mark))


class CheckWords(unittest.TestCase):
    def test_blocks_begin_where_comments_do(self):
        self.assertEqual(blocks("int a;", "/// What a is.", "/// Of b.", "int b;  // what b is", "  // Who", "}"),
                         [(2, "What a is. Of b."), (5, "Who")])

    def test_openers_are_those_of_whole_words(self):
        self.assertEqual([check_words.begins_badly(it) for it in ("Nothing: done.", "Of it.", "What-if: a change.", "Empty if so.", "- what")],
                         [True, True, False, False, False])

    def test_persons_are_no_names_of_things(self):
        self.assertEqual(check_words.PERSON.findall("Whoever reads what nobody wrote; nobodys"), ["Whoever", "nobody"])

    def test_headings_in_python_texts_are_no_comments(self):
        self.assertEqual(blocks('TEXT = """', "## What it does", "# What", '"""', mark="#"), [(3, "What")])

    def test_sentences_end_at_stops_and_semicolons(self):
        self.assertEqual(longest("One two three. Four five; six."), 3)
        self.assertEqual(longest("One two", "three four."), 4)

    def test_code_and_targets_are_no_words(self):
        self.assertEqual(longest("```", "one two three four", "```", "One `a b c d` [two](three-four-five.md)."), 3)

    def test_cells_and_items_are_apart(self):
        self.assertEqual(longest("| one two | three |", "- four", "- five six seven"), 3)

    def test_comments_are_paragraphs_and_items(self):
        self.assertEqual(comments("/// One", "/// two.", "///", "/// - three", "///   four", "/// - five", "int a;"),
                         [(1, "One two."), (4, "- three four"), (6, "- five")])

    def test_comments_behind_code_count_and_go_on(self):
        self.assertEqual(comments("int a;  ///< one", "        ///< two", "int b;  // three", "/// four"),
                         [(1, "one two"), (3, "three"), (4, "four")])

    def test_drawings_are_no_sentences(self):
        self.assertEqual(comments("/// One:", "///", "///     a --1--> b", "///", "/// two."), [(1, "One:"), (5, "two.")])

    def test_addresses_and_first_lines_of_scripts_are_no_comments(self):
        self.assertEqual(comments('auto a = "http://b";'), [])
        self.assertEqual(comments("#!/usr/bin/env bash", "# One.", mark="#"), [(2, "One.")])

    def test_old_names_are_those_of_prose(self):
        self.assertEqual(check_words.old_names_in("A hand-off of `hand-off` lines ([rule](rules.md#hand-off)), and residents"), ["hand-off", "residents"])

    def test_numbers_are_no_words(self):
        self.assertEqual(longest("0.97 to 1.05, 12 by 13"), 2)


if __name__ == "__main__":
    unittest.main()
