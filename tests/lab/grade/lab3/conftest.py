"""Submissions of lab 3."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.course import labs
from lab.grade.flood import asked
from tests.lab.grade.conftest import COURSE

LAB = labs.find("3")


@pytest.fixture
def graded(grade_text, monkeypatch):
    """graded(text) -> the share of each part's points by its kind without `flood-`, and all that was said; with time limits that a test can wait for.
    @only: the kinds that are judged."""
    monkeypatch.setattr(asked, "ATTACK", replace(asked.ATTACK, seconds=20, cpu=1))
    monkeypatch.setattr(asked, "HASH", replace(asked.HASH, seconds=20, cpu=1))

    def judge(text, seeds=COURSE, boots=False, only=None):
        parts = tuple(part for part in LAB.parts if only is None or part.kind.removeprefix("flood-") in only)
        shares, said = grade_text(replace(LAB, parts=parts), text, seeds, boots)
        return {kind.removeprefix("flood-"): share for kind, share in shares.items()}, said

    return judge
