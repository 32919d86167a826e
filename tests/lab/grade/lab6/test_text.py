"""The lab's text has the grader's machines, and nothing gives the solution away."""

from __future__ import annotations

import re

from lab.base.paths import TOP
from tests.lab.grade.lab6.conftest import LAB
from tests.lab.grade.lab6.submissions import SOLUTION, STARTER


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
