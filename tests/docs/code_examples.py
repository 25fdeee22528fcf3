#!/usr/bin/env python3
"""Makes one program of all examples in the comments of public headers and in README files.

    code_examples.py ROOT OUT.cc HEADER... README...

In a header, comment lines that begin with three spaces or more are code:

    // Shards differ in length by at most one.
    //   ps::range(10).shard(3, 1)  ->  1 4 7

Lists, tables and other text are indented by two. In a README the fragments are the ```cpp blocks without main().
Each block becomes a function of its own; the names that it does not declare are those of Given, in prelude.h.
`expression  ->  text` is compared with what shown() (runner.h) says of the expression. A block that begins with a
struct, a template or a namespace stands outside of functions, before all others. The program runs every function;
the compiler's errors and the program's failures name the line of the header.
"""

import pathlib
import re
import sys
from dataclasses import dataclass

COMMENT = re.compile(r"^\s*//(.*)$")
TEXT = re.compile(r"^  \S")  # begins a list or table; what is indented deeper below belongs to it
CODE = re.compile(r"^   ")
LOOKS_LIKE_CODE = re.compile(r"^  \S.*[=(].*;$")
FRAGMENT = re.compile(r"^```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RESULT = re.compile(r"^(\s*)(\S.*?)  ->  (.*)$")
FILE_SCOPE = re.compile(r"^(struct|class|template|enum|namespace \w+ \{)")


@dataclass
class Example:
    file: str
    line: int  # of the code's first line
    code: list

    @property
    def at_file_scope(self):
        return FILE_SCOPE.match(self.code[0]) is not None


def code_lines(text):
    """For each line of a header and one more: the code in it, None where there is none."""
    in_text = False
    for line in text.splitlines():
        comment = COMMENT.match(line)
        content = comment[1] if comment else ""
        in_text = TEXT.match(content) is not None or (in_text and CODE.match(content) is not None)
        yield content[3:] if CODE.match(content) and not in_text else None
    yield None


def in_header(file, text):
    """The examples of a header's comments."""
    examples, block = [], []
    for number, code in enumerate(code_lines(text), 1):
        if code is not None:
            block.append(code)
        elif block:
            examples.append(Example(file, number - len(block), block))
            block = []
    return examples


def misplaced_in(file, text):
    """Lines of comments that look like code, but have the indentation of text."""
    comments = [(number, COMMENT.match(line)) for number, line in enumerate(text.splitlines(), 1)]
    return [f"{file}:{number}: code in a comment is indented by three spaces, or nobody compiles it"
            for number, comment in comments if comment and LOOKS_LIKE_CODE.match(comment[1])]


def in_readme(file, text):
    """The fragments of a README: programs are the matter of readme_examples.py."""
    return [Example(file, text.count("\n", 0, match.start(1)) + 1, match[1].splitlines())
            for match in FRAGMENT.finditer(text) if "int main(" not in match[1]]


def statement(file, number, line):
    """A line of code, or the comparison that `expression  ->  text` asks for."""
    result = RESULT.match(line)
    if not result:
        return line
    return f'{result[1]}examples::expect("{file}:{number}", {result[2]}, R"text({result[3]})text");'


def body(example):
    lines = [statement(example.file, number, line) for number, line in enumerate(example.code, example.line)]
    return [f'#line {example.line} "{example.file}"', *lines]


def function(name, example):
    return [f"struct {name} : Given {{", "void operator()() {", *body(example), "}", "};"]


def program(examples, includes):
    """The program's text."""
    outside = [example for example in examples if example.at_file_scope]
    inside = [example for example in examples if not example.at_file_scope]
    lines = [f"#include {include}" for include in includes]
    lines += ["namespace ps = penstock;", *(line for example in outside for line in body(example))]
    lines += ['#include "tests/docs/prelude.h"', "namespace examples {"]
    names = [f"Example{number}" for number in range(len(inside))]
    for name, example in zip(names, inside):
        lines += function(name, example)
    lines += ["}", "int main() {", "  examples::Runner runner;"]
    lines += [f'  runner.run<examples::{name}>("{example.file}:{example.line}");' for name, example in zip(names, inside)]
    return "\n".join([*lines, "  return runner.result();", "}", ""])


def main():
    root, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    files = [pathlib.Path(name).relative_to(root).as_posix() for name in sorted(sys.argv[3:])]
    headers = [file for file in files if file.endswith(".h")]
    texts = {file: (root / file).read_text(encoding="utf-8") for file in files}
    misplaced = [problem for file in headers for problem in misplaced_in(file, texts[file])]
    print("".join(problem + "\n" for problem in misplaced), end="", file=sys.stderr)
    examples = [example for file in files
                for example in (in_header if file in headers else in_readme)(file, texts[file])]
    includes = [f"<{file.removeprefix('include/')}>" for file in headers]
    out.write_text(program(examples, includes), encoding="utf-8")
    return 1 if misplaced or not examples else 0


if __name__ == "__main__":
    sys.exit(main())
