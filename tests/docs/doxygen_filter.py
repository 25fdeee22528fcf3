#!/usr/bin/env python3
"""A header as Doxygen wants it: our comments are plain, Doxygen reads `///` and `///<`.

    doxygen_filter.py FILE        a header or README.md, on standard output

The comment above a declaration and the one behind it become its documentation; the file's first comment becomes the
file's. Code in comments (three spaces; see code_examples.py) becomes a @code block, indented text a verbatim one. Of README.md, the first page, links to files that the site has not
are left out.
"""

import pathlib
import re
import sys

from code_examples import CODE, COMMENT, code_lines

RULE = re.compile(r"^\s*// -{20}")  # a heading between groups of declarations
HEADING = re.compile(r"^\s*// [a-z ]{1,20}$")  # a shorter one, a line of its own: "// knobs"
TRAILING = re.compile(r"^(?P<code>\s*[^\s/].*?[;,}\w)])\s+// (?P<text>(?!NOLINT|IWYU).*)$")
NO_DECLARATION = re.compile(r"^\s*(#|return\b|if\b|for\b|else\b|case\b)")
FILE_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:)[^)]*\)")
LITERAL = re.compile(r"(`[^`]*`)")
SPECIAL = re.compile(r"([\\@<>#&$%])")


def escaped(text):
    """Prose without a command of Doxygen's, an HTML tag or a link; `code` is left as it is."""
    return "".join(part if LITERAL.fullmatch(part) else SPECIAL.sub(r"\\\1", part) for part in LITERAL.split(text))


def kinds_of(texts):
    """For each line of a comment: "code", "text" (indented) or "prose"."""
    codes = code_lines("".join(f"//{text}\n" for text in texts))
    return ["code" if code is not None else "text" if text.startswith("  ") else "prose" for text, code in zip(texts, codes)]


BEGIN = {"code": " @code{.cpp}", "text": " @verbatim"}
END = {"code": " @endcode", "text": " @endverbatim"}


def documented(texts):
    """The lines of a comment with Doxygen's commands around code and indented text, on the lines that are there already."""
    kinds = kinds_of(texts)
    lines, before = [], "prose"
    for text, kind in zip(texts, kinds):
        begin = BEGIN.get(kind, "") + "\n" if kind != before and kind in BEGIN else ""
        end = END.get(before, "") + "\n" if kind != before and before in END else ""
        lines.append(end + begin + (escaped(text) if kind == "prose" else text))
        before = kind
    if before in END:
        lines[-1] += "\n" + END[before]
    return "\n".join(lines).split("\n")


def comment_groups(lines):
    """Yields (first, last + 1) of each run of comment lines with one indentation; headings are none."""
    first = None
    for number, line in enumerate([*lines, ""]):
        goes_on = COMMENT.match(line) and not RULE.match(line)
        same = first is not None and goes_on and indentation(line) == indentation(lines[first])
        if first is not None and not same:
            yield first, number
            first = None
        if goes_on and first is None:
            first = number


def indentation(line):
    return len(line) - len(line.lstrip())


def in_function(lines):
    """For each line, whether it lies in a function's body: a block that no namespace, class, struct, enum or concept opens."""
    scopes, inside = [], []
    head = ""
    for line in lines:
        inside.append("function" in scopes)
        code = re.sub(r'"(\\.|[^"])*"|\'(\\.|[^\'])\'|//.*', "", line)
        for character in code:
            if character == "{":
                is_scope = re.search(r"\b(namespace|class|struct|enum|concept|union)\b[^()=]*$", head)
                scopes.append("scope" if is_scope else "function")
            if character == "}" and scopes:
                scopes.pop()
            head = "" if character in ";{}" else head + character
        head += " "
    return inside


def documentation(lines, first, last):
    """What a comment becomes: itself where it documents nothing."""
    is_continuation = (first > 0 and TRAILING.match(lines[first - 1])
                       and indentation(lines[first]) > indentation(lines[first - 1]))
    follows = last < len(lines) and lines[last].strip()
    is_heading = last == first + 1 and HEADING.match(lines[first])
    if is_heading or not (first == 0 or is_continuation or follows):
        return lines[first:last]
    space = " " * indentation(lines[first])
    texts = documented([COMMENT.match(line)[1] for line in lines[first:last]])
    mark = "///<" if is_continuation else "///"
    return [f"{space}/// @file"] * (first == 0) + [f"{space}{mark}{text}" for text in texts]


def declaration(line):
    """A line of code with the comment behind it as documentation."""
    match = TRAILING.match(line)
    if not match or NO_DECLARATION.match(line):
        return line
    return f"{match['code']}  ///< {escaped(match['text'])}"


def filtered(text):
    lines = text.splitlines()
    bodies = in_function(lines)
    groups = {first: last for first, last in comment_groups(lines) if not bodies[first]}
    out, number = [], 0
    while number < len(lines):
        if number in groups:
            out += documentation(lines, number, groups[number])
            number = groups[number]
        else:
            out.append(lines[number] if bodies[number] else declaration(lines[number]))
            number += 1
    return "".join(line + "\n" for line in out)


def main():
    file = pathlib.Path(sys.argv[1])
    text = file.read_text(encoding="utf-8")
    sys.stdout.write(FILE_LINK.sub(r"\1", text) if file.suffix == ".md" else filtered(text))


if __name__ == "__main__":
    main()
