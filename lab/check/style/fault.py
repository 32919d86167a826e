"""Something that breaks a rule."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    rule: str
    file: str
    line: int
    what: str
    weight: int = 1  # how much of it: known.toml counts these

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"
