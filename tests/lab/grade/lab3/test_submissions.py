"""Right submissions get all points, wrong and dishonest ones fail where they are wrong, and nowhere else."""

from __future__ import annotations

import re

import pytest

from lab.course import keys
from lab.course.draw import Draw
from lab.grade.flood import asked
from lab.grade.flood.broken import drawn
from tests.lab.grade.conftest import COURSE
from tests.lab.grade.lab3.conftest import LAB
from tests.lab.grade.lab3.submissions import RIGHT, STARTER, WRONG, parts_for


def failed(shares):
    return {kind for kind, share in shares.items() if share < 1} - {"kernel"}


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_one_gets_all_points(graded, name):
    shares, said = graded(RIGHT[name])
    assert not failed(shares), said


@pytest.mark.turns(4)
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_one_fails_where_it_is_wrong(graded, name):
    text, fails = WRONG[name]
    shares, said = graded(text, only=parts_for(name))
    assert failed(shares) == fails, said
    assert "root:" not in said, "a file of the host's came out"


ATTACKS = {"builds", "blocks", "names"}


def test_the_score_is_the_same_each_time(graded):
    assert len({str(graded(STARTER, only=ATTACKS)) for _ in range(2)}) == 1


def test_half_a_flood_gets_points_between(graded):
    shares, said = graded(WRONG["half of the blocks"][0], only=ATTACKS)
    assert 0.7 < shares["blocks"] < 0.9, said  # half of a third is missing, and a bit of what is there


def test_feedback_leads_to_numbers_for_practice_and_tells_nothing_of_the_hidden_ones(graded):
    _, said = graded(STARTER, only=ATTACKS)
    commands = re.findall(r"to see the like: \./cw grade 3 flood\.h --seed (\d+) has (.*)", said)
    assert len(commands) == 5, said
    for seed in {seed for seed, _ in commands}:
        _, again = graded(STARTER, keys.practice(int(seed)), only=ATTACKS)
        assert all(line in again for number, line in commands if number == seed)
    told = set(re.findall(r"0x[0-9a-f]+|\d{4,}", re.sub(r"to see the like.*", "", said).replace(",", "")))
    assert told <= {"1024"}, said


def hidden_numbers(text: str) -> list:
    """What is drawn for a submission of this text."""
    work = asked.Work(LAB, COURSE, text.encode(), LAB.hand_in, asked.HERE)
    return [drawn(kind, work.of(asked.Flood).draw("broken", kind)) for kind in ("product", "folded", "top", "large")]


def test_what_one_submission_learns_is_worth_nothing_to_the_next():
    """By its points, or by how it ends, a program can tell what it was asked."""
    numbers = hidden_numbers(STARTER)
    assert numbers == hidden_numbers(STARTER)
    assert not set(numbers) & set(hidden_numbers(f"{STARTER} "))
    assert all(
        one != drawn("top", Draw(keys.practice(seed).seed("3", "broken", "top")))
        for seed in range(1, 9)
        for one in numbers
    )


def test_hidden_seeds_never_enter_the_sandbox(monkeypatch, graded):
    """Nor the numbers of the functions where its words come out, which is where the sanitizer's are."""
    seen = []
    real = asked.sandbox.run

    def watch(command, limits, shown=None, kept=None, given=b""):
        seen.append((tuple(command), tuple(map(str, {**(shown or {}), **(kept or {})})), given))
        return real(command, limits, shown, kept, given)

    monkeypatch.setattr(asked.sandbox, "run", watch)
    graded(STARTER, only={*ATTACKS, "defined"})
    numbers = [one.first.to_bytes(8, "little") for one in hidden_numbers(STARTER) if one.first > 1 << 16]
    assert len(seen) > 10 and numbers
    for command, paths, given in seen:
        assert all("cw-grade-" in path for path in paths)
        assert COURSE.secret not in given and COURSE.secret.hex() not in " ".join(command)
        assert not command[0].endswith("-checked") or not any(number in given for number in numbers)
