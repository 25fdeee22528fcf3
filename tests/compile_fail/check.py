#!/usr/bin/env python3
"""Checks that a source compiles as it stands, and that without each of its obligations it does not.

    check.py COMPILER INCLUDE_DIR SOURCE

A line `// FORGETS name: pattern` in the source announces a macro FORGETS_name, which leaves something
out; the compiler must then fail with a text that matches the pattern.
"""

import re
import subprocess
import sys


def compile_source(compiler, include, source, *flags):
    command = [compiler, "-std=c++20", "-fsyntax-only", "-I", include, *flags, source]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def failures_of(compiler, include, source):
    with open(source, encoding="utf-8") as stream:
        forgotten = re.findall(r"^// FORGETS (\w+): (.+)$", stream.read(), re.MULTILINE)
    failures = [] if forgotten else [f"{source}: announces nothing to forget"]
    whole = compile_source(compiler, include, source)
    if whole.returncode != 0:
        failures.append(f"{source}: does not compile as it stands:\n{whole.stderr}")
    for name, pattern in forgotten:
        answer = compile_source(compiler, include, source, f"-DFORGETS_{name}")
        if answer.returncode == 0:
            failures.append(f"{source}: compiles without {name}")
        elif not re.search(pattern, answer.stderr):
            failures.append(f"{source}: without {name} the compiler does not say '{pattern}':\n{answer.stderr}")
    return failures, len(forgotten)


def main():
    failures, count = failures_of(*sys.argv[1:4])
    print("\n".join(failures))
    print(f"{count} obligations, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
