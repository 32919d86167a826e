"""One submission while it is judged: what was handed in, and what parts find out and share."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from lab.course import keys
from lab.course.draw import Draw
from lab.course.keys import Seeds
from lab.course.labs import Lab

State = TypeVar("State")


class Refused(Exception):
    """Why a submission cannot be judged, or not further; the message is for who handed it in.

    @slow: it used up a time limit, and to try again would use up another."""

    def __init__(self, message: str, slow: bool = False):
        super().__init__(message)
        self.slow = slow


@dataclass
class Judged:
    """What came of a part: how much of its points, and what is said to who handed it in."""

    share: Fraction  # 0 to 1
    said: list[str] = field(default_factory=list)


def passed(*said: str) -> Judged:
    return Judged(Fraction(1), list(said))


def failed(*said: str) -> Judged:
    return Judged(Fraction(0), list(said))


@dataclass
class Work:
    lab: Lab
    seeds: Seeds
    text: bytes
    called: str  # what was handed in, to who did so
    folder: Path  # for what its lab's room shows the sandbox
    boots: bool = True  # is the kernel to be built and run?
    unfit: str = ""  # why the kernel is not to be booted with it: what the first part said that found it
    states: dict[type, Any] = field(default_factory=dict)

    def draw(self, *purpose: object) -> Draw:
        return Draw(self.seeds.seed(self.lab.number, *purpose))

    @property
    def open_seeds(self) -> Seeds:
        """Of questions with which what the submission says of itself is told: never a course's own."""
        return keys.practice(1) if self.seeds.hidden else self.seeds

    @property
    def command(self) -> str:
        """What grades it, but for options."""
        return f"./cw grade {self.lab.number} {shlex.quote(self.called)}"

    def of(self, room: Callable[[Work], State]) -> State:
        """What the parts of one room know of this submission: a @room(work), made by the first that asks."""
        assert isinstance(room, type)
        if room not in self.states:
            self.states[room] = room(self)
        return self.states[room]

    def not_booted(self, reason: str) -> None:
        """The kernel is not to be booted with it, for @reason, unless another was found before."""
        self.unfit = self.unfit or reason
