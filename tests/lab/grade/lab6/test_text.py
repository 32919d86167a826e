"""The lab's text: what it has one run works, and prints what it says; what boots a machine of its own is looked at, and not run."""

from __future__ import annotations

import re

import pytest

from lab.base.paths import TOP
from lab.course import keys
from tests.lab.grade.follow import blocks, check_printed, run
from tests.lab.grade.lab6.conftest import ASKED, IN_TURN, LAB, SMALL
from tests.lab.grade.lab6.submissions import SOLUTION, STARTER


@pytest.mark.turns(4)
def test_the_labs_steps(tmp_path, graded):
    scripts = [text for language, text in blocks("6") if language == "sh"]
    assert "pathcache_word" in run(scripts[0], TOP, tmp_path)
    assert scripts[1] == "./cw grade 6 ~/lab6/pathcache.c\n"
    assert (tmp_path / "lab6/pathcache.c").read_text() == STARTER
    _, said = graded(STARTER, ASKED, keys.practice(1))
    others = [part.name for part in LAB.parts if part.kind not in ASKED]
    shown = [text for language, text in blocks("6") if language == "text"][0]
    check_printed("".join(f"{line}\n" for line in shown.splitlines() if not line.endswith(tuple(others))), said)
    assert (
        " 30.00 of  80  in all" in said and sum(part.points for part in LAB.parts if part.kind in IN_TURN | SMALL) == 20
    )


def test_the_machines_are_those_of_the_grader(tmp_path):
    """What is copied into the kernel is what the grader puts there, and is asked for with its settings."""
    text = (TOP / LAB.text).read_text()
    runs = re.findall(r"^\./cw run .*$", text, re.MULTILINE)
    assert len(runs) == 3
    for line in runs:
        assert re.findall(r"--set (\S+)", line) == [
            one for one in LAB.options["kernel"]["settings"] if not one.startswith("SHORT_TURNS")
        ]
    copied = {path.name for path in (LAB.folder / "starter").rglob("*") if path.is_file()}
    adds = LAB.options["kernel"]["adds"]
    assert {path.rpartition("/")[2] for path in adds} | {LAB.hand_in} == copied
    assert all((TOP / source).is_file() for source in adds.values())
    assert "cp ~/lab6/kernel/* ~/lab6/pathcache.[ch] fs/path/direct/\n" in text


def test_what_students_see_has_no_solution():
    names = set(re.findall(r"^(?:static .*\b)?(\w+)\([^;]*$", SOLUTION, re.MULTILINE)) - {"pathcache_word"}
    own = {name for name in names if not name.startswith("pathcache_")}
    assert len(own) > 3
    assert not own & set(re.findall(r"\b(\w+)\(", STARTER))
