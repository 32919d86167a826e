"""What an ordinary user may do is what Linux lets him; what he tries with wild arguments harms nobody else."""

from __future__ import annotations

import os

import pytest

from lab.check.fuzz import both, calls, permissions
from lab.check.kernels import debug_output

PATIENCE = float(os.environ.get("CW_PATIENCE", "1"))


@pytest.fixture
def debug_kernel(monkeypatch):
    permissions.matrix(), calls.call_fuzzer()
    monkeypatch.setenv("CW_OUTPUT", debug_output())


@pytest.mark.turns(2)
@pytest.mark.parametrize("root", both.ROOTS)
def test_permissions_cell_by_cell(debug_kernel, root):
    if why := both.cannot_judge():
        pytest.skip(why)
    count, wrong = permissions.compare_permissions(root)
    assert not wrong, f"{len(wrong)} of {count} cells differ:\n" + "\n".join(wrong[:40])
    assert count > 25000


def test_a_planted_cell_is_seen():
    linux = "file columns: open chmod\nfile 0644 0:0 other: EACCES EPERM\n"
    assert not permissions.compare_cells(linux, linux)
    wrong = permissions.compare_cells(linux, linux.replace("EACCES", "ok"))
    assert wrong == ["file 0644 0:0 other, open: Linux EACCES, Chainwalk ok"]
    assert permissions.compare_cells(linux, "")


@pytest.mark.turns(4)
@pytest.mark.parametrize(("root", "cpus"), [("tmpfs", 4), ("ext2", 1)])
def test_calls_at_random(debug_kernel, root, cpus):
    """Nearly three billion instructions each, as docs/testing.md says how to count."""
    wrong = calls.fuzz_calls(40000, 1, root, cpus, icount=False, timeout=200 * PATIENCE)
    assert not wrong, wrong


def test_leaks_are_seen():
    before = "# name\nfile 6 36 112\ninode 300 322 344\n"
    assert not calls.leaks(before, before.replace("300", "299"))
    assert calls.leaks(before, before.replace("file 6", "file 7")) == ["file: 6 before, 7 after"]
