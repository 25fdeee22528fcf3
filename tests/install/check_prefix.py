#!/usr/bin/env python3
"""Checks what an installed prefix shows to the world.

    check_prefix.py PREFIX SOURCE_INCLUDE_DIR COMPILER

Headers: those of the source tree, all of them; together they include nothing of penstock's from elsewhere, and no library's
but the standard one's. Shared libraries: each exported function is declared in a public header, or in one that components
share (those of lib and ops with a `#pragma GCC visibility`); besides, there are only templates and inline functions of penstock's and
of the standard library's, which are weak.
"""

import pathlib
import re
import subprocess
import sys

PRIVATE_DEPENDENCY = re.compile(r"/(oneapi|tbb|hwy|nlohmann|CLI|gtest|benchmark)/|/(jpeglib|jconfig|tinyxml2)\.h$")
OURS = re.compile(r"penstock::")
STANDARD = re.compile(r"\b(std|__gnu_cxx)::|^operator (new|delete)")
STRONG = set("TDBRGS")
SYMBOL = re.compile(r"^[0-9a-f]* *([A-Za-z]) (.*)$")


def headers_in(folder):
    return {file.relative_to(folder).as_posix() for file in folder.rglob("*.h")}


def included_by(headers, include_dir, compiler):
    """Every file that the headers include, themselves among them."""
    text = "".join(f"#include <{header}>\n" for header in sorted(headers))
    command = [compiler, "-std=c++20", "-M", f"-I{include_dir}", "-x", "c++", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return [path for path in done.stdout.replace("\\\n", " ").split()[1:] if path != "-"]


def header_problems(include_dir, source_include_dir, compiler):
    headers = headers_in(include_dir)
    missing = headers_in(source_include_dir) ^ headers
    included = included_by(headers, include_dir, compiler)
    foreign = [path for path in included if PRIVATE_DEPENDENCY.search(path)]
    elsewhere = [path for path in included if "/penstock/" in path and not path.startswith(str(include_dir))]
    return ([f"header in one of the trees only: {header}" for header in sorted(missing)] +
            [f"a public header includes {path}" for path in foreign + elsewhere])


def symbols_of(library):
    """(type letter of nm, demangled name) of everything that a shared library exports."""
    command = ["nm", "-DC", "--defined-only", str(library)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [match.groups() for match in map(SYMBOL.match, lines) if match]


def name_of(symbol):
    """The bare name of a function: "penstock::ops::map(int)" is "map"."""
    return re.sub(r"\[abi:\w+\]", "", symbol).partition("(")[0].split("::")[-1].lstrip("~")


def symbol_problems(library, declared):
    problems = []
    for kind, symbol in symbols_of(library):
        if kind not in STRONG:
            known = OURS.search(symbol) or STANDARD.search(symbol)
        else:
            known = symbol.startswith("penstock::") and re.search(rf"\b{re.escape(name_of(symbol))}(?!\w)", declared)
        if not known:
            problems.append(f"{library.name} exports {symbol}")
    return problems


def shared_by_components(root):
    files = [file for folder in ("lib", "ops") for file in sorted((root / folder).rglob("*.h"))]
    texts = [file.read_text(encoding="utf-8") for file in files]
    return "".join(text for text in texts if "#pragma GCC visibility push(default)" in text)


def main():
    prefix, source_include_dir, compiler = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    include_dir = prefix / "include"
    problems = header_problems(include_dir, source_include_dir, compiler)
    declared = "".join((include_dir / header).read_text(encoding="utf-8") for header in headers_in(include_dir))
    declared += shared_by_components(source_include_dir.parent)
    libraries = [file for file in prefix.rglob("libpenstock*.so*") if not file.is_symlink()]
    for library in libraries:
        problems += symbol_problems(library, declared)
    for problem in problems:
        print(problem)
    print(f"{len(headers_in(include_dir))} headers, {len(libraries)} shared libraries, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
