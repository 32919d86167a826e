"""Submissions, graded as ./cw grade does it, with time limits that a test can wait for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.course import keys
from lab.grade import score
from lab.grade.booted import judge as booted
from lab.grade.function import oracle
from lab.grade.one import grade

COURSE = keys.Seeds(b"a course's secret that the tests know" * 2)


@pytest.fixture
def impatient(monkeypatch):
    """What is right takes a fraction of a second."""
    monkeypatch.setattr(oracle, "ASK", replace(oracle.ASK, seconds=12, cpu=2))


@pytest.fixture
def grade_text(tmp_path):
    """grade_text(lab, text) -> the share of each part's points by its kind, and all that was said."""

    def judge(lab, text, seeds=COURSE, boots=False):
        path = tmp_path / lab.hand_in
        path.write_text(text)
        with booted.home():
            found = grade(lab, path, seeds, boots)
        shares = {part.kind: line.points / line.out_of for part, line in zip(lab.parts, found.lines, strict=True)}
        return shares, score.text(found)

    return judge
