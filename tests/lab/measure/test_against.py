"""./cw bench --against linux: what is counted, and the table from both kernels."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from lab.base.paths import TOP, LabError
from lab.measure import against, instructions
from lab.run import machine

needs_apt = pytest.mark.skipif(not shutil.which("apt-get"), reason="no apt on this machine")


def counted(command: str, tmp_path) -> instructions.Instructions:
    options = machine.Options(job=["sh", "-c", command], quiet=True, timeout=240)
    return instructions.count(options, tmp_path / "out")[1]


def test_instructions_of_programs_and_kernel_are_told_apart(tmp_path):
    nothing = counted("true", tmp_path)
    assert counted("true", tmp_path) == nothing  # to the instruction
    counting = counted("i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done", tmp_path)
    reading = counted("dd if=/dev/zero of=/dev/null bs=64k count=100", tmp_path)
    assert counting.user > nothing.user + 2000 * 100
    assert counting.kernel - nothing.kernel < (counting.user - nothing.user) / 10
    assert reading.kernel > nothing.kernel + 100 * 65536 / 8
    assert reading.user - nothing.user < (reading.kernel - nothing.kernel) / 4


def test_a_machine_that_fails_gives_no_figures(tmp_path):
    with pytest.raises(LabError, match="time-out"):
        instructions.count(machine.Options(job=["sh", "-c", "while :; do :; done"], timeout=5), tmp_path / "out")


@needs_apt
def test_the_table_is_measured_on_both():
    command = [TOP / "cw", "bench", "--against", "linux", "--json", "--row", "getppid", "--row", "exec dynamic"]
    result = subprocess.run([*command, "--row", "fork exit wait"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    rows = {row["row"]: row for row in json.loads(result.stdout)["calls"]}
    assert set(rows) == {"getppid", "exec dynamic", "fork exit wait"}
    assert all(0 < row["ratio"] == round(row["chainwalk"] / row["linux"], 3) for row in rows.values())
    assert 250 < rows["getppid"]["linux"] < 500  # as published for this kernel
    assert rows["fork exit wait"]["linux"] > 50000 and rows["exec dynamic"]["linux"] > 300000


@needs_apt
def test_a_job_has_the_same_user_instructions_on_both():
    found = against.job(machine.Options(timeout=240), "linux", "find /etc /bin | sort | wc -l")
    assert found["status"] == 0 and found["same_output"]
    assert 0.9 < found["user"]["ratio"] < 1.1
    assert found["kernel"]["linux"] > 100000
