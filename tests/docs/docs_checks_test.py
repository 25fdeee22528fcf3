#!/usr/bin/env python3
"""The checks of this folder find what they are for.

    docs_checks_test.py COMPILER
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import code_examples
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
        fragment = "```cpp\nps::imagenet::Config config;\n```\n"
        self.assertEqual(self.problems("Files (`#include <penstock/imagenet.h>`):\n" + fragment), [])
        self.assertNotEqual(self.problems("Files:\n" + fragment), [])
        self.assertNotEqual(self.problems("Files (`#include <penstock/image/view.h>`):\n" + fragment), [])

    def test_finds_a_program_that_is_no_example(self):
        self.assertIn("not the text", self.problems("```cpp\nint main() {}\n```\n")[0][1])

    def test_leaves_other_languages_alone(self):
        self.assertEqual(self.problems("```text\nps::no_such_op();\n```\n"), [])


    def misquoted(self, text):
        return readme_examples.check_quotations(text, "intf(){return1;}")[0]

    def test_takes_a_quotation_of_a_source(self):
        self.assertEqual(self.misquoted("Look:\n\n    int f() {\n      return 1;\n    }\n"), [])

    def test_finds_a_quotation_that_no_source_has(self):
        self.assertEqual([line for line, _ in self.misquoted("Look:\n\n    int f() {\n      return 2;\n    }\n")], [3])

    def test_leaves_indented_commands_alone(self):
        self.assertEqual(self.misquoted("Look:\n\n    cmake --preset release\n"), [])


class CodeExamples(unittest.TestCase):
    def build(self, header):
        """What the compiler and then the program say to the examples of a header; the program's part needs no penstock."""
        examples = code_examples.in_header("some.h", header)
        text = code_examples.program(examples, []).replace("namespace ps = penstock;", "namespace examples { struct Given {}; }")
        with tempfile.TemporaryDirectory() as folder:
            source = text.replace("tests/docs/prelude.h", "tests/docs/runner.h")
            command = [COMPILER, "-std=c++20", f"-I{ROOT}", "-x", "c++", "-", "-o", f"{folder}/program"]
            done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
            if done.returncode:
                return done.stderr
            return subprocess.run([f"{folder}/program"], capture_output=True, text=True, check=False).stdout

    def test_runs_right_examples(self):
        header = "// Text.\n//   int three = 3;\n//   three  ->  3\nint f();\n// More:\n//   std::vector{1, 2}  ->  [1, 2]\n"
        self.assertEqual(self.build(header), "2 examples run, 0 failures\n")

    def test_finds_code_that_does_not_compile_and_its_line(self):
        self.assertIn("some.h:3", self.build("// Text.\n//   int three = 3;\n//   no_such_name();\n"))

    def test_finds_a_wrong_result_and_its_line(self):
        said = self.build("// Text.\n//   int three = 3;\n//   three  ->  4\n")
        self.assertIn("some.h:3: says 4, but is 3\n1 examples run, 1 failures", said)

    def test_finds_an_example_that_throws(self):
        said = self.build("// Text.\n//   throw std::runtime_error(\"no\");\n// Text.\n//   1  ->  1\n")
        self.assertIn("some.h:2: throws no\n2 examples run, 1 failures", said)

    def test_puts_types_outside_of_functions(self):
        said = self.build("//   struct Own { int value = 1; };\n//   template <class T> int f(T) { return 2; }\n//\n//   f(Own())  ->  2\n")
        self.assertEqual(said, "1 examples run, 0 failures\n")

    def test_leaves_tables_alone_with_all_their_lines(self):
        self.assertEqual(code_examples.in_header("some.h", "//  name  text\n//        more of it;\n//\n"), [])

    def test_finds_code_that_is_indented_like_a_table(self):
        self.assertEqual(len(code_examples.misplaced_in("some.h", "// Text.\n//  auto three = ps::range(3);\n")), 1)

    def test_takes_the_fragments_of_a_readme_and_not_its_programs(self):
        text = "```cpp\nint main() {}\n```\n\n```cpp\nf();\n```\n```text\ng();\n```\n"
        self.assertEqual(code_examples.in_readme("README.md", text), [code_examples.Example("README.md", 6, ["f();"])])


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
