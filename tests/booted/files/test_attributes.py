"""What extended attributes cost by their number (attributes.c)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "attributes"
    subprocess.run(["musl-gcc", "-std=gnu11", "-O1", "-static", "-o", path, HERE / "attributes.c"], check=True)
    return path


def test_a_call_passes_over_the_attributes_once(cw_run, program):
    """Instructions of a call among few and among eight times as many, which fill most of a block. stress-ng's
    stressor of them does 200 rounds in a few seconds; it stood still when each was searched from the front."""
    script = "cd /root; ./attributes 20; ./attributes 160"
    result = cw_run(script=script, add=[f"{program}:/root/attributes"], full=True, icount=True, timeout=300)
    rows = [line.split() for line in result.output.decode().splitlines()]
    few, many = dict(rows[:5]), dict(rows[5:])
    assert list(few) == list(many) == ["create", "replace", "get", "list", "remove"]
    for call in few:
        assert int(many[call]) <= 10 * int(few[call]), (call, few, many)
