"""Runs that results/ keeps, drawn by the commit, count what they counted: to the last byte, where the kernel is the same."""

from __future__ import annotations

import pytest

from lab.base.commit import head
from lab.kept import check


def count_again(length: check.Length) -> None:
    outcome = check.check(head(), length=length)
    assert not outcome.faults, "\n".join(outcome.faults)
    if not outcome.equal:
        pytest.skip("; ".join(outcome.skipped))


def test_two_kept_runs_count_the_same_again():
    count_again(check.SHORT)


@pytest.mark.turns(12)
@pytest.mark.long
def test_a_long_kept_run_counts_the_same_again():
    """Whole scripts are never short, and the papers' tables are of them."""
    count_again(check.LONG)
