"""Rights that a program must not get by being quick (rights.c); what is fitted in between is in the hosted tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.musl import static_program

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def rights(tmp_path_factory) -> Path:
    return static_program(tmp_path_factory.mktemp("rights") / "rights", HERE / "rights.c")


def test_maps_of_a_set_id_program(cw_run, rights):
    """Its memory and its owner change at once: whoever started it never sees the new program's maps."""
    script = "cp /rights /privileged && chmod 4755 /privileged && /rights maps /privileged"
    result = cw_run(script=script, add=[f"{rights}:/rights"], root="tmpfs", smp=4, debug=False)
    assert b"maps: ok" in result.output


def test_what_a_set_id_program_reads_of_itself_stays_its_own(cw_run, rights):
    """It is given a file of /proc about itself that was opened before: whoever shares that file learns nothing by it."""
    script = "cp /rights /privileged && chmod 4755 /privileged && /rights kept /privileged"
    result = cw_run(script=script, add=[f"{rights}:/rights"], root="tmpfs", smp=2)
    assert b"kept: ok" in result.output


def test_who_reads_for_another_does_not_become_him(cw_run, tmp_path):
    """A file of /proc is read with the rights of who opened it; the reader stays who he is to all others."""
    program = static_program(tmp_path / "deputy", HERE / "deputy.c")
    result = cw_run(["/deputy"], add=[f"{program}:/deputy"], root="tmpfs", smp=2, full=True)
    assert result.output.decode().split() == ["let:", "0", "handed", "over:", "1"]
