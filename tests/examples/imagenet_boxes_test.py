#!/usr/bin/env python3
"""imagenet_boxes.cc delivers every box of every annotation, as Python's own XML parser counts them.

    imagenet_boxes_test.py IMAGENET_BOXES PENSTOCK_IMAGENET
"""

import os
import re
import xml.etree.ElementTree as ElementTree

import example_program
from example_program import run

FILES = 80
SUMMARY = re.compile(r"^files (\d+), boxes (\d+), without annotation (\d+), skipped (\d+)$", re.MULTILINE)


class ImagenetBoxes(example_program.ExampleTest):
    def setUp(self):
        super().setUp()
        run(self.HELPERS[0], "--data", self.folder, "--generate", FILES)
        self.pictures = sorted(self.folder.rglob("*.JPEG"))

    def xml_of(self, picture):
        return self.folder / "Annotations" / picture.relative_to(self.folder / "Data").with_suffix(".xml")

    def boxes(self, pictures):
        return sum(len(ElementTree.parse(self.xml_of(picture)).findall("object")) for picture in pictures)

    def epoch(self, **variables):
        """The sizes of the batches, and (files, boxes, without annotation, skipped)."""
        printed = run(self.PROGRAM, self.folder, environment=os.environ | variables)
        sizes = [int(size) for size in re.findall(r"^step: images \[(\d+), 256, 256, 3\]", printed, re.MULTILINE)]
        return sizes, tuple(map(int, SUMMARY.search(printed).groups()))

    def test_delivers_every_box_in_batches_of_128(self):
        boxes = self.boxes(self.pictures)
        self.assertGreater(boxes, 128)
        sizes, counted = self.epoch()
        self.assertEqual(sizes, [128] * (boxes // 128) + [boxes % 128] * (boxes % 128 > 0))
        self.assertEqual(counted, (FILES, boxes, 0, 0))

    def test_takes_a_picture_without_annotation_whole_and_skips_a_damaged_one(self):
        bare, damaged, *good = self.pictures
        self.xml_of(bare).unlink()
        damaged.write_bytes(damaged.read_bytes()[:300])
        boxes = self.boxes(good) + 1
        sizes, counted = self.epoch()
        self.assertEqual(sum(sizes), boxes)
        self.assertEqual(counted, (FILES - 1, boxes, 1, 1))

    def test_two_ranks_share_the_files(self):
        parts = [self.epoch(PENSTOCK_WORLD_SIZE="2", PENSTOCK_RANK=rank)[1] for rank in "01"]
        self.assertEqual([part[0] for part in parts], [FILES // 2] * 2)
        self.assertEqual(sum(part[1] for part in parts), self.boxes(self.pictures))


if __name__ == "__main__":
    example_program.main()
