"""make docs: the page of the system calls, docs/kernel/syscalls.md, made from their table."""

from __future__ import annotations

from lab.base.paths import TOP
from lab.base.syscalls import read_table

PAGE = TOP / "docs/kernel/syscalls.md"

HEAD = """# System calls

<!-- made by `make docs` from core/syscalls.def -->

One line of [core/syscalls.def](../../core/syscalls.def) a call. A call without a remark does what Linux does, as far as is
known. One of an optional room is there in kernels that were built with the room (`./cw run --set NAME=y`). Any number
that is not here returns ENOSYS and says so once in the log; what programs ask of every file is EOPNOTSUPP without its
room, and the log says nothing. What holds for several calls, and where each is done: [system-calls.md](system-calls.md).

| number | call | differs from Linux |
| --- | --- | --- |
"""

TRIED = """
Not here either, but tried by programs at every start: these return ENOSYS, and the log says nothing.

| number | call | who tries it |
| --- | --- | --- |
"""


def page() -> str:
    """docs/kernel/syscalls.md as it has to be."""
    rows = []
    for call in read_table().values():
        arguments = ", ".join(argument.name for argument in call.arguments)
        room = call.room and f"with `{call.room}=y`{f', else {call.error}' if call.error != 'ENOSYS' else ''}"
        differs = "; ".join(filter(None, (room, call.differs)))
        rows.append(f"| {call.number} | `{call.name}({arguments})` | {differs} |\n")
    tried = [
        f"| {call.number} | `{call.name}` | {call.differs} |\n" for call in read_table(macro="SYSCALL_TRIED").values()
    ]
    return HEAD + "".join(rows) + TRIED + "".join(tried)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
