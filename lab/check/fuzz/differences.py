"""What differs: where two traces part, by what one such place is told from another, and sequences that are kept."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from lab.check.fuzz.both import Outcome, Work, run_here, run_on_linux
from lab.check.fuzz.programs import SOURCES, operations_of

FOUND = SOURCES / "found"


def first_difference(linux: list[str], ours: list[str]) -> tuple[str, str]:
    for ours_line, linux_line in zip([*ours, ""], [*linux, ""], strict=False):
        if ours_line != linux_line:
            return linux_line, ours_line
    return ("", "") if linux == ours else (" ".join(linux[len(ours) :][:1]), " ".join(ours[len(linux) :][:1]))


def kind_of(linux: list[str], ours: list[str]) -> str:
    """By what a difference is told from another one: the call, and the place or the errors."""
    a, b = first_difference(linux, ours)
    if a == b:
        return ""
    match = re.match(r"\d+ (\w+)", a) or re.match(r"\d+ (\w+)", b)
    name = match[1] if match and not a.startswith("/") else "tree"
    left, right = a.rpartition(": ")[2].split(), b.rpartition(": ")[2].split()
    for place, (x, y) in enumerate(zip([*left, "-"], [*right, "-"], strict=False)):
        if x != y:
            plain = [word if re.fullmatch(r"E[A-Z0-9]+|=|-|signal", word) else f"word{place}" for word in (x, y)]
            return f"{name} {plain[0]} {plain[1]}"
    return f"{name} lines"


@dataclass
class Failure:
    """A sequence whose traces differ."""

    root: str
    seed: int
    kind: str
    operations: list[str]
    linux: list[str]
    ours: list[str]
    rounds: int = 0

    def report(self) -> str:
        a, b = first_difference(self.linux, self.ours)
        count = len(self.operations)
        return f"{self.root}, seed {self.seed}, {count} operations: {self.kind}\n  Linux:     {a}\n  Chainwalk: {b}"

    def keep(self) -> Path:
        """As a test that is run again for ever."""
        FOUND.mkdir(exist_ok=True)
        word = re.sub(r"[^a-z0-9]+", "-", self.kind.lower()).strip("-")
        path = FOUND / f"{self.root}-{word}-{self.seed}.txt"
        head = f"# Found on {self.root} with seed {self.seed}: {self.kind}.\nroot {self.root}\n"
        path.write_text(head + "".join(f"{x}\n" for x in self.operations) + "".join(f"> {x}\n" for x in self.linux))
        return path


def differing(root: str, seeds: list[int], absent: str, smp: int) -> list[Failure]:
    """Run these seeds again with their traces."""
    work = Work(sequences={seed: operations_of(seed, absent) for seed in seeds}, verbose=True)
    ours, linux = run_here(root, work, 1), run_on_linux(root, work, absent)
    return [
        Failure(root, seed, kind, ops, linux.traces.get(seed, []), ours.traces.get(seed, []))
        for seed, ops in work.sequences.items()
        if (kind := kind_of(linux.traces.get(seed, []), ours.traces.get(seed, [])))
    ]


def read_found(path: Path) -> tuple[str, list[str], list[str]]:
    """A kept sequence: its root, its operations, Linux's trace."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    root = next(line.split()[1] for line in lines if line.startswith("root "))
    trace = [line[2:] for line in lines if line.startswith("> ")]
    return root, [line for line in lines if not line.startswith(("root ", "> "))], trace


def replay(root: str, sequences: dict[int, list[str]]) -> Outcome:
    return run_here(root, Work(sequences=sequences, verbose=True), 1)
