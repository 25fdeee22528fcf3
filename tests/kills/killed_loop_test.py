#!/usr/bin/env python3
"""A loop that saves checkpoints, killed at any moment and started again, has the batches of one that nobody killed.

    killed_loop_test.py KILLED_LOOP

20 kills in each test, 200 with PENSTOCK_FULL=1.
"""

import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

KILLS = 200 if os.environ.get("PENSTOCK_FULL", "0") not in ("", "0") else 20
LONGEST = 0.25  # seconds that a process lives
LARGEST_FILE = 100  # bytes on a full disk: no checkpoint fits
ENDLESS = 1_000_000  # epochs


def fill_disk():
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))


def start(file, every, epochs, **more):
    return subprocess.Popen([PROGRAM, file, str(every), str(epochs)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


class KilledLoop(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.file = pathlib.Path(temporary.name) / "train.ckpt"
        self.random = random.Random(3)
        self.batches = []  # of all processes, each without those of the next one
        self.in_the_middle = 0

    def killed(self, every, **more):
        """What a process says that is killed at some moment."""
        process = start(self.file, every, ENDLESS, **more)
        killer = threading.Timer(self.random.uniform(0, LONGEST), process.kill)
        killer.start()
        text, errors = process.communicate(timeout=60)
        killer.join()
        self.assertEqual((process.returncode, errors), (-signal.SIGKILL, ""))
        return text.splitlines()

    def add(self, lines):
        """Goes on from one of the batches that there were, or from the next one."""
        if not lines:
            return
        first = lines[0].rsplit(" ", 1)[0]
        places = [line.rsplit(" ", 1)[0] for line in self.batches]
        at = places.index(first) if first in places else len(places)
        self.in_the_middle += at > 0 and not first.endswith(" 0")
        self.batches[at:] = lines

    def check(self):
        """That all of them are those of a loop that nobody killed, which saves nothing."""
        epochs = int(self.batches[-1].split()[0]) + 1
        whole, errors = start(self.file, 0, epochs).communicate(timeout=600)
        self.assertEqual(errors, "")
        self.assertEqual(self.batches, whole.splitlines()[:len(self.batches)])
        self.assertGreater(self.in_the_middle, KILLS // 4)

    def test_saving_now_and_then(self):
        for _ in range(KILLS):
            self.add(self.killed(every=7))
        self.check()

    def test_while_it_saves(self):
        written = 0
        for _ in range(KILLS):
            self.add(self.killed(every=1))
            written += any(self.file.parent.glob("*.part"))
        self.check()
        self.assertGreater(written, 0, "some were killed in the middle of a file")

    def test_where_the_disk_is_full(self):
        refused = 0
        for kill in range(KILLS):
            if kill % 2 == 0 or not self.file.exists():
                self.add(self.killed(every=1))
                continue
            before = self.file.read_bytes()
            # SIGXFSZ stays ignored, as it is here
            lines = self.killed(every=1, preexec_fn=fill_disk, restore_signals=False)
            batches = [line for line in lines if not line.startswith("not saved: ")]
            refused += len(lines) - len(batches)
            self.add(batches)
            self.assertEqual(self.file.read_bytes(), before)
        self.check()
        self.assertGreater(refused, 0)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=2)
