"""An interval timer's periods follow each other without a gap (periods.c)."""

from __future__ import annotations

from pathlib import Path

from tests.musl import static_program

HERE = Path(__file__).resolve().parent


def test_an_interval_timer_does_not_stray(cw_run, tmp_path):
    """Only instructions tell the time here. Were each of the 2,000 periods counted from when its interrupt was
    served, the last would be late by half a millisecond; a reading of the clock is one or two microseconds."""
    program = tmp_path / "periods"
    static_program(program, HERE / "periods.c")
    result = cw_run(["/root/periods"], add=[f"{program}:/root/periods"], debug=False, icount=True)
    strayed = dict(line.split() for line in result.output.decode().splitlines())
    assert list(strayed) == ["sleep", "work"]
    assert all(abs(int(us)) < 50 for us in strayed.values()), strayed
