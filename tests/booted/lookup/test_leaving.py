"""What a user might reach is forgotten with the last process of the user, under a lock that interrupts take."""

from __future__ import annotations

from pathlib import Path

from tests.musl import static_program


def test_users_come_and_go(cw_run, tmp_path):
    program = static_program(tmp_path / "leaving", Path(__file__).with_name("leaving.c"))
    assert b"left" in cw_run(["/leaving"], smp=2, add=[f"{program}:/leaving"]).output
