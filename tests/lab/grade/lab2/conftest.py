"""Submissions of lab 2."""

from __future__ import annotations

import pytest

from lab.course import labs
from tests.lab.grade.conftest import COURSE

LAB = labs.find("2")


@pytest.fixture
def graded(grade_text, impatient):
    """graded(text) -> the share of each part's points by its kind, and all that was said."""

    def judge(text, seeds=COURSE):
        return grade_text(LAB, text, seeds)

    return judge
