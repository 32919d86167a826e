"""Long tests take turns (tests/draw.py): what a commit leaves out, others run, and what is asked for by name is run whole."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lab.base import commit
from lab.base.paths import TOP
from lab.check.runtests import drawn
from tests import draw
from tests.draw import takes_part

HEAD = commit.head()
FILE = "tests/booted/swap/test_swap.py"


class Item:
    """What draw.left_out() asks of a test."""

    def __init__(self, nodeid: str, marks: list[pytest.Mark]):
        self.nodeid, self.marks = nodeid, marks

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return next((mark for mark in self.marks if mark.name == name), None)


def test_each_row_is_drawn_as_often():
    """Of 2,000 words each of 9 rows is drawn by a quarter, and by no word all of them or more than its share."""
    words = [f"{number:040x}" for number in range(2000)]
    for word in words[:50]:
        assert sum(takes_part("a::test", row, 4, word) for row in range(8)) == 2
    for row in range(9):
        share = sum(takes_part("a::test", row, 4, word) for word in words) / len(words)
        assert 0.2 < share < 0.3, (row, share)


def test_two_tests_do_not_go_together():
    words = [f"{number:040x}" for number in range(2000)]
    both = sum(takes_part("a::one", 0, 4, word) and takes_part("a::two", 0, 4, word) for word in words)
    assert 80 < both < 180  # a sixteenth


def test_turns_of_one_are_every_time():
    assert all(takes_part("a::test", row, 1, HEAD) for row in range(9))


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ([], ["tests", "--draw", HEAD]),
        (["--all"], ["tests"]),
        ([FILE, "-k", "errors"], [FILE, "-k", "errors"]),
    ],
)
def test_what_is_named_is_run_whole(given, asked):
    assert drawn(given) == asked


def collected(*arguments: str) -> set[str]:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", FILE, *arguments]
    said = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True).stdout
    return {line for line in said.splitlines() if "::" in line}


def test_a_word_leaves_long_ones_out_and_nothing_else():
    whole, drawn_by_it = collected(), collected("--draw", "a")
    left = whole - drawn_by_it
    assert drawn_by_it < whole and left
    assert {test.rpartition("::")[2].partition("[")[0] for test in left} <= {
        "test_filling", "test_memory_of_twice_the_machine", "test_a_table_of_its_own",
    }  # fmt: skip


def test_what_is_built_for_few_is_there_in_some_commits():
    """Of all names one in BUILDS, each in as many commits as the others; and with a name all that need it, or nothing."""
    names = [f"kernel {number}" for number in range(draw.BUILDS)]
    marked = [(f"a::{name}", name) for name in (names[0], *names, names[-1])]
    kept = dict.fromkeys(names, 0)
    for number in range(100 * draw.BUILDS):
        items = [Item(test, [pytest.mark.builds(name).mark]) for test, name in marked]
        left = draw.left_out(items, f"{number:040x}")
        (name,) = {item.marks[0].args[0] for item in items if item not in left}
        assert sum(item not in left for item in items) == sum(name == other for _, other in marked)
        kept[name] += 1
    assert all(60 < count < 140 for count in kept.values()), kept


def test_a_build_without_a_name_is_its_rows_alone():
    items = [Item(f"a::test[{row}]", [pytest.mark.builds.mark]) for row in range(2 * draw.BUILDS)]
    assert len(draw.left_out(items, HEAD)) == len(items) - 2


def test_words_together_leave_nothing_out():
    words = [f"{number:040x}" for number in range(100)]
    assert all(any(takes_part("a::test", row, 4, word) for word in words) for row in range(9))


def test_without_git_a_fixed_word_draws(monkeypatch):
    assert len(commit.head()) == 40
    monkeypatch.setenv("PATH", "/nonexistent")
    assert commit.head() == commit.WITHOUT_GIT
