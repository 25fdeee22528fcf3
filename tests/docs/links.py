#!/usr/bin/env python3
"""Checks that what the Markdown files link to, and the paths that they name, exist.

    links.py ROOT

Looks at [text](path) without a scheme, and at `path/with/slash.ext` in back quotes where the first
folder is one of the tree's. Placeholders (<op>, *, ...) are left alone.
"""

import pathlib
import re
import sys

LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)\)")
QUOTED = re.compile(r"`((?:include|lib|ops|autotune|examples|tests|bench|\.ci|\.cmake)/[\w./-]+)`")


def paths_in(text):
    """Every path that a text names: (path, whether it is relative to the file's folder)."""
    links = [(path, True) for path in LINK.findall(text) if "://" not in path]
    return links + [(path, False) for path in QUOTED.findall(text)]


def missing_in(file, root):
    """The paths that a file names and that do not exist."""
    text = file.read_text(encoding="utf-8")
    return [path for path, is_link in paths_in(text)
            if not ((file.parent if is_link else root) / path).exists()]


def main():
    root = pathlib.Path(sys.argv[1])
    files = [root / "README.md", root / "CHANGELOG.md"]
    for folder in ("lib", "ops", "autotune", "examples", "tests", "bench"):
        files += sorted((root / folder).rglob("*.md"))
    missing = [(file, path) for file in files for path in missing_in(file, root)]
    for file, path in missing:
        print(f"{file.relative_to(root)}: there is no {path}")
    print(f"{len(files)} files, {len(missing)} dead links")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
