"""The kernel runs with what was handed in: right ones do the job, one that is no function there is found by its disk."""

from __future__ import annotations

import pytest

from lab.base.paths import LabError
from lab.grade import sandbox
from lab.grade.booted import judge, kernel, machine
from lab.grade.booted.job import Given
from lab.grade.function import oracle
from tests.lab.grade.lab1.submissions import RIGHT, WRONG


@pytest.mark.builds("kernels of lab 1")
@pytest.mark.parametrize("name", ["tabulated", "only in the kernel"])
def test_the_kernel_with_it(graded, name):
    shares, said = graded({**RIGHT, "only in the kernel": WRONG["only in the kernel"][0]}[name], boots=True)
    assert {kind for kind, share in shares.items() if share < 1} == (set() if name in RIGHT else {"booted"}), said


def test_what_the_console_says_proves_nothing():
    """A machine whose job ended well, with a disk on which the files are not: no points."""
    with sandbox.folder() as folder:
        (folder / "run").mkdir()
        (folder / "run" / "disk").write_bytes(b"\0" * (1 << 20))
        found, hidden = (judge._look(folder, Given(dict.fromkeys("abcdef", b"x")), hidden) for hidden in (False, True))
    assert found.share == 0 and "e2fsck" in found.said[0] and "not what was written" in found.said[1]
    assert hidden.share == 0 and hidden.said[1] == "Files on its disk are not what was written.", (
        "it could choose which"
    )


@pytest.mark.builds("kernels of lab 1")
def test_where_no_kernel_can_be_built_nobody_is_marked_down(graded, monkeypatch):
    """Nor where nothing can be compiled: it is the grader that does not work, and says so."""
    monkeypatch.setattr(kernel, "SOURCES", tuple(name for name in kernel.SOURCES if name != "Kconfig"))
    monkeypatch.setattr(judge, "_check_kernel", judge._check_kernel.__wrapped__)
    with pytest.raises(LabError, match="with its own hash/buffer/mult.h"):
        graded(RIGHT["mixed"], boots=True)
    monkeypatch.setattr(oracle, "KERNEL_FLAGS", f"{oracle.KERNEL_FLAGS} -fno-such-flag")
    monkeypatch.setattr(oracle, "check_compiler", oracle.check_compiler.__wrapped__)
    with pytest.raises(LabError, match="kernel's own hash/buffer/linux-2.2.h"):
        graded(RIGHT["mixed"])


def test_a_control_port_that_is_a_link_is_not_followed(tmp_path):
    (tmp_path / "control").symlink_to("/etc/passwd")
    assert machine.plain_bytes(tmp_path / "control") == b""
