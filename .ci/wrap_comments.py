#!/usr/bin/env python3
"""Wraps comments that are wider than a line may be: clang-format would run paragraphs, lists and tables together.

    wrap_comments.py FILE...

Words that do not fit go to the next line of the same paragraph. A line that ends with a sentence, though the next word would have fitted, ends a paragraph.
"""

import re
import sys

LIMIT = 120
COMMENT = re.compile(r"^(\s*)//( *)(\S.*)$")
MARK = re.compile(r"^([*-] |\d+[.)] |\|)")
LABEL = re.compile(r"^(\S[^.]{0,30}?\S?)( {2,})\S")
CODE = re.compile(r"^(auto|const|for|if|ps::|std::)|;$|  ->  ")


def parse(line):
    """Where the comment begins, how far its text is from there, and that text; None where it is no comment."""
    found = COMMENT.match(line)
    return (len(found.group(1)), len(found.group(2)), found.group(3).rstrip()) if found else None


def hanging(indent, text):
    """Where what continues this line begins: below the text of an item or behind a label."""
    mark = MARK.match(text)
    if mark and mark.group(1) != "|":
        return indent + len(mark.group(1))
    label = LABEL.match(text)
    return indent + len(label.group(1)) + len(label.group(2)) if label else indent


def is_kept(line):
    comment = parse(line)
    if comment is None or len(line) <= LIMIT:
        return True
    _, indent, text = comment
    is_code = indent >= 3 and CODE.search(text)
    return bool(is_code) or text.startswith("|") or "clang-format" in text or "NOLINT" in text


def fill(prefix, words):
    """One line, and the words that are left."""
    line, count = prefix, 0
    while count < len(words) and (line == prefix or len((line + words[count]).rstrip()) <= LIMIT):
        line += words[count]
        count += 1
    return line.rstrip(), words[count:]


def widest_around(lines, at, outer):
    def belongs(i):
        return 0 <= i < len(lines) and (parse(lines[i]) or (None,))[0] == outer

    first = last = at
    while belongs(first - 1):
        first -= 1
    while belongs(last + 1):
        last += 1
    return max(len(line) for line in lines[first : last + 1])


def goes_on(before, after, outer, indent, widest):
    """Whether the line `after` is of the same paragraph as `before`."""
    comment = parse(after)
    if comment is None or comment[:2] != (outer, indent) or MARK.match(comment[2]) or hanging(*comment[1:]) != indent:
        return False
    ends_sentence = before.endswith((".", ":", ".)"))
    return not ends_sentence or len(before) + 1 + len(comment[2].split()[0]) > widest


def wrapped(lines):
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if is_kept(line):
            yield line
            continue
        outer, indent, text = parse(line)
        widest = widest_around(lines, at - 1, outer)
        first, left = fill(" " * outer + "//" + " " * indent, re.findall(r"\S+\s*", text))
        yield first
        indent = hanging(indent, text)
        while left:
            words = [word.rstrip() + " " for word in left]
            if at < len(lines) and goes_on(line, lines[at], outer, indent, widest):
                line = lines[at]
                words += re.findall(r"\S+\s*", parse(line)[2])
                at += 1
            first, left = fill(" " * outer + "//" + " " * indent, words)
            yield first


def main():
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            before = file.read()
        after = "\n".join(wrapped(before.split("\n")))
        if after != before:
            with open(path, "w", encoding="utf-8") as file:
                file.write(after)


if __name__ == "__main__":
    main()
