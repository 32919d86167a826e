"""./cw fuzz --permissions: who may do what, cell by cell, as Linux has it."""

from __future__ import annotations

from pathlib import Path

from lab.check.fuzz.both import in_machine, on_linux
from lab.check.fuzz.programs import SOURCES, compile_program


def matrix() -> Path:
    return compile_program([SOURCES / "matrix.c"], "matrix")


def cells(text: str) -> dict[str, list[str]]:
    """The rows of the tables by what stands before their colon."""
    rows = (line.partition(": ") for line in text.splitlines() if ": " in line)
    return {name: rest.split() for name, _, rest in rows}


def compare_cells(linux: str, ours: str) -> list[str]:
    """Every cell that differs: its table, row, column, Linux's outcome and ours."""
    theirs, mine = cells(linux), cells(ours)
    wrong = []
    for name, row in theirs.items():
        table = name.split()[0]
        columns = theirs.get(f"{table} columns", [])
        other = mine.get(name, [])
        if len(row) != len(other):
            wrong.append(f"{name}: {len(row)} cells, here {len(other)}")
        for place, (a, b) in enumerate(zip(row, other, strict=False)):
            column = columns[place] if place < len(columns) else str(place)
            # What is not there at all is nothing that others could read or write.
            if a != b and (table, b) not in (("process", "ENOENT"), ("attribute", "EOPNOTSUPP")):
                wrong.append(f"{name}, {column}: Linux {a}, Chainwalk {b}")
    return wrong


def compare_permissions(root: str) -> tuple[int, list[str]]:
    """How many cells there are, and those that differ."""
    ours, ended = in_machine(root, ["/matrix", "TOP"], [f"{matrix()}:/matrix"], 1, 600)
    if ended:
        return 0, [ended]
    linux = on_linux(root, [str(matrix()), "TOP"])
    return sum(len(row) for row in cells(linux).values()), compare_cells(linux, ours)


def print_permissions(roots: list[str]) -> int:
    total = 0
    for root in roots:
        count, wrong = compare_permissions(root)
        print(f"{root}: {count} cells, {len(wrong)} differ", *wrong, sep="\n  ", flush=True)
        total += len(wrong)
    return 1 if total else 0
