"""The kernel runs with what was handed in, though it has no such file: a right one does the job, one that loses blocks there is found by its disk."""

from __future__ import annotations

import pytest

from lab.course import labs
from lab.grade.booted.kernel import StandIn
from tests.lab.grade.lab4.conftest import LAB
from tests.lab.grade.lab4.submissions import RIGHT, WRONG


@pytest.mark.builds("kernels of lab 4")
@pytest.mark.parametrize("name", ["levels, and it shrinks", "only in the kernel"])
def test_the_kernel_with_it(graded, name):
    shares, said = graded({**RIGHT, "only in the kernel": WRONG["only in the kernel"][0]}[name], boots=True)
    assert {kind for kind, share in shares.items() if share < 1} == (set() if name in RIGHT else {"booted"}), said


def test_a_file_of_the_kernels_own_needs_no_other_tree():
    """And one that it has not is built in a copy, of which no other lab's kernel knows."""
    one, other = (StandIn.of(labs.find(number).parts[-1]) for number in ("1", "4"))
    assert one.tree != other.tree and one.out != other.out and LAB.parts[-1].kind == "booted"
    assert one.text == (one.tree / one.replaces).read_bytes()
    assert not (one.tree / other.replaces).exists()
