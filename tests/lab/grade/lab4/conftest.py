"""Submissions of lab 4."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.course import labs
from lab.grade.table import machine
from tests.lab.grade.conftest import COURSE

LAB = labs.find("4")


@pytest.fixture
def graded(grade_text, monkeypatch):
    """graded(text) -> the share of each part's points by its kind, and all that was said."""
    # What is right takes a fraction of a second.
    monkeypatch.setattr(machine, "HOSTED", replace(machine.HOSTED, seconds=10, cpu=1))

    def judge(text, seeds=COURSE, boots=False):
        return grade_text(LAB, text, seeds, boots)

    return judge
