"""Submissions of lab 6."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.course import labs
from tests.lab.grade.conftest import COURSE

LAB = labs.find("6")

IN_TURN = frozenset({"path-cpus"})
SMALL = frozenset({"path-memory"})
CHECKED = frozenset({"path-defined"})
ASKED = frozenset(part.kind for part in LAB.parts) - IN_TURN - SMALL - CHECKED  # one machine


@pytest.fixture
def graded(grade_text):
    """graded(text, kinds) -> the share of each part's points by its kind, and all that was said; of @kinds of parts alone."""
    once = {"storms": 1}  # one finds what there is to be found

    def judge(text, kinds=ASKED | IN_TURN | SMALL | CHECKED, seeds=COURSE):
        parts = [part for part in LAB.parts if part.kind in kinds | {"path-builds"}]
        parts = tuple(
            replace(part, options=part.options | once) if "storms" in part.options else part for part in parts
        )
        return grade_text(replace(LAB, parts=parts), text, seeds, True)

    return judge
