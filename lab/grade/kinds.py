"""What can be judged: the kinds of parts that a lab.toml may name. Each is judge(work, part), in the room of its kind of hand-in."""

from __future__ import annotations

from collections.abc import Callable

from lab.course.labs import Lab, Part
from lab.grade.booted import judge as booted
from lab.grade.flood import guest
from lab.grade.flood import keys as broken
from lab.grade.flood import parts as flood
from lab.grade.function import parts as function
from lab.grade.function import steps
from lab.grade.lockless import parts as lockless
from lab.grade.paths import parts as paths
from lab.grade.sizing import parts as sizing
from lab.grade.table import parts as table
from lab.grade.work import Judged, Work

KINDS: dict[str, Callable[[Work, Part], Judged]] = {
    "builds": function.builds, "range": function.in_range, "function": function.is_function, "defined": function.defined,
    "recorded": steps.recorded, "made": steps.made, "booted": booted.judge,
    "sizing": sizing.builds, "alike": sizing.alike, "sizing-defined": sizing.defined, "histograms": sizing.histograms,
    "means": sizing.steps, "sizes": sizing.sizes,
    "flood-builds": flood.builds, "flood-blocks": broken.judge, "flood-names": broken.judge, "flood-kernel": guest.judge,
    "flood-same": flood.same, "flood-defined": flood.defined, "flood-keyed": flood.keyed, "flood-held": flood.floods,
    "flood-recorded": flood.recorded,
    **table.KINDS, **lockless.KINDS, **paths.KINDS,
}  # fmt: skip

BOOTED = {"booted", "flood-kernel", *paths.KINDS}  # what is seen only where the kernel runs


def can_judge(lab: Lab, boots: bool) -> bool:
    """Is there a part of @lab that can be judged, if the kernel is booted, or without?"""
    return boots or any(part.kind not in BOOTED for part in lab.parts)
