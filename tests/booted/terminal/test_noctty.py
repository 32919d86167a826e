"""Who opens a terminal that nobody controls, with O_NOCTTY and without (noctty.c)."""

from __future__ import annotations

from pathlib import Path

from tests.musl import static_program


def test_a_terminal_is_taken_unless_no_is_said(cw_run, tmp_path):
    program = static_program(tmp_path / "noctty", Path(__file__).with_name("noctty.c"))
    result = cw_run(["/root/noctty"], add=[f"{program}:/root/noctty"], root="tmpfs")
    lines = result.output.decode().replace("\r", "").splitlines()
    assert lines == [
        "TIOCSCTTY: it controls us",
        "open: it controls us",
        "O_NOCTTY: it does not",
        "O_WRONLY: it does not",
    ]
