"""Lab 2's own text: its steps can be followed to the letter, what it says is printed, and nothing gives the solution away."""

from __future__ import annotations

import os
import re
import subprocess

from lab.base.paths import TOP
from tests.lab.grade.lab2.conftest import LAB
from tests.lab.grade.lab2.submissions import SOLUTION
from tests.lab.grade.test_course import followed

TEXT = (TOP / LAB.text).read_text()


def test_the_labs_steps_can_be_followed_to_the_letter(tmp_path):
    """In the checkout itself, which they leave alone. The grader's own lines, which the text shows where they are talked of, come from its last call."""
    booted, graded = [], []

    def run(block):
        result = subprocess.run(
            ["bash", "-e", "-c", block], cwd=TOP, env={**os.environ, "HOME": str(tmp_path)}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        assert result.returncode == 0, f"{block}\n{result.stdout[-2000:]}\n{result.stderr[-2000:]}"
        if "--cache-sim" in block:
            booted.append(result.stdout)
        if "./cw grade" in block:
            graded.append(result.stdout)
        return result.stdout + "".join(graded)

    followed(TEXT, run)
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
