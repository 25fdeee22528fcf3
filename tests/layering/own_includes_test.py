#!/usr/bin/env python3
"""Plants what own_includes.py must find, and what it must not mind."""

import pathlib
import tempfile
import unittest

import own_includes

PRECOMPILED = "".join(f"#include <{header}>\n" for header in own_includes.NAMES)


def problems(files, precompiled=PRECOMPILED):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text in {own_includes.PRECOMPILED: precompiled, **files}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        return own_includes.check_tree(root)


class OwnIncludes(unittest.TestCase):
    def test_finds_a_header_that_is_forgotten(self):
        for line, header in (
            ("std::vector<int> v;", "vector"),
            ("const auto p = std::make_unique<int>(1);", "memory"),
            ("std::ranges::sort(v);", "algorithm"),
            ("TEST(A, B) {}", "gtest/gtest.h"),
            ("EXPECT_THAT(v, IsEmpty());", "gmock/gmock.h"),
        ):
            with self.subTest(line=line):
                self.assertEqual(problems({"tests/a_test.cc": line + "\n"}), [f"tests/a_test.cc: uses <{header}>, and includes it nowhere"])
                self.assertEqual(problems({"tests/a_test.cc": f"#include <{header}>\n{line}\n"}), [])

    def test_takes_what_the_projects_headers_include(self):
        text = '#include "lib/a.h"\nstd::vector<int> v;\n'
        self.assertEqual(problems({"tests/a_test.cc": text, "lib/a.h": "#include <vector>\n"}), [])
        self.assertEqual(problems({"tests/b_test.cc": text, "lib/a.h": "#include <penstock/b.h>\n", "include/penstock/b.h": "#include <vector>\n"}), [])
        self.assertEqual(len(problems({"tests/c_test.cc": text, "lib/a.h": ""})), 1)

    def test_finds_a_name_of_the_library_that_nobody_declares(self):
        public = {"include/penstock/penstock.h": "#include <penstock/run.h>\n", "include/penstock/run.h": "class Run {};\n"}
        self.assertEqual(problems({**public, "tests/a_test.cc": "Run run;\n"}),
                         ["tests/a_test.cc: uses Run of <penstock/penstock.h>, and includes it nowhere"])
        for text in ("#include <penstock/penstock.h>\nRun run;\n", "#include <penstock/run.h>\nRun run;\n", "struct Run {};\nRun run;\n"):
            with self.subTest(text=text):
                self.assertEqual(problems({**public, "tests/a_test.cc": text}), [])

    def test_finds_a_helper_of_the_tests_that_only_another_file_includes(self):
        header = {"tests/help.h": "#define EXPECT_IT(x)\nclass Double {};\ninline constexpr int kMany = 3, kFew = 1;\n"}
        for use in ("EXPECT_IT(1);", "Double it;", "int n = kMany;", "int n = kFew;"):
            with self.subTest(use=use):
                self.assertEqual(len(problems({**header, "tests/a_test.cc": use + "\n"})), 1)
                self.assertEqual(problems({**header, "tests/a_test.cc": f'#include "tests/help.h"\n{use}\n'}), [])
                own = "#define EXPECT_IT(x)\n" if "IT" in use else "struct Double {};\nconstexpr int kMany = 3, kFew = 1;\n"
                self.assertEqual(problems({**header, "tests/a_test.cc": own + use + "\n"}), [])

    def test_does_not_mind_comments_and_texts(self):
        self.assertEqual(problems({"tests/a_test.cc": '// std::vector\nconst char* text = "std::string";\n'}), [])

    def test_knows_each_header_that_is_precompiled(self):
        self.assertEqual(len(problems({}, PRECOMPILED + "#include <latch>\n")), 1)


if __name__ == "__main__":
    unittest.main()
