"""make lint, the C part: the rules of docs/architecture.md that a program can check, whatever clang-format is about.

Tabs, line length, no blanks at line ends, #pragma once in each header, and which room may include which. Layout
beyond that is what `make format` makes of it: versions of clang-format differ too much for a verdict.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from lab.base.house import MACHINE, goes_up, room_of
from lab.base.paths import TOP

COLUMNS = 100  # a message stays in one piece, so that one can search for it


def may_include(name: str, header: str) -> bool:
    """Of the machine everybody sees only <arch/*.h>, and what boot tells."""
    here, there = room_of(name), room_of(header)
    if there == "arch/" and here and here not in MACHINE:
        return False
    return not goes_up(name, header)


def c_files() -> list[str]:
    command = ["git", "-C", str(TOP), "ls-files", "*.c", "*.h", "*.S"]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [name for name in names if (TOP / name).exists()]


def faults(name: str, text: str) -> Iterator[str]:
    """Everything in a file that breaks a rule, as `file:line: what`."""
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{name}:{number}"
        width = len(line.expandtabs(8))
        if width > COLUMNS and not name.startswith(("tests/", "hosted/")) and '"' not in line:
            yield f"{where}: {width} columns, at most {COLUMNS}"
        if line != line.rstrip():
            yield f"{where}: blanks at the end of the line"
        if line.startswith(" " * 8) and not line.endswith("\\"):
            yield f"{where}: indent with tabs"
        include = re.match(r'#include "([^"]+)"', line)
        if include and not may_include(name, include[1]):
            yield f"{where}: {name.rsplit('/', 1)[0]}/ may not include {include[1]} (docs/architecture.md)"
    if (
        name.endswith(".h")
        and name.startswith(("core/", "arch/", "mm/", "fs/", "kernel/"))
        and "#pragma once" not in text
    ):
        yield f"{name}:1: no #pragma once"
    if text and not text.endswith("\n"):
        yield f"{name}: no newline at the end"


def main() -> None:
    found = [fault for name in c_files() for fault in faults(name, Path(TOP / name).read_text(encoding="utf-8"))]
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
