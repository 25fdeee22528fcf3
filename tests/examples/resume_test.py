#!/usr/bin/env python3
"""resume.cc, killed and started again, does what an uninterrupted run does.

    resume_test.py RESUME
"""

import signal

import example_program
from example_program import run


class Resume(example_program.ExampleTest):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "train.ckpt"
        self.whole = run(self.PROGRAM, self.folder / "other.ckpt", "--uninterrupted").splitlines()

    def killed(self):
        return run(self.PROGRAM, self.file, expect=-signal.SIGKILL).splitlines()

    def test_both_runs_together_are_the_uninterrupted_one(self):
        first = self.killed()
        second = run(self.PROGRAM, self.file).splitlines()
        resumed_at = len(self.whole) - len(second)
        self.assertEqual(first, self.whole[:len(first)])
        self.assertEqual(second, self.whole[resumed_at:])
        self.assertTrue(0 < resumed_at <= len(first) < len(self.whole), (resumed_at, len(first)))

    def test_is_killed_in_the_middle_of_an_epoch(self):
        last = self.killed()[-1]
        epoch = last.split(" batch ")[0]
        self.assertTrue(any(line.startswith(epoch + " ") for line in self.whole[self.whole.index(last) + 1:]), last)

    def test_a_half_written_checkpoint_does_no_harm(self):
        self.killed()
        whole_file = self.file.read_bytes()
        (self.folder / "train.ckpt.new").write_bytes(whole_file[:len(whole_file) // 2])
        self.assertEqual(run(self.PROGRAM, self.file).splitlines()[-1], self.whole[-1])

    def test_a_damaged_checkpoint_is_refused(self):
        self.killed()
        damaged = bytearray(self.file.read_bytes())
        damaged[-1] ^= 1
        self.file.write_bytes(damaged)
        run(self.PROGRAM, self.file, expect=1)

    def test_what_is_done_is_not_done_again(self):
        self.assertEqual(run(self.PROGRAM, self.folder / "other.ckpt"), "")


if __name__ == "__main__":
    example_program.main()
