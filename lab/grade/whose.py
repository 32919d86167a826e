"""What a file is that cannot be judged: another lab's, or one that a lab gives beside what is to be handed in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from lab.course import labs
from lab.course.labs import Lab

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def code_of(text: str) -> str:
    """Without comments."""
    return COMMENT.sub(" ", text)


def defines(code: str, name: str) -> bool:
    """Is @name there, and, if it is a function's, other than where it is declared or called?"""
    word = rf"\b{re.escape(name)}\b"
    if name.islower():
        code = re.sub(rf"{word}\s*\([^(){{}};]*\)\s*;", "", code)
    return re.search(word, code) is not None


def instead(code: str, called: str, lab: Lab) -> str:
    """What @code is, which lacks what @lab's file has to define, as the end of a sentence; "": nothing that is known here."""
    squeezed = _squeezed(code)
    for one in _labs():
        for path in _beside(one):
            if path.name == called or _squeezed(code_of(path.read_text(encoding="utf-8"))) == squeezed:
                return f": this is {path.name}, which comes with lab {one.number}; what is handed in is {lab.hand_in}"
    others = [one for one in _labs() if one.number != lab.number]
    found = [one for one in others if all(defines(code, name) for name in one.defines)]
    found = [one for one in found if one.hand_in == called] or found
    if found:
        return ": this is " + " or ".join(f"lab {one.number}'s file, {one.hand_in}" for one in found)
    function = re.search(r"\b(\w+_hash)\s*\(", code)
    return f" but {function[1]}()" if function else ""


def among(names: Iterable[str]) -> str:
    """Which of @names, where no file is that is wanted, are files of labs; as the end of a sentence."""
    there = set(names)
    own = [f"{one.hand_in} is lab {one.number}'s file" for one in _labs() if one.hand_in in there]
    beside = [
        f"{name} comes with lab {one.number}"
        for one in _labs()
        for name in sorted({path.name for path in _beside(one)} & there)
    ]
    found = own or beside[:1]
    return f" ({'; '.join(found)})" if found else ""


def _labs() -> list[Lab]:
    return [labs.find(number) for number in labs.numbers()]


def _beside(lab: Lab) -> list[Path]:
    """What a lab's starter has besides the file that is handed in."""
    return sorted(path for path in (lab.folder / "starter").rglob("*") if path.is_file() and path.name != lab.hand_in)


def _squeezed(code: str) -> str:
    return "".join(code.split())
