"""Protects tools/check_docs.py: it finds wrong documents, and accepts right ones."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import check_docs


def problems_of(*lines):
    """(line, first line of the problem) of a document with one ```console block of `lines`."""
    with tempfile.TemporaryDirectory() as folder:
        document = pathlib.Path(folder) / "page.md"
        document.write_text("\n".join(["```console", *lines, "```", ""]))
        problems = check_docs.check_document(document, pathlib.Path("/bin/true"))
        return [(number, problem.splitlines()[0]) for number, problem in problems]


class CheckDocs(unittest.TestCase):
    def test_truth(self):
        self.assertEqual(problems_of("$ echo one; echo two; echo three", "one", "...", "three"), [])

    def test_no_output_shown(self):
        self.assertEqual(problems_of("$ echo one"), [])

    def test_wrong_output(self):
        self.assertEqual(problems_of("$ echo one", "two"), [(2, "`echo one` does not print")])

    def test_wrong_order(self):
        self.assertEqual(len(problems_of("$ printf 'a\\nb\\n'", "b", "...", "a")), 1)

    def test_lines_between_need_dots(self):
        self.assertEqual(len(problems_of("$ printf 'a\\nx\\nb\\n'", "a", "b")), 1)

    def test_exit_code(self):
        self.assertEqual(problems_of("$ exit 3  # exit 3"), [])
        self.assertEqual(problems_of("$ exit 3"), [(2, "`exit 3` exited with 3, not 0:")])
        self.assertEqual(len(problems_of("$ true  # exit 3")), 1)

    def test_files_stay_in_scratch_and_are_shared(self):
        self.assertEqual(problems_of("$ echo kept > made-by-check-docs", "$ cat made-by-check-docs", "kept"), [])
        self.assertFalse((check_docs.ROOT / "made-by-check-docs").exists())

    def test_continued_line(self):
        self.assertEqual(problems_of("$ echo one \\", "    two", "one two"), [])

    def test_other_blocks_are_not_run(self):
        with tempfile.TemporaryDirectory() as folder:
            document = pathlib.Path(folder) / "page.md"
            document.write_text("```sh\n$ exit 1\n```\n```\n$ exit 1\n```\n")
            self.assertEqual(list(check_docs.check_document(document, pathlib.Path("/bin/true"))), [])

    def test_builds_are_not_run_but_must_exist(self):
        self.assertEqual(problems_of("$ ./test", "$ cmake --preset release"), [])
        self.assertEqual(problems_of("$ cmake --preset fast"), [(2, "`cmake --preset fast` there is no preset fast")])

    def test_links_lead_to_files_and_headings(self):
        with tempfile.TemporaryDirectory() as folder:
            document = pathlib.Path(folder) / "page.md"
            text = "# One `op`: [two](page.md)\n[a](page.md#one-op-two) [b](#one-op-two) [c](https://x.y#z)\n[d](page.md#three) [e](no.md)\n"
            document.write_text(text)
            self.assertEqual(list(check_docs.broken_links(document, text)),
                             [(3, "the link page.md#three names no heading there"), (3, "the link no.md leads nowhere")])

    def test_write_replaces_full_output_only(self):
        with tempfile.TemporaryDirectory() as folder:
            document = pathlib.Path(folder) / "page.md"
            document.write_text("```console\n$ echo new; echo x\nold\n$ echo y\nz\n...\n$ echo same\nsame\n```\nend\n")
            list(check_docs.check_document(document, pathlib.Path("/bin/true"), write=True))
            self.assertEqual(document.read_text(),
                             "```console\n$ echo new; echo x\nnew\nx\n$ echo y\nz\n...\n$ echo same\nsame\n```\nend\n")


if __name__ == "__main__":
    unittest.main()
