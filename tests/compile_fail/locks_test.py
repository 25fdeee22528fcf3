#!/usr/bin/env python3
"""The check itself: a lock that clang misses, one that nobody misses, and a file that does not compile."""

import pathlib
import shutil
import tempfile
import unittest

from locks import LOCK, check_file, check_tree, end_of_scope

CLANG = ["clang++", "-std=c++20", "-fsyntax-only", "-Wthread-safety", "-Werror"]
SOURCE = """#include "lib/base/mutex.h"
namespace penstock {
class Count {
 public:
  void add() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    ++count_;
  }

 private:
  Mutex mutex_;
  int count_ GUARDED_BY(mutex_) = 0;
};
}  // namespace penstock
"""
MUTEX = pathlib.Path(__file__).parents[2] / "lib/base/mutex.h"


class Locks(unittest.TestCase):
    def failures(self, text):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "lib/base").mkdir(parents=True)
            shutil.copy(MUTEX, root / "lib/base")
            (root / "lib/count.h").write_text(text, encoding="utf-8")
            return check_file(CLANG, root, "lib/count.h", [LOCK])

    @unittest.skipUnless(shutil.which("clang++"), "there is no clang++ here")
    def test_clang_misses_the_lock(self):
        self.assertEqual(self.failures(SOURCE), ([], 1))

    @unittest.skipUnless(shutil.which("clang++"), "there is no clang++ here")
    def test_a_member_that_does_not_say_who_keeps_it_is_reported(self):
        failures, _ = self.failures(SOURCE.replace(" GUARDED_BY(mutex_)", ""))
        self.assertEqual(failures, ["lib/count.h:6: nobody misses MutexLock lock(mutex_);"])

    @unittest.skipUnless(shutil.which("clang++"), "there is no clang++ here")
    def test_what_does_not_compile_is_reported(self):
        failures, _ = self.failures(SOURCE.replace("    MutexLock lock(mutex_);\n", ""))
        self.assertEqual(failures, ["lib/count.h:6: does not compile as it stands"])
        self.assertNotEqual(self.failures(SOURCE + "oops")[0], [])

    def test_a_tree_without_locks_has_none(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(check_tree(CLANG, pathlib.Path(folder)), ([], 0, 0))

    def test_a_scope_ends_at_the_brace_that_stands_further_left(self):
        lines = ["void f() {", "  {", "    MutexLock lock(m);", "    if (a) {", "    }", "  }", "}"]
        self.assertEqual(end_of_scope(lines, 2), 5)


if __name__ == "__main__":
    unittest.main()
