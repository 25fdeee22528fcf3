#!/usr/bin/env python3
"""Checks that every sentence of an error in the sources is shown in a golden file.

    texts_shown.py ROOT EXCEPTIONS GOLDEN...     exit 1 if a text is neither shown nor excepted

A sentence is a string literal of lib, ops or include with a blank between two words. It counts as shown where
a golden file holds it. EXCEPTIONS has a line "reason: literal" for each one that is no error or cannot be
provoked; a line that is not needed is a fault too, so the list cannot grow stale.
"""

import pathlib
import re
import sys

FOLDERS = ("lib", "ops", "autotune", "include")
# Reports, and no errors: tests/engine and tests/imagenet show them.
NO_ERRORS = {"lib/runtime/explanation_text.cc", "lib/runtime/stand_still.cc"}
TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|\#include[^\n]*|'(?:\\.|[^'\\\n])'|"(?P<text>(?:\\.|[^"\\\n])*)"(?P<more>\s*)""", re.S
)
SENTENCE = re.compile(r"[A-Za-z]{2,}[^A-Za-z]* [^A-Za-z]*[A-Za-z]{2,}")


def literals_of(source):
    """The string literals, with neighbours joined as the compiler joins them."""
    found, end = [], -1
    for token in TOKEN.finditer(source):
        if token["text"] is None:
            continue
        text = token["text"].replace('\\"', '"').replace("\\\\", "\\")
        if token.start() == end:
            found[-1] += text
        else:
            found.append(text)
        end = token.end()
    return found


def sentences_in(root):
    """{sentence: file}"""
    files = [f for folder in FOLDERS for kind in ("*.cc", "*.h") for f in sorted((root / folder).rglob(kind))]
    return {
        text.replace("\\n", "\n"): file.relative_to(root).as_posix()
        for file in files
        for text in literals_of(file.read_text(encoding="utf-8"))
        if SENTENCE.search(text) and file.relative_to(root).as_posix() not in NO_ERRORS
    }


def exceptions_in(text):
    """{literal: reason}, of lines "reason: literal"; lines that begin with # say something to the reader."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {literal: reason for reason, literal in (line.split(": ", 1) for line in lines)}


def faults(sentences, golden, exceptions):
    hidden = {text: file for text, file in sentences.items() if text.strip() not in golden}
    stripped = {text.strip() for text in hidden}
    lines = [f"{file}: no case shows {text!r}" for text, file in hidden.items() if text.strip() not in exceptions]
    lines += [f"exception not needed: {text!r}" for text in exceptions if text not in stripped]
    return lines


def main():
    root, exceptions = (pathlib.Path(argument) for argument in sys.argv[1:3])
    golden = "".join(pathlib.Path(argument).read_text(encoding="utf-8") for argument in sys.argv[3:])
    sentences = sentences_in(root)
    excepted = exceptions_in(exceptions.read_text(encoding="utf-8"))
    found = faults(sentences, golden, excepted)
    print("\n".join(found))
    print(f"{len(sentences)} sentences, {len(excepted)} excepted, {len(found)} faults")
    return 1 if found or not sentences else 0


if __name__ == "__main__":
    sys.exit(main())
