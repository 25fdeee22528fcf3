#!/usr/bin/env python3
"""Doxygen makes the site of the headers without a warning, and what they say is on it.

    site_test.py DOXYGEN DOXYFILE SITE
"""

import html
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

DOXYGEN, DOXYFILE, SITE = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])


def doxygen(**settings):
    """Exit status and warnings of a run with some settings changed."""
    changed = "".join(f"{name} = {value}\n" for name, value in settings.items())
    done = subprocess.run([DOXYGEN, "-"], input=DOXYFILE.read_text(encoding="utf-8") + changed, capture_output=True,
                          text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def page(name):
    """The text of a page, without its tags."""
    text = html.unescape(re.sub("<[^>]*>", "", (SITE / name).read_text(encoding="utf-8")))
    return " ".join(text.split())


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.status, cls.warnings = doxygen()

    def test_is_made_without_a_warning(self):
        self.assertEqual((self.status, self.warnings), (0, ""))

    def test_has_the_comment_above_a_method(self):
        self.assertIn("uniform permutation with no buffer and no fill time", page("classpenstock_1_1Dataset.html"))

    def test_has_the_example_in_a_comment(self):
        self.assertIn("ps::range(10).shard(3, 1) -> 1 4 7", page("classpenstock_1_1Dataset.html"))

    def test_has_the_comment_behind_a_member(self):
        self.assertIn("how often the launcher has restarted the job", page("structpenstock_1_1World.html"))

    def test_has_the_comment_at_the_top_of_a_header(self):
        self.assertIn("Dataset<T>: a lazy description of a stream of T", page("dataset_8h.html"))

    def test_begins_with_the_readme(self):
        self.assertIn("penstock is a C++20 library for input pipelines", page("index.html"))

    def test_fails_on_a_planted_warning(self):
        with tempfile.TemporaryDirectory() as folder:
            header = pathlib.Path(folder, "planted.h")
            header.write_text("/** @param no_such the number */\nint twice(int number);\n", encoding="utf-8")
            status, warnings = doxygen(INPUT=header, OUTPUT_DIRECTORY=folder)
        self.assertNotEqual(status, 0)
        self.assertIn("no_such", warnings)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
