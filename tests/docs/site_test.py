#!/usr/bin/env python3
"""Doxygen makes the site of the headers without a warning, and what they say is on it. Each setting and each figure has a comment.

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


# Structs whose members say nothing by their names alone: settings have defaults and bounds, figures have units.
SETTINGS_OR_FIGURES = r"\w*(Options|Stats|Snapshot|Report)|Config|Counters|Knob|Decision|ErrorPlace|Checkpoint|World|Explanation(::\w+)*"
BARE_MEMBER = re.compile(rf"Member \w+ \(variable\) of (struct|class) penstock::(\w+::)*({SETTINGS_OR_FIGURES}) is not documented")


def doxygen(**settings):
    """Exit status and warnings of a run with some settings changed."""
    changed = "".join(f"{name} = {value}\n" for name, value in settings.items())
    done = subprocess.run([DOXYGEN, "-"], input=DOXYFILE.read_text(encoding="utf-8") + changed, capture_output=True,
                          text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def bare_members(**settings):
    """Doxygen's complaints about such members."""
    with tempfile.TemporaryDirectory() as folder:
        _, warnings = doxygen(EXTRACT_ALL="NO", GENERATE_HTML="NO", OUTPUT_DIRECTORY=folder, **settings)
    return [line for line in warnings.splitlines() if BARE_MEMBER.search(line)]


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

    def test_each_setting_and_figure_has_a_comment(self):
        self.assertEqual(bare_members(), [])

    def test_finds_a_planted_setting_without_a_comment(self):
        with tempfile.TemporaryDirectory() as folder:
            header = pathlib.Path(folder, "planted.h")
            header.write_text("namespace penstock {\n/// For reads.\nstruct PlantedOptions {\n  int tries = 3;\n};\n}\n", encoding="utf-8")
            self.assertIn("Member tries (variable)", "".join(bare_members(INPUT=header)))

    def test_fails_on_a_planted_warning(self):
        with tempfile.TemporaryDirectory() as folder:
            header = pathlib.Path(folder, "planted.h")
            header.write_text("/** @param no_such the number */\nint twice(int number);\n", encoding="utf-8")
            status, warnings = doxygen(INPUT=header, OUTPUT_DIRECTORY=folder)
        self.assertNotEqual(status, 0)
        self.assertIn("no_such", warnings)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
