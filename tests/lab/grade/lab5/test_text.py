"""The lab's text can be followed to the letter; the machines and the ring that it runs are left to other tests (test_booted.py, tests/hosted)."""

from __future__ import annotations

import pytest

from tests.lab.grade.follow import follow


@pytest.mark.turns(4)
def test_the_labs_steps_can_be_followed_to_the_letter(tmp_path):
    follow("5", tmp_path, without_machines)


def without_machines(script: str) -> str:
    """Nothing of the ladder, of step 6's machine, or of the ring."""
    if "./cw run" in script and "lab5" not in script or "interleave.mk" in script:
        return ":"
    lines = script.replace("\\\n", " ").splitlines()
    return "\n".join(line for line in lines if not line.startswith("./cw run"))
