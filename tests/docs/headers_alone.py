#!/usr/bin/env python3
"""Compiles each public header alone: none may need another one before it, and all may come twice.

    headers_alone.py INCLUDE_DIR COMPILER        exit 1 if a header does not compile without warnings

What a header forgets to include, both compilers miss, and each header is compiled with g++ by some test. So where clang++ is there, g++ compiles
them alone only with PENSTOCK_FULL=1; else the exit code is 77.
"""

import os
import pathlib
import shutil
import subprocess
import sys

FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]


def errors_of(compiler, include_dir, header):
    """What the compiler says against the header; empty if nothing."""
    command = [compiler, *FLAGS, "-fsyntax-only", f"-I{include_dir}", "-x", "c++", "-"]
    text = f"#include <{header}>\n" * 2
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return done.stderr or f"exit {done.returncode}" if done.returncode else ""


def headers_in(include_dir):
    return sorted(file.relative_to(include_dir).as_posix() for file in include_dir.rglob("*.h"))


def main():
    include_dir, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
    if pathlib.Path(compiler).name == "g++" and shutil.which("clang++") and os.environ.get("PENSTOCK_FULL") != "1":
        print("clang++ compiles them; PENSTOCK_FULL=1: this one, too")
        return 77
    headers = headers_in(include_dir)
    broken = 0
    for header in headers:
        errors = errors_of(compiler, include_dir, header)
        broken += bool(errors)
        if errors:
            print(f"<{header}> does not compile alone:\n{errors}")
    print(f"{len(headers)} headers, {broken} broken")
    return 1 if broken or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
