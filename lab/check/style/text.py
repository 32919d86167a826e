"""Rules about lines: tabs, their length, no blanks at their end, #pragma once in each header, who may include whom."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lab.base.house import MACHINE, goes_up, room_of
from lab.check.style.fault import Fault

COLUMNS = 100  # a message stays in one piece, so that one can search for it


def may_include(name: str, header: str) -> bool:
    """Of the machine everybody sees only <arch/*.h>, and what boot tells."""
    here, there = room_of(name), room_of(header)
    if there == "arch/" and here and here not in MACHINE:
        return False
    return not goes_up(name, header)


def faults(name: str, text: str) -> Iterator[Fault]:
    """Everything in the file @name that breaks one of these rules."""
    for number, line in enumerate(text.splitlines(), 1):
        width = len(line.expandtabs(8))
        if width > COLUMNS and not name.startswith(("tests/", "hosted/")) and '"' not in line:
            yield Fault("columns", name, number, f"{width} columns, at most {COLUMNS}")
        if line != line.rstrip():
            yield Fault("blanks", name, number, "blanks at the end of the line")
        if line.startswith(" " * 8) and not line.endswith("\\"):
            yield Fault("tabs", name, number, "indent with tabs")
        include = re.match(r'#include "([^"]+)"', line)
        if include and not may_include(name, include[1]):
            room = name.rsplit("/", 1)[0]
            yield Fault("includes", name, number, f"{room}/ may not include {include[1]} (docs/kernel/architecture.md)")
    if (
        name.endswith(".h")
        and name.startswith(("core/", "arch/", "mm/", "fs/", "kernel/"))
        and "#pragma once" not in text
    ):
        yield Fault("pragma", name, 1, "no #pragma once")
    if text and not text.endswith("\n"):
        yield Fault("newline", name, len(text.splitlines()), "no newline at the end")
