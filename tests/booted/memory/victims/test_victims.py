"""Who is ended when memory is out, by memory and page tables, and as /proc/PID/oom_score_adj has it (victims.c, tables.c)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.musl import static_program


@pytest.mark.parametrize("cpus", [1, 2])
def test_the_small_one_first_and_the_large_one_never(cw_run, tmp_path, cpus):
    program = tmp_path / "victims"
    static_program(program, Path(__file__).parent / "victims.c")
    result = cw_run(["/root/victims"], add=[f"{program}:/root/victims"], mem="64M", smp=cpus)
    lines = result.output.decode().replace("\r", "").splitlines()
    assert lines == ["small: signal 9", "large: lives", "we: took enough"]


def test_who_fills_memory_with_page_tables_is_ended(cw_run, tmp_path):
    program = static_program(tmp_path / "tables", Path(__file__).parent / "tables.c")
    result = cw_run(["/root/tables"], add=[f"{program}:/root/tables"], mem="64M")
    lines = result.output.decode().replace("\r", "").splitlines()
    assert lines == ["who took tables: signal 9", "who kept memory: lives"]
