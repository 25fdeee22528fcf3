#!/usr/bin/env python3
"""elastic.cc goes on with other ranks where those before were killed, with the same global batches.

    elastic_test.py ELASTIC
"""

import os
import re
import shutil
import unittest

import example_program
from example_program import run

LINE = re.compile(r"^epoch (\d+) step (\d+) rank (\d+): ([\d ]+)$")
MPIRUN = shutil.which("mpirun")
STEPS = [(epoch, step) for epoch in range(2) for step in range(8)]


def global_batches(printed):
    """{(epoch, step): the elements of all ranks, as they are dealt out}"""
    hands = {}
    for line in printed.splitlines():
        epoch, step, rank, elements = LINE.match(line).groups()
        place = hands.setdefault((int(epoch), int(step)), {})
        if int(rank) in place:
            raise AssertionError(f"twice: {line}")
        place[int(rank)] = list(map(int, elements.split()))
    return {
        at: [element for row in zip(*(by_rank[rank] for rank in range(len(by_rank))), strict=True) for element in row]
        for at, by_rank in hands.items()
    }


class Elastic(example_program.ExampleTest):
    def job(self, ranks, *arguments):
        """As a user starts it; each rank's output goes to a file of its own."""
        folder = self.folder / f"job{len(list(self.folder.iterdir()))}"
        options = ("--oversubscribe", "--allow-run-as-root", "--output-filename", folder)
        run(MPIRUN, "-n", ranks, *options, self.PROGRAM, *arguments)
        files = sorted(folder.rglob("rank.*/stdout"))
        self.assertEqual(len(files), ranks)
        return global_batches("".join(file.read_text(encoding="utf-8") for file in files))

    def goes_on(self, *starts):
        """starts: (ranks, steps until they are killed)"""
        alone = global_batches(run(self.PROGRAM, "none", self.folder / "alone"))
        self.assertEqual(sorted(alone), STEPS)
        together = {}
        for number, (ranks, steps) in enumerate(starts):
            part = self.job(ranks, self.folder / f"save{number}", self.folder / f"save{number + 1}", steps)
            self.assertFalse(set(part) & set(together), "each step once")
            together.update(part)
        self.assertEqual(together, alone)
        for epoch in range(2):
            batches = [together[epoch, step] for step in range(8)]
            self.assertEqual(sorted(sum(batches, [])), list(range(96)), "each element once")

    @unittest.skipUnless(MPIRUN, "there is no mpirun here: install openmpi-bin")
    def test_four_ranks_then_two(self):
        self.goes_on((4, 5), (2, -1))

    @unittest.skipUnless(MPIRUN, "there is no mpirun here: install openmpi-bin")
    def test_four_ranks_then_three(self):
        self.goes_on((4, 11), (3, -1))

    @unittest.skipUnless(MPIRUN, "there is no mpirun here: install openmpi-bin")
    def test_three_ranks_then_four_then_two_from_the_end_of_an_epoch(self):
        self.goes_on((3, 3), (4, 5), (2, -1))

    def test_a_number_that_does_not_divide_the_batch_is_refused(self):
        environment = {**os.environ, "PENSTOCK_WORLD_SIZE": "5", "PENSTOCK_RANK": "0"}
        run(self.PROGRAM, "none", self.folder / "save", environment=environment, expect=1)


if __name__ == "__main__":
    example_program.main()
