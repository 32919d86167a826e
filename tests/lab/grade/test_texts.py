"""The labs' texts, followed to the letter, with all the kernels that they have one build and boot. (Lab 2's leaves the checkout alone,
and is followed there: lab2/test_text.py.)"""

from __future__ import annotations

import pytest

from lab.course import labs
from tests.lab.grade.follow import follow


@pytest.mark.builds
@pytest.mark.long
@pytest.mark.parametrize("number", [number for number in labs.numbers() if number != "2"])
def test_a_labs_steps_can_be_followed_to_the_letter(tmp_path, number):
    follow(number, tmp_path)
