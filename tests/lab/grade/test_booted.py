"""The kernel runs with what was handed in: right ones do the job, one that is no function there is found by its disk."""

from __future__ import annotations

import pytest

from lab.grade import sandbox
from lab.grade.parts import booted
from tests.lab.grade.submissions import RIGHT, WRONG


@pytest.mark.parametrize("name", ["tabulated", "only in the kernel"])
def test_the_kernel_with_it(graded, name):
    shares, said = graded({**RIGHT, "only in the kernel": WRONG["only in the kernel"][0]}[name], boots=True)
    assert {kind for kind, share in shares.items() if share < 1} == (set() if name in RIGHT else {"booted"}), said


def test_what_the_console_says_proves_nothing():
    """A machine whose job ended well, with a disk on which the files are not: no points."""
    with sandbox.folder() as folder:
        (folder / "run").mkdir()
        (folder / "run" / "disk").write_bytes(b"\0" * (1 << 20))
        found = booted._look(folder, booted.Given(dict.fromkeys("abcdef", b"x")))
    assert found.share == 0 and "e2fsck" in found.said[0] and "not what was written" in found.said[1]


def test_a_control_port_that_is_a_link_is_not_followed(tmp_path):
    (tmp_path / "control").symlink_to("/etc/passwd")
    assert booted._plain_bytes(tmp_path / "control") == b""
