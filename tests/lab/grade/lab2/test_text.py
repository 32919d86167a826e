"""Lab 2's own text: its steps can be followed to the letter, what it says is printed, and nothing gives the solution away."""

from __future__ import annotations

import re

import pytest

from lab.base.paths import TOP
from tests.lab.grade.follow import followed, run
from tests.lab.grade.lab2.conftest import LAB
from tests.lab.grade.lab2.submissions import SOLUTION

TEXT = (TOP / LAB.text).read_text()


@pytest.mark.turns(4)
def test_the_labs_steps_can_be_followed_to_the_letter(tmp_path):
    """In the checkout itself, which they leave alone. The grader's own lines, which the text shows where they are talked of, come from its last call."""
    booted, graded = [], []

    def command(block):
        said = run(block, TOP, tmp_path)
        if "--cache-sim" in block:
            booted.append(said)
        if "./cw grade" in block:
            graded.append(said)
        return said + "".join(graded)

    followed("2", command)
    rows = [line.split() for line in booted[0].splitlines() if line.split()[0] == "dentry"]
    cycles = [float(row[-1]) for row in rows]
    assert len(cycles) == 3 and cycles[1] < cycles[2] < cycles[0], booted[0]
    instructions = [int(row[2]) for row in rows]
    assert instructions == sorted(instructions, reverse=True), booted[0]
    assert "20.00 of 100  in all" in graded[0]


def test_what_students_see_has_no_solution():
    names = {name for name in re.findall(r"\b([a-z_]+)\(", SOLUTION) if not name.startswith("sizing_")} - {
        "while",
        "for",
        "if",
    }
    assert len(names) > 3
    starter = (LAB.folder / "starter" / LAB.hand_in).read_text()
    assert not names & set(re.findall(r"\b([a-z_]+)\(", starter + TEXT))
