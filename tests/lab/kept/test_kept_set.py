"""Two runs of those that results/ keeps, drawn by the commit, count what they counted: to the last byte."""

from __future__ import annotations

import pytest

from lab.base.commit import head
from lab.kept import check


def test_two_kept_runs_count_the_same_again():
    outcome = check.check(head())
    assert not outcome.faults, "\n".join(outcome.faults)
    if not outcome.equal:
        pytest.skip("; ".join(outcome.skipped))
