#!/usr/bin/env python3
"""How complex the library is, and that it does not become more so.

    measure.py [ROOT]     prints a table; exit 1 if a figure is above its limit

Complexity is McCabe's by tokens: 1 + if, for, while, case, catch, &&, ||, ?, as lizard counts it, which no distribution has a package of. A limit above
the aim is what was there when it was written: lower it whenever the figure has fallen.
"""

import pathlib
import sys

from source import read

FOLDERS = ["lib", "ops", "autotune"]
MOST_LINES, MOST_FUNCTIONS, MOST_MEMBERS = 40, 25, 20

# name: (aim, limit)
LIMITS = {
    "complexity, 99 % of functions": (8, 8),
    "complexity, most": (15, 15),
    f"functions above {MOST_LINES} lines in lib/exec": (0, 0),
}
# Classes of lib/exec beyond the aim: functions, data members.
LARGE = {}


def files_of(root, folder):
    return [file for file in sorted((root / folder).rglob("*")) if file.suffix in (".h", ".cc")]


def percentile(values, part):
    """The least value that so many of them do not pass."""
    return sorted(values)[max(-(-len(values) * part // 100) - 1, 0)] if values else 0


def read_folder(root, folder):
    return [(file.relative_to(root).as_posix(), read(file.read_text(encoding="utf-8"))) for file in files_of(root, folder)]


def figures_of(sources):
    """Of all folders together; `sources` gives for each the pairs of a path and what is in it."""
    functions = [(path, function) for folder in FOLDERS for path, file in sources[folder] for function in file.functions]
    complexity = [function.complexity for _, function in functions]
    engine = [function for path, function in functions if path.startswith("lib/exec/")]
    return {
        "complexity, 99 % of functions": percentile(complexity, 99),
        "complexity, most": max(complexity, default=0),
        f"functions above {MOST_LINES} lines in lib/exec": sum(function.lines > MOST_LINES for function in engine),
    }


def large_classes(sources):
    found = {}
    for path, file in sources["lib"]:
        for item in file.classes:
            if path.startswith("lib/exec/") and (item.functions > MOST_FUNCTIONS or item.members > MOST_MEMBERS):
                found[item.name] = (item.functions, item.members)
    return found


def failures_of(figures, classes):
    for name, value in figures.items():
        limit = LIMITS[name][1]
        if value > limit:
            yield f"{name}: {value}, more than {limit}"
    for name, (functions, members) in classes.items():
        limits = LARGE.get(name, (MOST_FUNCTIONS, MOST_MEMBERS))
        if functions > limits[0] or members > limits[1]:
            yield f"class {name}: {functions} functions and {members} members, more than {limits[0]} and {limits[1]}"


def print_table(sources, figures, classes):
    print(f"{'folder':<10} {'functions':>9} {'lines: median':>13} {'90 %':>5} {'most':>5} {'complexity: 99 %':>16} {'most':>5}")
    for folder in FOLDERS:
        functions = [function for _, file in sources[folder] for function in file.functions]
        lines, complexity = [item.lines for item in functions], [item.complexity for item in functions]
        print(f"{folder:<10} {len(functions):>9} {percentile(lines, 50):>13} {percentile(lines, 90):>5} {max(lines):>5} {percentile(complexity, 99):>16} {max(complexity):>5}")
    worst = [(function.complexity, function.name, path) for folder in FOLDERS for path, file in sources[folder] for function in file.functions]
    for complexity, name, path in sorted(worst, reverse=True)[:8]:
        print(f"  {complexity:>3}  {name}, {path}")
    for name, value in figures.items():
        print(f"{name:<44} {value:>4}   aim {LIMITS[name][0]}, limit {LIMITS[name][1]}")
    for name, (functions, members) in sorted(classes.items()):
        print(f"class {name:<38} {functions:>4} functions, {members} members   aim {MOST_FUNCTIONS}, {MOST_MEMBERS}")


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    sources = {folder: read_folder(root, folder) for folder in FOLDERS}
    figures, classes = figures_of(sources), large_classes(sources)
    print_table(sources, figures, classes)
    failures = list(failures_of(figures, classes))
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
