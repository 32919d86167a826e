"""Right caches get all points, wrong and dishonest ones fail where they are wrong, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.grade.paths import machine
from tests.lab.grade.lab6.submissions import RIGHT, WRONG


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_one_gets_all_points(graded, name):
    shares, said = graded(RIGHT[name])
    assert all(share == 1 for share in shares.values()), said


@pytest.mark.turns(4)
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_one_fails_where_it_is_wrong(graded, name, monkeypatch):
    text, kinds, fails = WRONG[name]
    if name in ("never ends", "starts tasks without end"):
        monkeypatch.setattr(machine, "BOOT", replace(machine.BOOT, cpu=2))
    shares, said = graded(text, kinds)
    assert "path-defined" not in fails or "undefined behaviour in line" in said, said
    assert {kind for kind, share in shares.items() if share < 1} == fails, said
    assert "root:" not in said, "a file of the host's came out"
