"""A number of a process group that a terminal keeps may be another session's by now (stale.c)."""

from __future__ import annotations

from pathlib import Path

from tests.musl import static_program


def test_another_session_gets_no_signals(cw_run, tmp_path):
    program = static_program(tmp_path / "stale", Path(__file__).with_name("stale.c"))
    result = cw_run(["/root/stale"], add=[f"{program}:/root/stale"], root="tmpfs", debug=False, timeout=200)
    assert result.output.decode().replace("\r", "").strip() == "size: nothing, end: nothing", result.output
