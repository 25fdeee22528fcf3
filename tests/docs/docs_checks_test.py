#!/usr/bin/env python3
"""The checks of this folder find what they are for.

    docs_checks_test.py COMPILER
"""

import pathlib
import sys
import tempfile
import unittest

import example_output
import headers_alone
import links
import readme_examples

COMPILER = "c++"
ROOT = pathlib.Path(__file__).resolve().parents[2]


class HeadersAlone(unittest.TestCase):
    def errors_of(self, text):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "some.h").write_text(text, encoding="utf-8")
            return headers_alone.errors_of(COMPILER, folder, "some.h")

    def test_takes_a_header_that_includes_what_it_uses(self):
        self.assertEqual(self.errors_of("#pragma once\n#include <vector>\nstd::vector<int> f();\n"), "")

    def test_finds_a_missing_include(self):
        self.assertIn("vector", self.errors_of("#pragma once\nstd::vector<int> f();\n"))

    def test_finds_a_missing_include_guard(self):
        self.assertIn("redefinition", self.errors_of("struct Some {};\n"))

    def test_finds_a_warning(self):
        self.assertNotEqual(self.errors_of("#pragma once\ninline int f(long v) { return v; }\n"), "")


class ExampleOutput(unittest.TestCase):
    def test_reads_the_promise_of_the_last_comment(self):
        source = "int main() {}\n\n// Prints:\n//   a\n//     b\n//\n//   c\n"
        self.assertEqual(example_output.promised_output(source), "a\n  b\n\nc\n")

    def test_knows_a_source_without_a_promise(self):
        self.assertIsNone(example_output.promised_output("int main() {}\n"))

    def test_tells_other_output_from_the_promised_one(self):
        self.assertIn("+b", example_output.difference("a\n", "b\n"))
        self.assertEqual(example_output.difference("a\n", "a\n"), "")

    def test_fails_with_the_program(self):
        with self.assertRaises(RuntimeError):
            example_output.output_of("false")


class ReadmeExamples(unittest.TestCase):
    def problems(self, text):
        return readme_examples.check_text(text, ROOT, ROOT, COMPILER)[0]

    def test_takes_a_right_fragment(self):
        self.assertEqual(self.problems("```cpp\nauto three = ps::range(3);\n```\n"), [])

    def test_finds_a_wrong_fragment_and_its_line(self):
        problems = self.problems("text\n\n```cpp\nps::no_such_op();\n```\n")
        self.assertEqual([line for line, _ in problems], [4])
        self.assertIn("no_such_op", problems[0][1])

    def test_takes_the_headers_that_the_line_before_names_and_no_others(self):
        fragment = "```cpp\nps::Tensor file = ps::read_file(\"a\");\n```\n"
        self.assertEqual(self.problems("Files (`#include <penstock/io.h>`):\n" + fragment), [])
        self.assertNotEqual(self.problems("Files:\n" + fragment), [])
        self.assertNotEqual(self.problems("Files (`#include <penstock/image/view.h>`):\n" + fragment), [])

    def test_finds_a_program_that_is_no_example(self):
        self.assertIn("not the text", self.problems("```cpp\nint main() {}\n```\n")[0][1])

    def test_leaves_other_languages_alone(self):
        self.assertEqual(self.problems("```text\nps::no_such_op();\n```\n"), [])


class Links(unittest.TestCase):
    def test_finds_dead_links_and_paths(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "README.md")
            file.write_text("[a](README.md) [b](gone.md) `lib/gone.h` [c](https://x.org/) `lib/<op>.h`",
                            encoding="utf-8")
            self.assertEqual(links.missing_in(file, pathlib.Path(folder)), ["gone.md", "lib/gone.h"])


if __name__ == "__main__":
    COMPILER = sys.argv.pop(1) if len(sys.argv) > 1 else COMPILER
    unittest.main()
