"""Right submissions get all points, wrong and dishonest ones fail where they are wrong, and nowhere else."""

from __future__ import annotations

import re

import pytest

from lab.course import keys
from lab.grade.function import oracle
from lab.grade.sizing import costs
from tests.lab.grade.conftest import COURSE
from tests.lab.grade.lab2.conftest import LAB
from tests.lab.grade.lab2.submissions import RIGHT, SOLUTION, TELLING, WRONG, instead, learned

CASES = LAB.parts[-1].options["cases"]


def cases(seeds):
    return [costs.drawn(seeds.seed("2", "case", i), kind) for i, kind in enumerate(CASES)]


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_one_gets_all_points(graded, name):
    shares, said = graded(RIGHT[name])
    assert all(share == 1 for share in shares.values()), said


def test_the_solution_is_right_on_another_course(graded):
    shares, said = graded(SOLUTION, keys.Seeds(b"another course" * 3))
    assert all(share == 1 for share in shares.values()), said


@pytest.mark.turns(4)
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_one_fails_where_it_is_wrong(graded, name):
    text, fails = WRONG[name]
    shares, said = graded(text)
    assert {kind for kind, share in shares.items() if share < 1} == fails, said
    assert "root:" not in said, "a file of the host's came out"


def test_rules_of_thumb_get_little(graded):
    """The kernel's own, nothing at all: who has not thought of caches has not sized a table."""
    shares, said = graded(WRONG["one a bucket"][0])
    assert shares["sizes"] == 0, said
    for name in ("1024 buckets", "all the memory", "chains cost nothing"):
        shares, said = graded(WRONG[name][0])
        assert shares["sizes"] < 0.5, (name, said)


def test_answers_by_heart_are_those_of_one_seed(graded):
    """All points where they were learned, none more than the rule beneath them elsewhere."""
    known = [(one.case.question, one.best) for one in cases(keys.practice(1))]
    text = learned(known)
    assert graded(text, keys.practice(1))[0]["sizes"] == 1
    shares, said = graded(text)
    assert shares["sizes"] == 0, said


def test_the_score_is_the_same_each_time(graded):
    assert len({str(graded(WRONG["poisson"][0])) for _ in range(2)}) == 1


def test_feedback_leads_to_a_case_for_practice_and_tells_nothing_of_the_hidden_ones(graded):
    text = instead("sizing_hit", "\treturn 1500;", WRONG["1024 buckets"][0])
    _, said = graded(text)
    commands = re.findall(r"to see the like: \./cw grade 2 sizing\.h --seed (\d+) has (.*)", said)
    assert len(commands) == 2, said
    shown = graded(text, keys.practice(int(commands[0][0])))[1]
    assert commands[0][1] in shown, "predictions"
    assert commands[1][1].split(":")[0] in CASES
    for one in cases(COURSE):
        words = {
            f"{one.case.load.objects:,}",
            str(one.case.load.objects),
            f"{one.cycles[one.best]}",
            one.each(one.best),
        }
        assert not words & set(re.findall(r"[\d.,]+\d", said)), one


def test_practice_shows_everything(graded):
    """Of a case that is no secret: the load, the machine, what each size costs, where the best one is."""
    _, said = graded(SOLUTION, keys.practice(1))
    lines = said.splitlines()
    for one in cases(keys.practice(1)):
        at = next(i for i, line in enumerate(lines) if str(one.case.load) in line)
        assert str(one.case.machine) in lines[at] and f"{one.best}: {one.each(one.best)}" in lines[at + 1]
        assert f"best: {one.best} bits" in lines[at + 2]


def test_nothing_that_is_told_can_hold_what_was_asked(graded):
    """Of another course's cases the same is said; of those that are no secret, the status."""
    hidden = [graded(TELLING, seeds)[1] for seeds in (COURSE, keys.Seeds(b"another course" * 3))]
    assert hidden[0] == hidden[1]
    statuses = re.findall(r"ended with status \d+", graded(TELLING, keys.practice(1))[1])
    assert len(set(statuses)) > 1


def test_hidden_answers_never_enter_the_sandbox(monkeypatch, graded):
    """The costs are the grader's own: what it asks has the case alone, and no seed."""
    given = []
    real = oracle.sandbox.run

    def watch(command, limits, shown=None, kept=None, given_bytes=b"", **others):
        given.append((" ".join(command), others.get("given", given_bytes)))
        return real(command, limits, shown, kept, others.get("given", given_bytes))

    monkeypatch.setattr(oracle.sandbox, "run", watch)
    graded(SOLUTION)
    asked = b"".join(data for _, data in given)
    assert len(asked) > 10_000
    for one in cases(COURSE):
        assert one.case.load.objects.to_bytes(8, "little") in asked
        assert one.cycles[one.best].to_bytes(8, "little") not in asked
    for i in range(len(CASES)):
        seed = COURSE.seed("2", "case", i)
        assert seed.to_bytes(8, "little") not in asked and all(str(seed) not in words for words, _ in given)
