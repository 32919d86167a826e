"""The lab's text can be followed to the letter, with all the kernels and the ring that it has one build."""

from __future__ import annotations

import pytest

from tests.lab.grade.follow import follow


@pytest.mark.builds
@pytest.mark.long
def test_the_labs_steps_can_be_followed_to_the_letter(tmp_path):
    follow("5", tmp_path)
