#!/usr/bin/env python3
"""Checks what the compiler says of pipelines that cannot be: each program below must fail with its text.

    compiler_errors.py INCLUDE_DIR COMPILER        exit 1 if one compiles, or fails with other words
"""

import subprocess
import sys

START = "#include <penstock/penstock.h>\nnamespace ps = penstock;\n"
SESSION = "struct Session {};\ntemplate <> struct ps::Collate<Session> {};\n"
EXAMPLE = SESSION + "struct Example { int label = 0; %s extra; };\n"
EXAMPLE += "template <> struct ps::Fields<Example> { static constexpr auto value = %s; };\n"
MAIN = "int main() { auto data = ps::range(3)%s; for (auto&& batch : data) (void)batch; }\n"

BOTH = "std::tuple{&Example::label, &Example::extra}"
TO_SESSION = MAIN % ".map([](std::int64_t) { return Session(); }).batch(2)"
TO_EXAMPLE = MAIN % ".map([](std::int64_t) { return Example(); }).batch(2)"
COLUMN = "using Rows = ps::Batch<Example>; auto of(Rows& rows) { return rows.column<&Example::extra>(); }\n"

# What is wrong, the program behind START, what the compiler must say; None: nothing, it is right.
CASES = [
    ("nothing", EXAMPLE % ("int", BOTH) + COLUMN + TO_EXAMPLE, None),
    ("batch of a type that must not be batched", SESSION + TO_SESSION,
     "batch(): elements of this type cannot be put together; give the type a ps::Collate, or map to one that has it, before batch()"),
    ("batch of a struct with such a member", EXAMPLE % ("Session", BOTH) + TO_EXAMPLE,
     "batch(): a member listed in ps::Fields cannot be put together; give its type a ps::Collate, or leave it out of ps::Fields"),
    # clang finds the column, but does not say why there is none.
    ("column of a member that is not listed", EXAMPLE % ("int", "std::tuple{&Example::label}") + COLUMN + TO_EXAMPLE,
     ("this member is not listed in ps::Fields<T>", "no matching function for call to 'get'")),
    ("Fields that is no tuple", EXAMPLE % ("int", "3") + TO_EXAMPLE,
     "Fields<T>::value must be a std::tuple of pointers to data members of T"),
    ("map to nothing", MAIN % ".map([](std::int64_t) {})", "a map's function must return a value"),
    ("unbatch of what is no batch", MAIN % ".unbatch()", "Unbatchable"),
]


def said(compiler, include_dir, program):
    """What the compiler says; None if the program is right."""
    command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{include_dir}", "-x", "c++", "-"]
    done = subprocess.run(command, input=START + program, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else None


def fault(text, expected):
    if expected is None:
        return text and f"does not compile:\n{text}"
    if text is None:
        return "compiles"
    texts = (expected,) if isinstance(expected, str) else expected
    return None if any(each in text for each in texts) else f"the compiler does not say '{expected}', but\n{text}"


def main():
    include_dir, compiler = sys.argv[1:3]
    found = [(what, fault(said(compiler, include_dir, program), expected)) for what, program, expected in CASES]
    wrong = [f"{what}: {text}" for what, text in found if text]
    print("\n".join(wrong))
    print(f"{len(CASES)} programs, {len(wrong)} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
