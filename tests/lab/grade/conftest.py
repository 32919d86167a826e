"""Submissions of lab 1, graded as ./cw grade does it, with time limits that a test can wait for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.course import keys, labs
from lab.grade import oracle, score
from lab.grade.one import grade
from lab.grade.parts import booted

LAB = labs.find("1")
COURSE = keys.Seeds(b"a course's secret that the tests know" * 2)


@pytest.fixture
def impatient(monkeypatch):
    """What is right takes a fraction of a second."""
    monkeypatch.setattr(oracle, "ASK", replace(oracle.ASK, seconds=12, cpu=2))


@pytest.fixture
def graded(tmp_path, impatient):
    """graded(text) -> the share of each part's points by its kind, and all that was said."""

    def judge(text, seeds=COURSE, boots=False):
        path = tmp_path / LAB.hand_in
        path.write_text(text)
        with booted.home():
            found = grade(LAB, path, seeds, boots)
        shares = {part.kind: line.points / line.out_of for part, line in zip(LAB.parts, found.lines, strict=True)}
        return shares, score.text(found)

    return judge
