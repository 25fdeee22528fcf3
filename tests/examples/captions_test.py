#!/usr/bin/env python3
"""captions.cc gives each picture its own line.

    captions_test.py CAPTIONS CLASS_PICTURES
"""

import re

import example_program
from example_program import run

PICTURES = 5


class Captions(example_program.ExampleTest):
    def setUp(self):
        super().setUp()
        run(self.HELPERS[0], self.folder, 2, PICTURES)
        self.names = [path.name for path in sorted(self.folder.rglob("*.JPEG"))]
        self.lines = self.folder / "captions.txt"
        self.lines.write_text("".join(f"this is {name}\n" for name in self.names))

    def test_each_picture_comes_once_with_its_line(self):
        printed = re.findall(r"^  (.*): (.*)$", run(self.PROGRAM, self.folder, self.lines), re.M)
        self.assertEqual(sorted(name for name, _ in printed), sorted(self.names))
        for name, caption in printed:
            self.assertEqual(caption, f"this is {name}")

    def test_they_are_shuffled(self):
        printed = re.findall(r"^  (.*): ", run(self.PROGRAM, self.folder, self.lines), re.M)
        self.assertNotEqual(printed, self.names)

    def test_a_missing_line_is_told(self):
        self.lines.write_text("only one\n")
        run(self.PROGRAM, self.folder, self.lines, expect=1)


if __name__ == "__main__":
    example_program.main()
