"""The table of system calls, core/syscalls.def, and the page made from it, docs/syscalls.md (`make docs`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from lab.base.paths import TOP

TABLE = TOP / "core/syscalls.def"
PAGE = TOP / "docs/syscalls.md"


@dataclass(frozen=True)
class Argument:
    kind: str  # a typedef of kernel/sys/syscalls.h, or a C type
    name: str


@dataclass(frozen=True)
class Call:
    number: int
    name: str
    arguments: tuple[Argument, ...]
    differs: str  # from Linux; of a call that is only tried: who tries it


def read_table(path: Path = TABLE, macro: str = "SYSCALL") -> dict[int, Call]:
    """The calls of syscalls.def by number; with SYSCALL_TRIED those that are not there, and that programs only try."""
    calls = {}
    for number, name, types, differs in re.findall(
        rf'^{macro}\((\d+), (\w+), \((.*?)\),\s*"(.*)"\)$', path.read_text(), re.MULTILINE
    ):
        words = [re.fullmatch(r"(.*?)\s*(\w+)", word.strip()) for word in types.split(",") if word != "void"]
        arguments = tuple(Argument(word[1], word[2]) for word in words if word)
        calls[int(number)] = Call(int(number), name, arguments, differs)
    return calls


HEAD = """# System calls

<!-- made by `make docs` from core/syscalls.def -->

One line of [core/syscalls.def](../core/syscalls.def) a call. A call without a remark does what Linux
does, as far as is known; any number that is not here returns ENOSYS and says so once in the log. What holds for
several calls, and where each is done: [system-calls.md](system-calls.md).

| number | call | differs from Linux |
| --- | --- | --- |
"""

TRIED = """
Not here either, but tried by programs at every start: these return ENOSYS, and the log says nothing.

| number | call | who tries it |
| --- | --- | --- |
"""


def page() -> str:
    """docs/syscalls.md as it has to be."""
    rows = []
    for call in read_table().values():
        arguments = ", ".join(argument.name for argument in call.arguments)
        rows.append(f"| {call.number} | `{call.name}({arguments})` | {call.differs} |\n")
    tried = [
        f"| {call.number} | `{call.name}` | {call.differs} |\n" for call in read_table(macro="SYSCALL_TRIED").values()
    ]
    return HEAD + "".join(rows) + TRIED + "".join(tried)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
