#!/usr/bin/env python3
"""Checks what a program says of each mistake in run_time.cc.

    run_time.py PROGRAM GOLDEN      exit 1 if it is not what GOLDEN shows; PENSTOCK_UPDATE=1 makes that file anew

Each mistake is a process of its own; shown are the first five lines of what it writes, whether it writes them to stdout or stderr.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

SHOWN = 5        # lines
PATIENCE = 120   # s, against hangs


def normalised(text):
    text = re.sub(r"(run_time\.cc):[0-9]+", r"\1:12", text)
    text = re.sub(r"seed=[0-9]+ \(drawn\)", "seed=7 (drawn)", text)
    return re.sub(r"[0-9.]+ [KMG]iB", "20 MiB", text)  # how much there was when it was looked at


def first_lines(program, name, folder):
    done = subprocess.run([program, name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, cwd=folder,
                          timeout=PATIENCE)
    lines = normalised(done.stdout).splitlines()[:SHOWN]
    return lines + ([f"(exit {done.returncode})"] if done.returncode else [])


def main():
    program, golden = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    names = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    shown = "The first lines that a program writes which makes a mistake of run_time.cc.\n"
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            shown += f"\n== {name}\n" + "".join(f"{line}\n" for line in first_lines(program, name, folder))
    if os.environ.get("PENSTOCK_UPDATE"):
        golden.write_text(shown, encoding="utf-8")
    there = golden.read_text(encoding="utf-8")
    wrong = [] if there == shown else [f"'{a}' there, '{b}' now" for a, b in zip(there.splitlines(), shown.splitlines()) if a != b]
    print("\n".join(wrong))
    print(f"{len(names)} mistakes, {golden.name} " + ("as it is" if there == shown else "differs; if it should be so: PENSTOCK_UPDATE=1, and read the file"))
    return 0 if there == shown and names else 1


if __name__ == "__main__":
    sys.exit(main())
