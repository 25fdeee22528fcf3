#!/usr/bin/env python3
"""train_loop.cc learns what can be learned, and nothing else.

    train_loop_test.py TRAIN_LOOP CLASS_PICTURES
"""

import re

import example_program
from example_program import run

EPOCH = re.compile(r"^epoch (\d+): loss ([\d.]+), ([\d.]+) pictures/s, waited for data ([\d.]+) %$", re.MULTILINE)
PICTURES = 200


class TrainLoop(example_program.ExampleTest):
    def setUp(self):
        super().setUp()
        run(self.HELPERS[0], self.folder, 4, PICTURES)

    def losses(self, *flags):
        """The mean loss of each epoch, and how many files were skipped in all."""
        printed = run(self.PROGRAM, self.folder, *flags)
        epochs = EPOCH.findall(printed)
        self.assertEqual([int(epoch[0]) for epoch in epochs], list(range(10)), printed)
        for _, _, rate, share in epochs:
            self.assertGreater(float(rate), 0)
            self.assertLessEqual(float(share), 100)
        return [float(epoch[1]) for epoch in epochs], int(re.search(r"^files skipped: (\d+)$", printed, re.M)[1])

    def test_the_loss_falls_to_half(self):
        losses, skipped = self.losses()
        self.assertLessEqual(losses[-1], losses[0] / 2, losses)
        self.assertEqual(skipped, 0)

    def test_the_loss_of_shuffled_labels_does_not(self):
        losses, _ = self.losses("--shuffle-labels")
        self.assertGreater(losses[-1], losses[0] / 2, losses)

    def test_gives_the_same_losses_again(self):
        self.assertEqual(self.losses(), self.losses())

    def test_skips_a_damaged_file_in_each_epoch_and_counts_it(self):
        victim = sorted(self.folder.rglob("*.JPEG"))[17]
        victim.write_bytes(victim.read_bytes()[:500])
        losses, skipped = self.losses()
        self.assertEqual(skipped, 10)
        self.assertLessEqual(losses[-1], losses[0] / 2, losses)


if __name__ == "__main__":
    example_program.main()
