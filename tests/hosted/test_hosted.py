"""The hosted programs as tests: each TEST(name) of tests/hosted/test_*.c is one, in a process of its own.

Programs are built once, under a lock, into build/<name>-hosted. HOSTED_SCALE=10 makes the random ones ten times
as long, HOSTED_SEED=n begins elsewhere.
"""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lab.paths import TOP, output_folder

HERE = Path(__file__).resolve().parent
TESTS = [
    (source.stem, name)
    for source in sorted(HERE.glob("test_*.c"))
    for name in re.findall(r"^TEST\((\w+)\)", source.read_text(), re.MULTILINE)
]
OUTPUT = output_folder().parent / f"{output_folder().name}-hosted"


@pytest.fixture(scope="session")
def programs() -> Path:
    """The folder with all test programs, built."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    command = ["make", "-f", "tests/hosted/hosted.mk", f"-j{os.cpu_count() or 1}"]
    command += [f"HOSTED_O={OUTPUT}", f"PYTHON={sys.executable}"]
    with (OUTPUT / ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        built = subprocess.run(command, cwd=TOP, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, f"the hosted programs do not build:\n{built.stdout[-3000:]}\n{built.stderr[-3000:]}"
    return OUTPUT


@pytest.mark.parametrize(("program", "name"), TESTS, ids=[name for _, name in TESTS])
def test_hosted(programs, program, name):
    result = subprocess.run(
        [str(programs / program), name], capture_output=True, timeout=1800, stdin=subprocess.DEVNULL, check=False
    )
    said = (result.stdout + result.stderr).decode(errors="replace")
    assert result.returncode == 0 and re.search(rf"^ok {name}$", said, re.MULTILINE), said[-6000:]
    print(said)


def test_every_test_is_listed(programs):
    """What the programs know and what was found in their sources are the same."""
    for program in {program for program, _ in TESTS}:
        listed = subprocess.run([str(programs / program), "--list"], capture_output=True, text=True, check=True)
        assert listed.stdout.split() == [name for owner, name in TESTS if owner == program]
