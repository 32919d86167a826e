"""Right submissions get all points, wrong and dishonest ones fail where they are wrong, and nowhere else."""

from __future__ import annotations

import pytest

from tests.lab.grade.lab3.submissions import RIGHT, WRONG, parts_for


def failed(shares):
    return {kind for kind, share in shares.items() if share < 1} - {"kernel"}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_one_gets_all_points(graded, name):
    shares, said = graded(RIGHT[name])
    assert not failed(shares), said


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_one_fails_where_it_is_wrong(graded, name):
    text, fails = WRONG[name]
    shares, said = graded(text, only=parts_for(name))
    assert failed(shares) == fails, said
    assert "root:" not in said, "a file of the host's came out"
