"""The kernel runs with what was handed in, on four processors; one that goes wrong only there is found by its disk, or by how it ends."""

from __future__ import annotations

import pytest

from tests.lab.grade.lab5.submissions import SOLUTION, changed

ONLY = {"structure", "booted"}
# The kernel has more buckets than the machine with tasks: there it panics at an eighth of them. (One in 64 were once none of those that
# the job came to: which these are hangs on the addresses of directories.)
PANICS = changed(
    SOLUTION, ("\tsmp_store_release(head, link);\n", '\tif (table->cache->bits > 6 && (bucket & 7) == 5)\n\t\tpanic("full");\n\tsmp_store_release(head, link);\n')
)  # fmt: skip


@pytest.mark.builds("kernels of lab 5")
@pytest.mark.parametrize("name", ["right", "panics there"])
def test_the_kernel_with_it(graded, name):
    shares, said = graded({"right": SOLUTION, "panics there": PANICS}[name], boots=True, only=ONLY)
    assert shares["booted"] == (name == "right") and shares["structure"] == 1, said
