"""C as tokens: what style's rules look at, and where mutants are planted."""

from __future__ import annotations

import re
from dataclasses import dataclass

TOKEN = re.compile(
    r"(?P<comment>/\*.*?\*/|//[^\n]*)"
    r"|(?P<directive>^[ \t]*#(?:[^\n\\]|\\.|\\\n)*)"
    r"|(?P<string>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
    r"|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<number>\d\w*)"
    r"|(?P<operator>->|<<=|>>=|<=|>=|==|!=|&&|\|\||\+\+|--|<<|>>|[-+*/%&|^]=|[^\sA-Za-z_0-9])",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Token:
    kind: str  # "comment", "directive" (of the preprocessor), "string", "word", "number", "operator"
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def tokens_of(text: str) -> list[Token]:
    """All of @text but blanks."""
    return [Token(str(match.lastgroup), match.group(), match.start()) for match in TOKEN.finditer(text)]
