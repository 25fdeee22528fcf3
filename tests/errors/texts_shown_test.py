#!/usr/bin/env python3
"""The check itself, with planted violations."""

import unittest

from texts_shown import exceptions_in, faults, literals_of


class Literals(unittest.TestCase):
    def test_neighbours_are_joined(self):
        self.assertEqual(literals_of('f("it has " +\n "no\\" " \n "end");'), ["it has ", 'no" end'])

    def test_comments_includes_and_letters_are_none(self):
        self.assertEqual(literals_of("// \"a b\"\n#include \"a b\"\nchar c = '\"'; /* \"x y\" */"), [])


class Faults(unittest.TestCase):
    def test_a_text_that_no_case_shows_is_found(self):
        self.assertEqual(faults({"it is shut": "a.cc"}, "it is shut", {}), [])
        self.assertEqual(len(faults({"it is shut": "a.cc"}, "it is open", {})), 1)

    def test_an_exception_that_is_not_needed_is_found(self):
        self.assertEqual(faults({"it is shut": "a.cc"}, "", exceptions_in("why: it is shut\n")), [])
        self.assertEqual(len(faults({"it is shut": "a.cc"}, "it is shut", exceptions_in("why: it is shut"))), 1)


if __name__ == "__main__":
    unittest.main()
