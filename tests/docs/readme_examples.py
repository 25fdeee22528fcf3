#!/usr/bin/env python3
"""Checks the C++ of the README files: it compiles, prints what the next block says, is what it quotes.

    readme_examples.py ROOT PROGRAM_DIR COMPILER

A block with a main() must be the text of an example in examples/, word for word. The example is run
(PROGRAM_DIR/example-NAME), and the ```text block that follows must be its output. A block without
main() is a fragment: it is compiled inside a function, behind the headers that the line before it
names, `#include <penstock/...>` in backquotes, and no others; penstock.h where it names none. code_examples.py
runs it. An indented block of C++ is a quotation: it must stand in a source file, whatever the lines there.
"""

import pathlib
import re
import subprocess
import sys

from example_output import difference, output_of

READMES = ("README.md", "lib/README.md", "ops/README.md", "autotune/README.md", "tests/README.md", "bench/README.md")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^( {4}.*\n(?: {4}.*\n|\n(?= {4}))*)", re.MULTILINE)
LOOKS_LIKE_CPP = re.compile(r"[;{]$", re.MULTILINE)
QUOTED_FOLDERS = ("include", "lib", "ops", "autotune", "examples", "tests/ops")
INCLUDE = re.compile(r"`(#include <[^`]*>)`")
PRELUDE = """
#include <string>
namespace ps = penstock;
struct Reader {  // has what the texts call the user's own work
static std::string read(const std::string&);
static std::string decode(const std::string&);
template <class... Batch> static void step(const Batch&...);
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
    source = "\n".join(includes) + PRELUDE + code + "}\n};\n"
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


def without_spaces(text):
    """So that a quotation may break its lines elsewhere."""
    return "".join(text.split())


def quotable(root):
    """All our sources, as quotations are looked up in them."""
    files = [file for folder in QUOTED_FOLDERS for file in (root / folder).rglob("*") if file.suffix in (".h", ".cc")]
    return "".join(without_spaces(file.read_text(encoding="utf-8")) for file in files)


def check_quotations(text, sources):
    """(line, what is wrong) of each indented block of C++ that stands in no source, and how many such blocks there are."""
    text = BLOCK.sub(lambda block: "\n" * block[0].count("\n"), text)
    quotations = [(text.count("\n", 0, match.start(1)) + 1, match[1]) for match in INDENTED.finditer(text)
                  if LOOKS_LIKE_CPP.search(match[1])]
    problems = [(line, "is not the text of any source file\n") for line, code in quotations
                if without_spaces(code) not in sources]
    return problems, len(quotations)


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
    sources = quotable(root)
    for name in READMES:
        text = (root / name).read_text(encoding="utf-8")
        problems, count = check_text(text, root, programs, compiler)
        misquoted, quoted = check_quotations(text, sources)
        problems += misquoted
        total += count + quoted
        bad += len(problems)
        for line, problem in problems:
            print(f"{name}:{line}: {problem}")
    print(f"{total} C++ blocks, {bad} wrong")
    return 1 if bad or not total else 0


if __name__ == "__main__":
    sys.exit(main())
