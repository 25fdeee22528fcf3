"""What the tests of examples share: NAME_test.py PROGRAM [HELPER]..."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77  # ctest's SKIP_RETURN_CODE


def run(*command, environment=None, expect=0):
    """What a program prints; AssertionError with all its output if it ends with another status than expected."""
    command = [str(part) for part in command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    if done.returncode != expect:
        raise AssertionError(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class ExampleTest(unittest.TestCase):
    """A test with a folder of its own; PROGRAM and HELPERS are those of the command line."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)


def main():
    """Runs the tests of the calling script. Exit 77 if any was skipped, so that ctest does not call it passed."""
    ExampleTest.PROGRAM, *ExampleTest.HELPERS = sys.argv[1:]
    result = unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result
    sys.exit(1 if not result.wasSuccessful() else SKIPPED if result.skipped else 0)
