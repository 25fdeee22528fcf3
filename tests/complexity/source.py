"""Functions and classes of a C++ file, as far as tokens tell. Macros of the tree and its layout are taken into account, other code's are not."""

import dataclasses
import re

NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:\\\n|[^\n])*', re.DOTALL | re.MULTILINE)
TOKEN = re.compile(r"&&|\|\||<=>|[=!<>]=|::|->|[A-Za-z_]\w*|[0-9][\w.']*|\S")
BRANCHES = {"if", "for", "while", "case", "catch", "&&", "||", "?"}
TYPES = {"class", "struct", "union", "enum"}
NOT_MEMBERS = {"using", "friend", "static_assert", "typedef", "class", "struct", "union", "enum"}
ANNOTATIONS = {"GUARDED_BY", "REQUIRES", "EXCLUDES", "ACQUIRE", "RELEASE", "TRY_ACQUIRE", "CAPABILITY", "SCOPED_CAPABILITY", "NO_THREAD_SAFETY_ANALYSIS",
               "alignas", "explicit", "noexcept"}
OPENS, CLOSES = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}


@dataclasses.dataclass
class Function:
    name: str
    line: int
    lines: int
    complexity: int


@dataclasses.dataclass
class Class:
    name: str
    line: int
    functions: int = 0
    members: int = 0


def tokens_of(text):
    """Pairs of a token and its line, without comments, texts and preprocessor lines."""
    text = NOISE.sub(lambda match: "\n" * match.group(0).count("\n") or " ", text)
    line = 1
    at = 0
    for match in TOKEN.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        yield match.group(0), line


def matching(tokens, begin):
    """The place of the bracket that closes the one at `begin`."""
    depth = 0
    for at in range(begin, len(tokens)):
        depth += tokens[at][0] in OPENS
        depth -= tokens[at][0] in CLOSES
        if depth == 0:
            return at
    return len(tokens) - 1


def plain(head):
    """The words of a declaration outside all brackets, () in place of parameters; templates' parameters and annotations left out."""
    words = []
    angle = 0
    at = 0
    while at < len(head):
        word = head[at][0]
        if word in OPENS:
            end = matching(head, at)
            noted = words and words[-1] in ANNOTATIONS
            if noted:
                words.pop()
            elif not angle:
                words.append(word + OPENS[word])
            at = end
        elif word == "<" and words and (angle or words[-1] == "template" or re.match(r"[A-Za-z_]", words[-1])) and words[-1] != "operator":
            angle += 1
        elif word == ">" and angle:
            angle -= 1
        elif not angle:
            words.append(word)
        at += 1
    return [word for word in words if word != "template" and word not in ANNOTATIONS]


def before_value(words):
    """What stands before `=` or a value in braces; an operator's name stays."""
    for at, word in enumerate(words):
        if word == "=" and (at == 0 or words[at - 1] != "operator"):
            return words[:at]
    return words


def is_function(words):
    return "()" in before_value(words) and not NOT_MEMBERS & set(words[:1])


def name_of(words):
    """Of a function: what stands before its parameters."""
    at = words.index("()")
    begin = at - 1
    while begin > 0 and (words[begin - 1] in ("::", "~", "operator") or words[begin] in ("::", "~")):
        begin -= 1
    return "".join(words[max(begin, 0):at])


class Reader:
    def __init__(self, text):
        self.tokens = list(tokens_of(text))
        self.functions = []
        self.classes = []

    def read(self):
        self.scope(0, len(self.tokens), None)
        return self

    # What stands in a namespace or class from `at` to `end`: declarations, one after the other.
    def scope(self, at, end, owner):
        begin = at
        while at < end:
            word = self.tokens[at][0]
            if word == "{":
                at = begin = self.braces(begin, at, owner)
            elif word in OPENS:
                at = matching(self.tokens, at) + 1
            elif word == ";":
                self.declaration(self.tokens[begin:at], owner)
                at = begin = at + 1
            elif word == ":" and at > begin and self.tokens[at - 1][0] in ("public", "private", "protected"):
                at = begin = at + 1
            elif word == "}":
                at = begin = at + 1
            else:
                at += 1

    # A declaration that comes to a brace: where the next one begins.
    def braces(self, begin, at, owner):
        head = self.tokens[begin:at]
        words = plain(head)
        close = matching(self.tokens, at)
        kind = next((word for word in words if word in TYPES), None)
        if "namespace" in words or words[:1] == ["extern"]:
            self.scope(at + 1, close, None)
        elif kind and "()" not in words:
            if kind != "enum":
                self.type(words, kind, head[0][1], at, close)
            return self.behind_type(close)
        elif is_function(words):
            return self.function(words, begin, at, owner)
        else:
            return self.value(begin, close, owner)
        return close + 1

    # `struct {...} name;` declares no more than the type here.
    def behind_type(self, close):
        while close + 1 < len(self.tokens) and self.tokens[close][0] != ";":
            close += 1
        return close + 1

    def type(self, words, kind, line, at, close):
        names = words[words.index(kind) + 1:]
        if ":" in names:
            names = names[:names.index(":")]
        found = Class("".join(word for word in names if word != "final"), line)
        self.classes.append(found)
        self.scope(at + 1, close, found)

    # A member whose value stands in braces: its declaration goes on behind them.
    def value(self, begin, close, owner):
        end = close
        while end < len(self.tokens) and self.tokens[end][0] != ";":
            end = matching(self.tokens, end) + 1 if self.tokens[end][0] in OPENS else end + 1
        self.declaration(self.tokens[begin:end], owner)
        return end + 1

    def function(self, words, begin, at, owner):
        body = at
        if ":" in words[words.index("()"):]:  # members' values: a brace behind a name is one of them
            while re.match(r"[A-Za-z_>]", self.tokens[body - 1][0]):
                body = matching(self.tokens, body) + 1
                while self.tokens[body][0] != "{":
                    body = matching(self.tokens, body) + 1 if self.tokens[body][0] in OPENS else body + 1
        close = matching(self.tokens, body)
        inside = [token for token, _ in self.tokens[body:close]]
        branches = sum(word in BRANCHES and not (word == "&&" and inside[place - 1] == "auto") for place, word in enumerate(inside))
        line, last = self.tokens[begin][1], self.tokens[close][1]
        self.functions.append(Function(name_of(words), line, last - line + 1, 1 + branches))
        if owner:
            owner.functions += 1
        return close + 1

    def declaration(self, head, owner):
        if not owner or not head:
            return
        words = plain(head)
        if not words or NOT_MEMBERS & set(words[:1]) or "static" in words and "constexpr" in words:
            return
        if is_function(words):
            owner.functions += not ({"default", "delete"} & set(words[-1:]))
        else:
            owner.members += 1 + words.count(",")


def read(text):
    return Reader(text).read()
