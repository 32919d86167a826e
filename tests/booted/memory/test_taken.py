"""What a user can take of the kernel's memory and time has a limit, at which others go on (taken.c)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.musl import static_program

SEEN = {
    "pipes": [
        "free: a fourth or more",
        "holders: all live",
        "a new pipe takes 4096",
        *["a short write: -1, then 4096"] * 3,
        "of 2000 and 4096 bytes: 2000, -1",
        "O_DIRECT: Invalid argument",
        "then it takes 65536",
    ],
    "links": ["refused: No space left on device", "one goes, one comes: 0", "free: a fourth or more"],
    "events": ["free: a fourth or more", "told of lost ones: 1"],
    "room": ["the file's end: x"],
    "alarms": ["blocked: far", "ignored: far"],
}


@pytest.mark.parametrize("which", SEEN)
def test_memory_that_a_user_takes_has_a_limit(cw_run, tmp_path, which):
    program = static_program(tmp_path / "taken", Path(__file__).parent / "taken.c")
    result = cw_run(["/root/taken", which], add=[f"{program}:/root/taken"], mem="64M", timeout=60)
    assert result.output.decode().replace("\r", "").splitlines() == SEEN[which]


def test_root_is_left_something(cw_run, tmp_path):
    program = static_program(tmp_path / "shares", Path(__file__).with_name("shares.c"))
    result = cw_run(["/root/shares"], add=[f"{program}:/root/shares"], mem="64M", full=True)
    assert result.output.decode().replace("\r", "").splitlines() == [
        "memory of segments: half at most",
        "a user's segments: 96",
        "root's: one more",
        "a user's watches: No space left on device",
        "root's: one more",
    ]
