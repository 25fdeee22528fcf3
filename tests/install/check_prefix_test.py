#!/usr/bin/env python3
"""check_prefix.py finds what it is for.

    check_prefix_test.py COMPILER
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import check_prefix

COMPILER = "c++"
HEADER = "namespace penstock { int answer(); struct Box { ~Box(); }; }\n"


class Headers(unittest.TestCase):
    def problems(self, installed, source):
        with tempfile.TemporaryDirectory() as folder:
            trees = []
            for name, files in (("installed", installed), ("source", source)):
                trees.append(pathlib.Path(folder, name, "include"))
                for path, text in files.items():
                    (trees[-1] / path).parent.mkdir(parents=True, exist_ok=True)
                    (trees[-1] / path).write_text(text, encoding="utf-8")
            return check_prefix.header_problems(*trees, COMPILER)

    def test_takes_standard_headers(self):
        tree = {"penstock/a.h": "#pragma once\n#include <cstdint>\n"}
        self.assertEqual(self.problems(tree, tree), [])

    def test_finds_a_header_that_is_not_installed(self):
        tree = {"penstock/a.h": "#pragma once\n"}
        self.assertEqual(self.problems(tree, tree | {"penstock/b.h": ""}), ["header in one of the trees only: penstock/b.h"])

    def test_finds_a_private_dependency_behind_another_header(self):
        tree = {"penstock/a.h": "#include <penstock/b.h>\n", "penstock/b.h": "#pragma once\n#include <tbb/a.h>\n",
                "tbb/a.h": "#pragma once\n"}
        self.assertIn("tbb/a.h", "".join(self.problems(tree, tree)))


class Symbols(unittest.TestCase):
    def problems(self, code):
        with tempfile.TemporaryDirectory() as folder:
            library = pathlib.Path(folder, "libsome.so")
            command = [COMPILER, "-std=c++20", "-shared", "-fPIC", "-x", "c++", "-", "-o", str(library)]
            subprocess.run(command, input=HEADER + code, text=True, check=True)
            return check_prefix.symbol_problems(library, HEADER)

    def test_takes_what_is_declared(self):
        self.assertEqual(self.problems("int penstock::answer() { return 42; } penstock::Box::~Box() {}"), [])

    def test_takes_weak_templates_of_the_standard_library(self):
        self.assertEqual(self.problems("#include <vector>\ntemplate class std::vector<penstock::Box*>;"), [])

    def test_finds_what_is_not_declared(self):
        self.assertEqual(self.problems("namespace penstock { int secret() { return 1; } }"),
                         ["libsome.so exports penstock::secret()"])

    def test_finds_what_is_not_ours(self):
        self.assertEqual(self.problems("int answer() { return 1; }"), ["libsome.so exports answer()"])


if __name__ == "__main__":
    COMPILER = sys.argv.pop(1) if len(sys.argv) > 1 else COMPILER
    unittest.main()
