#!/usr/bin/env python3
"""Checks that every .cc of the tree is listed in some CMakeLists.txt.

    listed_sources.py ROOT BUILD_DIR

CMake's own record of what it compiles is BUILD_DIR/compile_commands.json. A test that is not listed
does not run, and nobody notices: hence this check.
"""

import json
import pathlib
import re
import sys

FOLDERS = ("lib", "ops", "autotune", "bench", "examples", "tests")
# Built elsewhere or only sometimes: the consumer of tests/install, what bench/compile measures, code that must not compile,
# and what needs ThreadSanitizer, libFuzzer or CUDA.
EXCEPT = ("tests/install/", "bench/compile/", "tests/compile_fail/", "tests/tsan/", "tests/fuzz/entry.cc", "ops/cuda/")


INCLUDED = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def sources_of(file):
    """Itself, or what a unity build has put together in it."""
    return [pathlib.Path(path) for path in INCLUDED.findall(file.read_text(encoding="utf-8"))] if file.parent.name == "Unity" else [file]


def compiled(build_dir):
    commands = json.loads((build_dir / "compile_commands.json").read_text(encoding="utf-8"))
    files = [pathlib.Path(entry["directory"], entry["file"]).resolve() for entry in commands]
    return {source.resolve() for file in files for source in sources_of(file)}


def main():
    root, build_dir = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    listed = compiled(build_dir)
    files = [file for folder in FOLDERS for file in sorted((root / folder).rglob("*.cc"))]
    paths = [file.relative_to(root).as_posix() for file in files if file not in listed]
    missing = [path for path in paths if not path.startswith(EXCEPT)]
    for path in missing:
        print(f"{path}: in no CMakeLists.txt")
    print(f"{len(files)} source files, {len(missing)} not listed")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
