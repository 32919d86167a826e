"""Right structures get all points, wrong and dishonest ones fail where they are wrong, and nowhere else."""

from __future__ import annotations

import pytest

from tests.lab.grade.lab4.dishonest import DISHONEST
from tests.lab.grade.lab4.submissions import RIGHT, WRONG

ALL_WRONG = {**WRONG, **DISHONEST}


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_one_gets_all_points(graded, name):
    shares, said = graded(RIGHT[name])
    assert all(share == 1 for kind, share in shares.items() if kind != "booted"), said


@pytest.mark.turns(4)
@pytest.mark.parametrize("name", [name for name, (_, fails) in ALL_WRONG.items() if fails != {"booted"}])
def test_a_wrong_one_fails_where_it_is_wrong(graded, name):
    text, fails = ALL_WRONG[name]
    shares, said = graded(text)
    assert {kind for kind, share in shares.items() if share < 1} - {"booted"} == fails - {"booted"}, said
    assert "root:" not in said, "a file of the host's came out"
