"""Rules about code: functions and files are short, an expression has one ternary, a TRY stands by itself.

A function is what is between braces behind a `)` on the outermost level; it is counted from its name's line. What a
macro is defined as is looked at, too, but is no function.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass

from lab.check.c_tokens import Token, tokens_of
from lab.check.style.fault import Fault

FILE_LINES = 500
FUNCTION_LINES = 60
TERNARIES = 20  # in a thousand lines of the kernel
TRIES = ("TRY", "TRY_PTR")  # core/base/err.h: they return from the function, which nobody looks for among arguments
NO_CALL = {"if", "while", "for", "switch", "return", "sizeof", "typeof", "__typeof__"}
DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+(\w+)(\([^)]*\))?")


@dataclass(frozen=True)
class Function:
    name: str
    first: int  # index of its first token, and of the two braces
    opening: int
    closing: int


class Code:
    """A file's tokens without comments and directives, and on which line each stands."""

    def __init__(self, text: str) -> None:
        self.text = text
        every = tokens_of(text)
        self.comments = [token for token in every if token.kind == "comment"]
        self.directives = [token for token in every if token.kind == "directive"]
        self.tokens = [token for token in every if token.kind not in ("comment", "directive")]
        self.line_ends = [place for place, letter in enumerate(text) if letter == "\n"]

    def line(self, token: Token) -> int:
        return bisect.bisect_left(self.line_ends, token.start) + 1

    def macros(self) -> Iterator[tuple[int, list[Token]]]:
        """What each macro is defined as, and its line."""
        for directive in self.directives:
            if defined := DEFINE.match(directive.text):
                body = directive.text[defined.end() :].replace("\\\n", " \n")
                yield self.line(directive), [token for token in tokens_of(body) if token.kind != "comment"]

    def functions(self) -> Iterator[Function]:
        """Each function that the file defines."""
        depth, start = 0, 0
        opening = -1
        for at, token in enumerate(self.tokens):
            if token.text == "{":
                if depth == 0 and at and self.tokens[at - 1].text == ")":
                    opening = at
                depth += 1
            elif token.text == "}":
                depth = max(depth - 1, 0)
                if depth == 0 and opening >= 0:
                    yield Function(self._name(start, opening), start, opening, at)
                    opening = -1
                if depth == 0:
                    start = at + 1
            elif token.text == ";" and depth == 0:
                start = at + 1

    def _name(self, start: int, opening: int) -> str:
        """The word before the first parenthesis that is not an attribute's."""
        for at in range(start + 1, opening):
            before = self.tokens[at - 1]
            if self.tokens[at].text == "(" and before.kind == "word" and not before.text.startswith("__attribute"):
                return before.text
        return "?"


def try_faults(name: str, line_of, tokens: list[Token]) -> Iterator[Fault]:
    """TRY( inside the parentheses of a call or of a macro."""
    calls: list[bool] = []  # for each parenthesis that is open: is it a call's?
    for at, token in enumerate(tokens):
        if token.text == "(":
            before = tokens[at - 1] if at else token
            calls.append(before.kind == "word" and before.text not in NO_CALL)
        elif token.text == ")" and calls:
            calls.pop()
        elif token.text in TRIES and any(calls):
            yield Fault("try", name, line_of(token), f"{token.text}() among the arguments of a call: give it a line")


def ternary_faults(name: str, line_of, tokens: list[Token]) -> Iterator[Fault]:
    """A second ternary in an expression; one ends with a statement, or at the comma of a list in braces."""
    count = 0
    braces: list[int] = [0]  # parentheses that are open in each pair of braces
    for token in tokens:
        if token.text in ("{", "}", ";"):
            count = 0
            if token.text == "{":
                braces.append(0)
            elif token.text == "}" and len(braces) > 1:
                braces.pop()
        elif token.text in ("(", "["):
            braces[-1] += 1
        elif token.text in (")", "]"):
            braces[-1] -= 1
        elif token.text == "," and braces[-1] <= 0:
            count = 0
        elif token.text == "?":
            count += 1
            if count > 1:
                yield Fault("ternaries in one expression", name, line_of(token), f"{count} ternaries in one expression")


def faults(name: str, text: str) -> Iterator[Fault]:
    """Everything in the file @name that breaks one of these rules."""
    lines = text.count("\n")
    if lines > FILE_LINES:
        yield Fault("long files", name, lines, f"a file of {lines} lines, at most {FILE_LINES}", lines - FILE_LINES)
    code = Code(text)
    for function in code.functions():
        first = code.line(code.tokens[function.first])
        lines = code.line(code.tokens[function.closing]) - first + 1
        if lines > FUNCTION_LINES:
            what = f"{function.name}() has {lines} lines, at most {FUNCTION_LINES}"
            yield Fault("long functions", name, first, what, lines - FUNCTION_LINES)
    for rule in (try_faults, ternary_faults):
        yield from rule(name, code.line, code.tokens)
        for line, body in code.macros():
            yield from rule(name, lambda token, line=line: line, body)


def ternaries(text: str) -> int:
    """How many a file has, those of its macros included."""
    code = Code(text)
    bodies = [token for _, body in code.macros() for token in body]
    return sum(token.text == "?" for token in [*code.tokens, *bodies])


def density_fault(files: dict[str, str], lines: int) -> Iterator[Fault]:
    """More than TERNARIES in a thousand of all the @lines of the kernel's @files."""
    count = sum(map(ternaries, files.values()))
    allowed = lines * TERNARIES // 1000
    if count > allowed:
        what = f"{count} ternaries in {lines} lines of the kernel, at most {TERNARIES} in a thousand: {allowed}"
        yield Fault("ternaries in a thousand lines", "kernel", 1, what, count - allowed)
