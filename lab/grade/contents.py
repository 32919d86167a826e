"""What a compiled submission consists of, as nm and objdump tell in the sandbox: rooms judge whether that is too much."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lab.grade import sandbox
from lab.grade.sandbox import Limits


@dataclass(frozen=True)
class Section:
    """One that takes memory when it runs."""

    name: str
    read_only: bool


@dataclass(frozen=True)
class Contents:
    """Of an object file."""

    foreign: set[str]  # symbols that it uses and has not
    visible: set[str]  # its own that other files may use
    sections: list[Section]  # those that are not empty


def contents(folder: Path, name: str, limits: Limits) -> Contents | None:
    """Of @folder/out/@name; None: it cannot be read."""
    foreign = _words(folder, limits, "nm", "--undefined-only", "-P", f"/out/{name}")
    visible = _words(folder, limits, "nm", "--defined-only", "--extern-only", "-P", f"/out/{name}")
    sections = _words(folder, limits, "objdump", "-h", "-w", f"/out/{name}")
    if foreign is None or visible is None or sections is None:
        return None
    there = [
        Section(words[1], "READONLY" in " ".join(words[7:]))
        for words in sections
        if len(words) > 6 and words[0].isdecimal() and int(words[2], 16) and "ALLOC" in " ".join(words[7:])
    ]
    return Contents({words[0] for words in foreign}, {words[0] for words in visible}, there)


def _words(folder: Path, limits: Limits, *command: str) -> list[list[str]] | None:
    """Of each line that @command prints; None: it failed."""
    outcome = sandbox.run(command, limits, {folder / "out": "/out"})
    lines = outcome.output.decode(errors="replace").splitlines()
    return [line.split() for line in lines if line.split()] if outcome.good else None


def listed(names: list[str], most: int) -> str:
    """The first @most of @names, which the submission chose, for its feedback."""
    return ", ".join(names[:most])[:200]
