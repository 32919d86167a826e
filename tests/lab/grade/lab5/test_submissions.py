"""Right tables get all points, wrong and dishonest ones fail where they are wrong, and nowhere else."""

from __future__ import annotations

import pytest

from lab.grade.lockless import machine
from tests.lab.grade.lab5.submissions import ALL, RIGHT, RUN, WRONG

FEW = {"programs": 2, "schedules": 150}
# Who reaches for the judge is found by that, not by what became of his answers.
ENDED = {
    "turns the steps off": machine.ENDS[32],
    "stops the others": machine.ENDS[33],
    "answers for the others": machine.ENDS[33],
    "reads and writes its lock in two": machine.ENDS[34],
    "lets who looks go first": machine.ENDS[34],
    "waits for a free lock": machine.ENDS[34],
    "lets who changes go first": machine.ENDS[34],
    "counts its lookups in a vector": machine.ENDS[35],
    "turns vectors on": machine.ENDS[35],
    "counts its lookups on one stack": machine.ENDS[35],
    "writes to the tables of pages": machine.ENDS[33],
    "writes to code": machine.ENDS[33],
    "hides its tenth round among others": "a lookup accesses shared memory",
    "hides it when somebody changes": "a lookup accesses shared memory",
    "runs by itself where tasks are": "compiled for tasks it is no structure alone",
    "has megabytes where tasks are": "megabytes of data of its own",
}
RARE = {
    "counts before it removes": None,
    "gives up after the second round": None,
    "gives up after the tenth round": None,
}  # all programs, to be found


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_one_gets_all_points(graded, name):
    shares, said = graded(RIGHT[name], only=ALL)
    assert all(share == 1 for share in shares.values()), said


@pytest.mark.turns(4)
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_one_fails_where_it_is_wrong(graded, name):
    text, fails = WRONG[name]
    only = {"structure", *RUN} | fails
    shares, said = graded(text, only=only, tasks=RARE.get(name, FEW))
    assert {kind for kind, share in shares.items() if share < 1} == fails, said
    assert ENDED.get(name, "") in said
    assert "root:" not in said, "a file of the host's came out"
