"""What can be judged: each module's judge(work, part) is a kind of part that a lab.toml may name."""

from __future__ import annotations

from collections.abc import Callable

from lab.course.labs import Part
from lab.grade.parts import booted, function, steps
from lab.grade.work import Judged, Work

KINDS: dict[str, Callable[[Work, Part], Judged]] = {
    "builds": function.builds, "range": function.in_range, "function": function.is_function, "defined": function.defined,
    "recorded": steps.recorded, "made": steps.made, "booted": booted.judge,
}  # fmt: skip
