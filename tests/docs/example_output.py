#!/usr/bin/env python3
"""Runs an example and compares what it prints with what its source promises.

    example_output.py SOURCE.cc PROGRAM

The promise is the source's last comment, from the line "// Prints:" on; three columns ("// " and two
more) are cut off. quickstart.cc has none: its output stands in README.md (readme_examples.py).
"""

import difflib
import pathlib
import subprocess
import sys

HEAD = "// Prints:"


def promised_output(source):
    """The text after the last "// Prints:", None without one."""
    _, head, comment = source.rpartition(HEAD + "\n")
    if not head:
        return None
    lines = [line.removeprefix("//").removeprefix("   ") for line in comment.splitlines()]
    return "".join(line + "\n" for line in lines)


def output_of(program):
    """What the program prints; RuntimeError if it fails."""
    done = subprocess.run([program], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        raise RuntimeError(f"{program} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def difference(promised, printed):
    """A diff for people; empty if both are equal."""
    return "".join(difflib.unified_diff(promised.splitlines(True), printed.splitlines(True),
                                        "promised", "printed"))


def main():
    source, program = pathlib.Path(sys.argv[1]), sys.argv[2]
    printed = output_of(program)
    promised = promised_output(source.read_text(encoding="utf-8"))
    if promised is None:
        print(f"{source.name} promises nothing; it ran, and printed {len(printed)} characters")
        return 0 if printed else 1
    found = difference(promised, printed)
    print(found or f"{source.name} prints what it promises")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
