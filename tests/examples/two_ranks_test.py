#!/usr/bin/env python3
"""two_ranks.cc has one order for any number of ranks.

    two_ranks_test.py TWO_RANKS
"""

import re
import shutil
import unittest

import example_program
from example_program import run

LINE = re.compile(r"^epoch (\d+) step (\d+) rank (\d+): ([\d ]+)$")
MPIRUN = shutil.which("mpirun")


def ranks_in(printed):
    """{rank: {epoch: its elements in order}}"""
    ranks = {}
    for line in printed.splitlines():
        epoch, _, rank, elements = LINE.match(line).groups()
        ranks.setdefault(int(rank), {}).setdefault(int(epoch), []).extend(map(int, elements.split()))
    return ranks


def dealt_back(ranks, epoch):
    """The global order: element k comes from rank k modulo the number of ranks."""
    hands = [ranks[rank][epoch] for rank in range(len(ranks))]
    return [element for row in zip(*hands, strict=True) for element in row]


class TwoRanks(example_program.ExampleTest):
    def plain(self):
        return ranks_in(run(self.PROGRAM))

    def started_by_mpirun(self, size):
        """As a user starts it; each rank's output goes to a file of its own."""
        run(MPIRUN, "-n", size, "--oversubscribe", "--allow-run-as-root", "--output-filename", self.folder, self.PROGRAM)
        files = sorted(self.folder.rglob("rank.*/stdout"))
        self.assertEqual(len(files), size)
        return ranks_in("".join(file.read_text(encoding="utf-8") for file in files))

    def test_a_plain_process_takes_everything(self):
        ranks = self.plain()
        self.assertEqual(list(ranks), [0])
        self.assertEqual([sorted(order) for order in ranks[0].values()], [list(range(96))] * 2)
        self.assertNotEqual(ranks[0][0], ranks[0][1])

    def same_order(self, size):
        alone, together = self.plain(), self.started_by_mpirun(size)
        self.assertEqual(sorted(together), list(range(size)))
        for epoch in (0, 1):
            self.assertEqual(dealt_back(together, epoch), alone[0][epoch])

    @unittest.skipUnless(MPIRUN, "there is no mpirun here: install openmpi-bin")
    def test_two_ranks_share_the_same_order(self):
        self.same_order(2)

    @unittest.skipUnless(MPIRUN, "there is no mpirun here: install openmpi-bin")
    def test_four_ranks_share_the_same_order(self):
        self.same_order(4)


if __name__ == "__main__":
    example_program.main()
