"""The table of system calls, core/syscalls.def."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from lab.base.paths import TOP

TABLE = TOP / "core/syscalls.def"


@dataclass(frozen=True)
class Argument:
    kind: str  # a typedef of core/syscalls.h, or a C type
    name: str


@dataclass(frozen=True)
class Call:
    number: int
    name: str
    arguments: tuple[Argument, ...]
    differs: str  # from Linux; of a call that is only tried: who tries it
    room: str = ""  # the symbol of Kconfig that brings it; "": it is always there
    error: str = "ENOSYS"  # what it returns without its room


def read_table(path: Path = TABLE, macro: str = "SYSCALL") -> dict[int, Call]:
    """The calls of syscalls.def by number, those of optional rooms too; with SYSCALL_TRIED those that are not there, and
    that programs only try."""
    calls = {}
    for room, error, number, name, types, differs in re.findall(
        rf'^{macro}(?:(?:_REFUSED)?_OF\((\w+), (?:(E\w+), )?|\()(\d+), (\w+), \((.*?)\),\s*"(.*)"\)$',
        path.read_text(),
        re.MULTILINE,
    ):
        words = [re.fullmatch(r"(.*?)\s*(\w+)", word.strip()) for word in types.split(",") if word != "void"]
        arguments = tuple(Argument(word[1], word[2]) for word in words if word)
        calls[int(number)] = Call(int(number), name, arguments, differs, room, error or "ENOSYS")
    return calls
