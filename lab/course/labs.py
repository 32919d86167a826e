"""The labs: each folder of coursework/ is one, and its lab.toml says what it asks for."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.base.paths import TOP, LabError

COURSEWORK = TOP / "coursework"


@dataclass(frozen=True)
class Part:
    """One thing that is judged, and what it is worth."""

    kind: str  # of lab/grade/kinds.py
    name: str  # for people
    points: int
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Lab:
    """A lab.toml."""

    number: str
    folder: Path
    name: str
    text: str  # where students read it, from the top of the tree
    hand_in: str  # the file's name
    largest: int  # its bytes
    defines: tuple[str, ...]  # what the file has to have: a name in its code
    parts: tuple[Part, ...]
    options: dict[str, Any] = field(default_factory=dict)  # what else it says, for its own room of lab/grade

    @property
    def points(self) -> int:
        return sum(part.points for part in self.parts)


def numbers() -> list[str]:
    """Of the labs that there are."""
    return sorted(path.parent.name.removeprefix("lab") for path in COURSEWORK.glob("lab*/lab.toml"))


def find(number: str) -> Lab:
    """Lab @number, as "1" or "lab1"."""
    wanted = number.removeprefix("lab")
    if wanted not in numbers():
        raise LabError(f"there is no lab {number}. There are: {', '.join(numbers())}")
    folder = COURSEWORK / f"lab{wanted}"
    try:
        said = tomllib.loads((folder / "lab.toml").read_text(encoding="utf-8"))
        parts = tuple(_part(dict(one)) for one in said.pop("part"))
        name, text, hand_in, largest, defines = (
            said.pop(key) for key in ("name", "text", "hand_in", "largest", "defines")
        )
        return Lab(wanted, folder, name, text, hand_in, int(largest), tuple(defines), parts, said)
    except (KeyError, TypeError, ValueError) as error:
        raise LabError(f"{folder}/lab.toml: {error!r}") from None


def _part(said: dict[str, Any]) -> Part:
    return Part(said.pop("kind"), said.pop("name"), int(said.pop("points")), said)
