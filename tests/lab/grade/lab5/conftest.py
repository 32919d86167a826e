"""Submissions of lab 5."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.course import labs
from lab.grade.table import machine
from tests.lab.grade.conftest import COURSE

LAB = labs.find("5")


@pytest.fixture
def graded(grade_text, monkeypatch):
    """graded(text, only=kinds) -> the share of each of those parts' points by its kind, and all that was said."""
    # What is right takes a fraction of a second.
    monkeypatch.setattr(machine, "HOSTED", replace(machine.HOSTED, seconds=10, cpu=1))

    def judge(text, seeds=COURSE, boots=False, only=None, tasks=None):
        parts = tuple(part for part in LAB.parts if only is None or part.kind in only)
        options = {**LAB.options, "tasks": tasks or LAB.options["tasks"]}
        return grade_text(replace(LAB, parts=parts, options=options), text, seeds, boots)

    return judge
