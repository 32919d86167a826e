"""Who is ended when memory is out, as /proc/PID/oom_score_adj has it (victims.c)."""

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
