#!/usr/bin/env python3
"""The measure itself: what it counts in planted code, and what it lets pass."""

import unittest
import unittest.mock

import measure
from source import read


def function(text):
    (found,) = read(text).functions
    return found


def planted(text, path="lib/exec/planted.h"):
    return {folder: [(path, read(text))] if path.startswith(folder) else [] for folder in measure.FOLDERS}


class Functions(unittest.TestCase):
    def test_each_branch_counts(self):
        text = "int f(int a) {\n  if (a && !a || a) return a ? 1 : 2;\n  for (;;) {}\n  while (a) {}\n  switch (a) { case 1: case 2: break; }\n}\n"
        self.assertEqual((function(text).name, function(text).lines, function(text).complexity), ("f", 6, 9))

    def test_texts_comments_and_directives_do_not_count(self):
        self.assertEqual(function('#if a && b\nvoid f() {\n  g("if (a && b)", \'?\');  // if\n}\n#endif\n').complexity, 1)

    def test_a_rvalue_reference_is_no_branch(self):
        self.assertEqual(function("void f(T&& a) { for (auto&& b : a) g(b); }").complexity, 2)

    def test_values_of_members_are_no_body(self):
        found = function("A::A(int a) : x_{a ? 1 : 2}, y_(a) {\n  if (a) g();\n}")
        self.assertEqual((found.name, found.complexity), ("A::A", 2))

    def test_templates_annotations_and_results_behind(self):
        text = "template <class T = std::vector<int>>\nauto f(T a) const noexcept REQUIRES(m) -> int { return a; }"
        self.assertEqual((function(text).name, function(text).lines), ("f", 2))


class Classes(unittest.TestCase):
    TEXT = """class CAPABILITY("mutex") A final : public B {
 public:
  A() = default;
  explicit A(int a) : a_{a} {}
  bool operator==(const A&) const = default;
  virtual int f() const REQUIRES(m_) = 0;
  void g() { f(); }
  using Call = void (*)(int);
  struct Inner { int x; int y; };
  static constexpr int kMost = 3;

 private:
  Mutex m_;
  int a_ GUARDED_BY(m_) = 0, b_ = 1;
  std::map<int, int> c_{{1, 2}};
};
"""

    def test_members_and_functions(self):
        found = {item.name: (item.functions, item.members) for item in read(self.TEXT).classes}
        self.assertEqual(found, {"A": (3, 4), "Inner": (0, 2)})


class Limits(unittest.TestCase):
    def failures(self, text):
        sources = planted(text)
        return list(measure.failures_of(measure.figures_of(sources), measure.large_classes(sources)))

    def test_what_is_simple_passes(self):
        self.assertEqual(self.failures("int f() { return 1; }"), [])

    def test_a_complex_function_is_told(self):
        text = "int f(int a) { return " + "a && " * 40 + "a; }"
        self.assertEqual(len(self.failures(text)), 2)

    def test_a_long_function_is_told(self):
        self.assertIn("above 40 lines", self.failures("void f() {\n" + "  g();\n" * 40 + "}")[0])

    def test_a_large_class_is_told(self):
        members = "".join(f"  int m{i};\n" for i in range(21))
        self.assertEqual(self.failures("struct A {\n" + members + "};"), ["class A: 0 functions and 21 members, more than 25 and 20"])

    def test_a_class_that_was_large_may_not_grow(self):
        members = "".join(f"  int m{i};\n" for i in range(42))
        with unittest.mock.patch.dict(measure.LARGE, {"A": (0, 42), "B": (0, 41)}):
            self.assertEqual(self.failures("struct A {\n" + members + "};"), [])
            self.assertIn("class B", self.failures("struct B {\n" + members + "};")[0])


if __name__ == "__main__":
    unittest.main()
