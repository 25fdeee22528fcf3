#!/usr/bin/env python3
"""The check itself: planted sources that it must report, and one that it must not."""

import pathlib
import sys
import tempfile
import unittest

from check import failures_of

COMPILER = sys.argv.pop(1)

CLEAN = """// FORGETS value: value
#ifndef FORGETS_value
int value = 1;
#endif
int user() { return value; }
"""


class Check(unittest.TestCase):
    def failures(self, text):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "planted.cc")
            source.write_text(text, encoding="utf-8")
            return failures_of(COMPILER, folder, str(source))[0]

    def test_a_source_that_needs_what_it_says_passes(self):
        self.assertEqual(self.failures(CLEAN), [])

    def test_a_source_that_compiles_without_it_is_reported(self):
        text = CLEAN.replace("return value", "return 0")
        self.assertIn("compiles without value", "".join(self.failures(text)))

    def test_a_source_that_fails_with_another_text_is_reported(self):
        text = CLEAN.replace("FORGETS value: value", "FORGETS value: elephant")
        self.assertIn("does not say 'elephant'", "".join(self.failures(text)))

    def test_a_source_that_does_not_compile_at_all_is_reported(self):
        self.assertIn("does not compile as it stands", "".join(self.failures(CLEAN + "oops")))

    def test_a_source_without_obligations_is_reported(self):
        self.assertIn("announces nothing", "".join(self.failures("int value = 1;\n")))


if __name__ == "__main__":
    unittest.main()
