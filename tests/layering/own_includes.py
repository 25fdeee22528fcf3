#!/usr/bin/env python3
"""Checks that a test includes what it uses of tests/support/precompiled.h: with that compiled beforehand, no compiler would miss it.

    own_includes.py [ROOT]      prints one line for each header that is missing; exit 1 if there is any

The same for the tests' own headers: where several files are compiled as one (PENSTOCK_UNITY_BUILD), each finds what another includes.

A header counts if the file includes it, or a header of the project that the file includes. So does a declaration of a name of penstock.h's, or of a
test's header.
own_includes_test.py plants what must be found.
"""

import collections
import functools
import pathlib
import re
import sys

PRECOMPILED = "tests/support/precompiled.h"

# What tells that a header of PRECOMPILED is used. Each of its headers is here.
NAMES = {
    "algorithm": r"std::(ranges::)?(all_of|any_of|none_of|copy|copy_if|count|count_if|equal|fill|find|find_if|for_each|generate|max|max_element|min|"
                 r"min_element|minmax_element|remove_if|replace|reverse|rotate|shuffle|sort|stable_sort|transform|unique|clamp)\b\(",
    "atomic": r"std::atomic\w*\b",
    "chrono": r"std::chrono::",
    "filesystem": r"std::filesystem\b",
    "fstream": r"std::[io]?fstream\b",
    "functional": r"std::(function|hash|invoke|ref|cref|greater|less|plus|reference_wrapper)\b",
    "gmock/gmock.h": r"\b(EXPECT_THAT|ASSERT_THAT|MATCHER(_P)?)\b",
    "gtest/gtest.h": r"\b(TEST(_[FP])?\b|(EXPECT|ASSERT)_(EQ|NE|LT|LE|GT|GE|TRUE|FALSE|THROW|NO_THROW|DEATH|EXIT|NEAR)\b|ADD_FAILURE|FAIL\(|GTEST_\w+)",
    "iostream": r"std::(cout|cerr|clog|cin)\b",
    "limits": r"std::numeric_limits\b",
    "map": r"std::(multi)?map\b",
    "memory": r"std::(unique_ptr|shared_ptr|weak_ptr|make_unique|make_shared|enable_shared_from_this)\b",
    "mutex": r"std::(mutex|lock_guard|unique_lock|scoped_lock|once_flag|call_once|recursive_mutex)\b",
    "optional": r"std::(optional|nullopt|make_optional)\b",
    "random": r"std::(mt19937\w*|minstd_rand|uniform_\w+_distribution|random_device|normal_distribution)\b",
    "set": r"std::(multi)?set\b",
    "sstream": r"std::[io]?stringstream\b",
    "string": r"std::(string|to_string|stoi|stol|stoull|stod|getline)\b",
    "thread": r"std::(thread|jthread|this_thread)\b",
    "utility": r"std::(move|pair|make_pair|swap|exchange|forward)\b",
    "vector": r"std::vector\b",
}
PARTLY = "penstock/penstock.h"  # who does not include it may include those of its parts that declare what he names

OF_STRANGERS = "tests/install/"  # compiled by themselves

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
DECLARATION = re.compile(r"(?:\b(?:class|struct|enum class|concept|using)|#define)\s+(?:\w+::)*([A-Z]\w+)\b")
NAME = re.compile(r"\b[A-Z]\w+\b")
CONSTANTS = re.compile(r"^(?:inline )?constexpr .*", re.MULTILINE)  # of a namespace
HELPER = re.compile(r"^(?:#define|class|struct) ([A-Z]\w+)\b", re.MULTILINE)
HELPER_NAME = re.compile(r"(?<![\w.])(?:[A-Z]\w+|k[A-Z]\w*)\b")
CONSTANT = re.compile(r"\b(k[A-Z]\w*)(?:\[\w*\])? ?[={]")
NO_CODE = re.compile(r'//[^\n]*|"(\\.|[^"\\\n])*"|(?<=\bTEST)\([^)]*\)')  # comments, texts, the names of tests


def precompiled_headers(root):
    return set(INCLUDE.findall((root / PRECOMPILED).read_text(encoding="utf-8")))


@functools.cache
def look_at(root, path):
    """Of a file of the project: its code, and what it includes and declares, by itself or through other files of the project."""
    file = root / ("include/" + path if path.startswith("penstock/") else path)
    if not file.is_file():
        return "", frozenset(), frozenset()
    text = file.read_text(encoding="utf-8")
    code = NO_CODE.sub("", INCLUDE.sub("", text))
    own = INCLUDE.findall(text)
    below = [look_at(root, name) for name in own]
    return (code, frozenset(own).union(*(there for _, there, _ in below)),
            frozenset(DECLARATION.findall(code) + CONSTANT.findall(code)).union(*(names for _, _, names in below)))


def missing(root, path):
    code, there, declared = look_at(root, path)
    yield from (f"uses <{header}>, and includes it nowhere" for header, names in NAMES.items() if header not in there and re.search(names, code))
    public = look_at(root, PARTLY)[2]
    yield from (f"uses {name} of <{PARTLY}>, and includes it nowhere" for name in sorted(public.intersection(NAME.findall(code)) - declared))


def helpers(root):
    """What the tests' headers declare for several files: types, constants, macros, each with the headers that do so."""
    found = collections.defaultdict(set)
    for header in sorted((root / "tests").rglob("*.h")):
        code = NO_CODE.sub("", header.read_text(encoding="utf-8"))
        for name in HELPER.findall(code) + CONSTANT.findall("".join(CONSTANTS.findall(code))):
            found[name].add(header.relative_to(root).as_posix())
    return found


def missing_helpers(root, path, declared_by):
    code, there, declared = look_at(root, path)
    for name in sorted(set(HELPER_NAME.findall(code)).intersection(declared_by) - declared):
        if not there & declared_by[name]:
            yield f"uses {name} of {' or '.join(sorted(declared_by[name]))}, and includes it nowhere"


def check_tree(root):
    """What is wrong below root, as text."""
    declared_by = helpers(root)
    unknown = precompiled_headers(root) - set(NAMES) - {PARTLY}
    problems = [f"{PRECOMPILED}: {header} is not in NAMES of own_includes.py" for header in sorted(unknown)]
    paths = [file.relative_to(root).as_posix() for file in sorted((root / "tests").rglob("*.cc"))]
    for path in paths:
        found = [*missing(root, path), *missing_helpers(root, path, declared_by)]
        problems += [f"{path}: {problem}" for problem in found if not path.startswith(OF_STRANGERS)]
    return problems


def main():
    root = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    problems = check_tree(root)
    print("\n".join(problems + [f"{len(problems)} includes missing"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
