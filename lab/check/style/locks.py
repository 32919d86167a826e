"""A comment that says a lock is held is an assertion, too: lockdep_assert_held() in the function.

The comment stands in front of the function, or of its prototype in a header.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from lab.check.c_tokens import Token
from lab.check.style.code import Code
from lab.check.style.fault import Fault

ROOMS = ("core/", "hash/", "mm/", "fs/", "kernel/")
LOCK = r"[\w>.'-]*(?:lock|mutex|semaphore)\w*(?:'s)?"
HELD = re.compile(rf"(?P<before>[^.;:]*?)\b{LOCK}(?P<between>[^.;:]{{0,30}}?)\bheld\b", re.IGNORECASE)
UNDER = re.compile(rf"\bunder (?:(?:the|its|an?|[\w>.-]+'s?) )*{LOCK}(?![\w-])", re.IGNORECASE)
DENIED = re.compile(r"\b(no|not|nor|never|without|what|whatever|any lock|may|list of)\b", re.IGNORECASE)
TAKES = re.compile(r"guard|(?:spin|mutex|rwlock)_lock\w*|down_(?:read|write)\w*")
ASSERTION = "lockdep_assert_held"


def says_held(comment: str, takes_one: bool = False) -> bool:
    """Does it say that the caller holds a lock? @takes_one: the function does, so "under the lock" may mean that."""
    text = re.sub(r"\s*\n\s*\*?\s*|/\*+|\*+/", " ", comment).replace("->", ">").strip()
    for found in HELD.finditer(text):
        if not DENIED.search(found["before"]) and not DENIED.search(found["between"]):
            return True
    return not takes_one and UNDER.search(text) is not None


def in_front_of(code: Code, token: Token) -> str:
    """The comment that ends on the line before @token, "" where there is none."""
    found = [comment for comment in code.comments if comment.end <= token.start]
    between = code.text[found[-1].end : token.start] if found else "x"
    return found[-1].text if found and not between.strip() and between.count("\n") <= 1 else ""


def prototypes(code: Code) -> Iterator[tuple[str, Token]]:
    """Each function that is declared and not defined here, by the first token of its declaration."""
    depth, start = 0, 0
    for at, token in enumerate(code.tokens):
        if token.text in ("{", "}"):
            depth = max(depth + (1 if token.text == "{" else -1), 0)
        if depth == 0 and token.text in (";", "}"):
            statement = code.tokens[start : at + 1]
            start = at + 1
            texts = [one.text for one in statement]
            if token.text == ";" and "(" in texts[1:] and "=" not in texts and "typedef" not in texts:
                name = statement[texts.index("(", 1) - 1]
                if name.kind == "word":
                    yield name.text, statement[0]


def faults(files: Mapping[str, str]) -> Iterator[Fault]:
    """Functions of @files, all of the kernel's, whose comment says that a lock is held and that assert nothing."""
    codes = {name: Code(text) for name, text in files.items() if name.startswith(ROOMS)}
    promised: dict[str, tuple[str, str]] = {}  # a function: where it is declared, and the comment
    for name, code in codes.items():
        if name.endswith(".h"):
            for declared, first in prototypes(code):
                promised[declared] = (name, in_front_of(code, first))
    for name, code in codes.items():
        for function in code.functions():
            first = code.tokens[function.first]
            body = code.tokens[function.opening : function.closing]
            if any(token.text.startswith(ASSERTION) for token in body):
                continue
            takes_one = any(TAKES.fullmatch(token.text) for token in body)
            static = any(token.text == "static" for token in code.tokens[function.first : function.opening])
            header, comment = ("", "") if static else promised.get(function.name, ("", ""))
            if says_held(in_front_of(code, first), takes_one):
                header = name
            elif not says_held(comment, takes_one):
                continue
            what = f"{function.name}(): {header} says that a lock is held: {ASSERTION}() is not there"
            yield Fault("locks held", name, code.line(first), what)
