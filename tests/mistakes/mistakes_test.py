#!/usr/bin/env python3
"""The checks themselves, with planted violations."""

import unittest

import compile_time
import run_time

TEXT = "# For people.\n== first: it is wrong\nsays: no such thing\nsays: f()\nint x = f();\n\n== second: it is right\ncompiles\nint x;\n"


class Programs(unittest.TestCase):
    def test_are_read_with_what_must_be_said(self):
        self.assertEqual(compile_time.programs_in(TEXT),
                         [("first", ["no such thing", "f()"], "int x = f();\n"), ("second", [], "int x;\n")])


class Faults(unittest.TestCase):
    def test_a_program_that_compiles_is_one(self):
        self.assertEqual(compile_time.fault(["text"], []), "compiles")

    def test_a_text_that_is_not_said_is_one(self):
        self.assertIn("no line says ['b']", compile_time.fault(["a", "b"], ["a.cc:1: error: a"]))
        self.assertIsNone(compile_time.fault(["a"], ["main.cc: In function", "a.cc:1: error: a"]))

    def test_a_right_program_that_does_not_compile_is_one(self):
        self.assertIn("does not compile", compile_time.fault([], ["error"]))
        self.assertIsNone(compile_time.fault([], []))


class Lines(unittest.TestCase):
    def test_do_not_hang_on_folders_or_on_lines_of_headers(self):
        said = "In file included from /usr/me/include/penstock/detail/refused.h:12,\n/usr/me/include/penstock/batch.h:3:7: note: [auto:22]"
        self.assertEqual(compile_time.normalised(said, "/usr/me/include"),
                         "In file included from penstock/detail/refused.h,\npenstock/batch.h: note: [auto]")

    def test_do_not_hang_on_drawn_seeds(self):
        self.assertEqual(run_time.normalised("seed=123 (drawn) at run_time.cc:77"), "seed=7 (drawn) at run_time.cc:12")


if __name__ == "__main__":
    unittest.main()
