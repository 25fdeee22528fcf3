#!/usr/bin/env python3
"""Checks what the compiler says of the programs in compile_time.txt.

    compile_time.py COMPILER INCLUDE_DIR GOLDEN      exit 1 if one compiles, or its mistake is not named in the first five lines

GOLDEN shows these lines. They are compared where the compiler is the one that the file was made with; PENSTOCK_UPDATE=1 makes it anew.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
SHOWN = 5  # lines
PRELUDE = '#include "prelude.h"\n'


def programs_in(text):
    """[(name, texts that must be said, program)]; no texts: it is right."""
    found = []
    for section in re.split(r"^== ", text, flags=re.MULTILINE)[1:]:
        head, _, rest = section.partition("\n")
        says = re.findall(r"^says: (.+)$", rest, re.MULTILINE)
        program = re.sub(r"^(says: .+|compiles)\n", "", rest, flags=re.MULTILINE)
        found.append((head.split(":")[0], says, program.strip() + "\n"))
    return found


def version_of(compiler):
    """"g++ 12" or "clang++ 14"."""
    said = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    name = "clang++" if "clang" in said else "g++"
    return f"{name} {re.search(r' ([0-9]+)[.]', said)[1]}"


def normalised(text, include_dir):
    """Without what differs from machine to machine, or with each line that a header gains."""
    text = text.replace(f"{include_dir}/", "")
    text = re.sub(r"(?:[^\s:']*/)?(penstock/[a-z_/]+\.h):[0-9]+(?::[0-9]+)?", r"\1", text)
    text = re.sub(r"auto:[0-9]+", "auto", text)
    return re.sub(r"[^\s:']*/(?=(?:type_traits|prelude\.h))", "", text)


class Compiler:
    """Compiles programs that begin with the prelude, which is compiled once."""

    def __init__(self, compiler, include_dir, folder):
        self.folder = pathlib.Path(folder)
        self.include_dir = include_dir
        self.command = [compiler, "-std=c++20", f"-I{include_dir}", "-fno-diagnostics-color"]
        header = self.folder / "prelude.h"
        header.write_text((HERE / "prelude.h").read_text(encoding="utf-8"), encoding="utf-8")
        is_clang = "clang" in version_of(compiler)
        output = self.folder / ("prelude.h.pch" if is_clang else "prelude.h.gch")
        subprocess.run([*self.command, "-x", "c++-header", str(header), "-o", str(output)], check=True)
        self.command += ["-fsyntax-only"] + (["-include-pch", str(output)] if is_clang else [])
        self.prelude = "\n" if is_clang else PRELUDE

    def first_lines(self, name, program):
        """What is said of it; nothing: it compiles."""
        source = self.folder / f"{name}.cc"
        source.write_text(self.prelude + program, encoding="utf-8")
        done = subprocess.run([*self.command, source.name], cwd=self.folder, capture_output=True, text=True, check=False,
                              env={**os.environ, "LC_ALL": "C"})
        if done.returncode == 0:
            return []
        return [line.rstrip() for line in normalised(done.stderr, self.include_dir).splitlines()[:SHOWN]]


def fault(says, lines):
    if not says:
        return f"does not compile: {lines}" if lines else None
    if not lines:
        return "compiles"
    missing = [text for text in says if not any(text in line for line in lines)]
    return f"no line says {missing}:\n" + "\n".join(lines) if missing else None


def main():
    compiler, include_dir, golden = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    programs = programs_in((HERE / "compile_time.txt").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        compile_it = Compiler(compiler, include_dir, folder)
        said = [(name, says, compile_it.first_lines(name, program)) for name, says, program in programs]
    wrong = [f"{name}: {text}" for name, says, lines in said if (text := fault(says, lines))]
    version = version_of(compiler)
    shown = f"The first lines of what {version} says of the programs in compile_time.txt.\n"
    shown += "".join(f"\n== {name}\n" + "".join(f"{line}\n" for line in lines or ["(compiles)"]) for name, _, lines in said)
    if os.environ.get("PENSTOCK_UPDATE"):
        golden.write_text(shown, encoding="utf-8")
    there = golden.read_text(encoding="utf-8")
    if f"what {version} says" not in there.splitlines()[0]:
        print(f"{golden.name} is not of {version}: its lines are not compared")
    elif there != shown:
        wrong += [f"{golden.name}: '{a}' there, '{b}' now" for a, b in zip(there.splitlines(), shown.splitlines()) if a != b][:10]
        wrong.append(f"{golden.name} is not what is said now; if it should be so: PENSTOCK_UPDATE=1, and read the file")
    print("\n".join(wrong))
    print(f"{len(programs)} programs, {len(wrong)} faults")
    return 1 if wrong or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
