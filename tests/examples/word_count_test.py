#!/usr/bin/env python3
"""word_count.cc counts what wc counts.

    word_count_test.py WORD_COUNT
"""

import os
import random
import re
import shutil
import unittest

import example_program
from example_program import run


class WordCount(example_program.ExampleTest):
    def files(self):
        draw = random.Random(1)
        blanks = [" ", "  ", "\t", "\n", "\r\n", "\n\n", "\v", "\f", " \r "]
        for number in range(3):
            parts = [draw.choice(["a", "word", "two-fold", "x" * 3000]) + draw.choice(blanks) for _ in range(20_000)]
            (self.folder / f"{number}.txt").write_text("".join(parts) + "last", newline="")
        (self.folder / "empty.txt").write_text("")
        return sorted(self.folder.glob("*.txt"))

    def counted(self, *files, **how):
        return tuple(int(number) for number in re.fullmatch(r"(\d+) lines, (\d+) words\n", run(self.PROGRAM, *files, **how)).groups())

    @unittest.skipUnless(shutil.which("wc"), "there is no wc")
    def test_counts_as_wc_does(self):
        files = self.files()
        total = run("wc", "-w", *files, environment=os.environ | {"LC_ALL": "C"}).splitlines()[-1]
        self.assertEqual(self.counted(*files)[1], int(total.split()[0]))

    def test_counts_each_line_once(self):
        files = self.files()
        ends = sum(path.read_bytes().count(b"\n") for path in files)
        self.assertEqual(self.counted(*files)[0], ends + 3, "the last line of three has no end")

    def test_counts_the_others_where_one_is_not_there(self):
        files = self.files()
        self.assertEqual(self.counted(files[0], self.folder / "none.txt", *files[1:], expect=1), self.counted(*files))


if __name__ == "__main__":
    example_program.main()
