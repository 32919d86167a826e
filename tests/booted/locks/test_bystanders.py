"""Who leaves at once instead of waiting takes nothing from those who wait, and lets nobody in (bystanders.c)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.musl import static_program

SEEN = {"futex": "woken 0, wake-ups taken 0", "fifo": "let in without a writer 0"}


@pytest.mark.parametrize("which", SEEN)
def test_who_does_not_wait_is_not_there(cw_run, tmp_path, which):
    program = static_program(tmp_path / "bystanders", Path(__file__).parent / "bystanders.c")
    result = cw_run(["/root/bystanders", which], add=[f"{program}:/root/bystanders"], smp=2)
    assert result.output.decode().replace("\r", "").splitlines() == [SEEN[which]]
