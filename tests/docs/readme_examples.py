#!/usr/bin/env python3
"""Checks every ```cpp block of the README files: it compiles, and prints what the next block says.

    readme_examples.py ROOT PROGRAM_DIR COMPILER

A block with a main() must be the text of an example in examples/, word for word. The example is run
(PROGRAM_DIR/example-NAME), and the ```text block that follows must be its output. A block without
main() is a fragment: it is compiled inside a function, behind the headers that the line before it
names, `#include <penstock/...>` in backquotes, and no others; penstock.h where it names none.
"""

import pathlib
import re
import subprocess
import sys

from example_output import difference, output_of

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INCLUDE = re.compile(r"`(#include <[^`]*>)`")
PRELUDE = """
namespace ps = penstock;
template <class Batch> void step(const Batch&);  // what the texts call the user's own work
void fragment() {
"""


def blocks_of(text):
    """(language, content, line of its first line) of each block."""
    return [(match[1], match[2], text.count("\n", 0, match.start(2)) + 1)
            for match in BLOCK.finditer(text)]


def includes_before(text, line):
    """The #include lines that the last line of text before the block whose content begins here names."""
    prose = "\n".join(text.splitlines()[:line - 2]).rstrip().rpartition("\n")[2]
    return INCLUDE.findall(prose) or ["#include <penstock/penstock.h>"]


def is_program(code):
    return re.search(r"\bint main\(", code) is not None


def check_fragment(includes, code, root, compiler):
    """What the compiler says against a fragment; empty if nothing."""
    command = [compiler, "-std=c++20", "-Wno-unused-variable", "-fsyntax-only", f"-I{root / 'include'}",
               "-x", "c++", "-"]
    source = "\n".join(includes) + PRELUDE + code + "}\n"
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def check_program(code, following, root, programs):
    """What is wrong with a program and the block behind it; empty if nothing."""
    same = [file for file in sorted((root / "examples").glob("*.cc"))
            if file.read_text(encoding="utf-8") == code]
    if not same:
        return "is not the text of any file in examples/\n"
    if following is None or following[0] != "text":
        return "has no ```text block with its output behind it\n"
    return difference(following[1], output_of(str(programs / f"example-{same[0].stem}")))


def check_text(text, root, programs, compiler):
    """(line, what is wrong) of each bad ```cpp block, and how many blocks there are."""
    blocks = blocks_of(text)
    problems, count = [], 0
    for place, (language, code, line) in enumerate(blocks):
        if language != "cpp":
            continue
        count += 1
        following = blocks[place + 1] if place + 1 < len(blocks) else None
        problem = (check_program(code, following, root, programs) if is_program(code)
                   else check_fragment(includes_before(text, line), code, root, compiler))
        if problem:
            problems.append((line, problem))
    return problems, count


def main():
    root, programs, compiler = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    bad = total = 0
    for name in ("README.md", "lib/README.md", "autotune/README.md", "tests/README.md", "bench/README.md"):
        problems, count = check_text((root / name).read_text(encoding="utf-8"), root, programs, compiler)
        total += count
        bad += len(problems)
        for line, problem in problems:
            print(f"{name}:{line}: {problem}")
    print(f"{total} C++ blocks, {bad} wrong")
    return 1 if bad or not total else 0


if __name__ == "__main__":
    sys.exit(main())
