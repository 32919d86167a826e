"""fork() where memory is full of what can go."""

from __future__ import annotations

from pathlib import Path

from lab.base.paths import TOP
from tests.musl import static_program


def test_a_fork_finds_room_for_its_page_tables(cw_run, tmp_path):
    program = static_program(tmp_path / "forks", Path(__file__).with_name("forks.c"), flags=[f"-I{TOP}"])
    result = cw_run(["/forks"], add=[f"{program}:/forks"], root="ext2", mem="96M")
    assert b"forked" in result.output
