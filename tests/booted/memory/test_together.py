"""What threads on several CPUs must see of each other's doings at once: together.c, on Linux and on Chainwalk."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.base import offspring
from tests.musl import static_program

PARTS = 13


@pytest.fixture(scope="session")
def together(tmp_path_factory) -> Path:
    return static_program(tmp_path_factory.mktemp("together") / "together", Path(__file__).parent / "together.c")


def test_linux_agrees(together, tmp_path):
    done = offspring.run([together, tmp_path], timeout=300)
    assert done.returncode == 0 and done.stdout.count(b"ok ") == PARTS, done.stdout.decode()


@pytest.mark.turns(4)
@pytest.mark.parametrize(("root", "cpus"), [("ext2", 2), ("tmpfs", 4)])
def test_threads_on_several_cpus(cw_run, together, root, cpus):
    result = cw_run(["/root/together", "/root"], add=[f"{together}:/root/together"], root=root, smp=cpus, status=None)
    lines = [line for line in result.output.decode().replace("\r", "").splitlines() if "ok " in line]
    assert len(lines) == PARTS and all(line.startswith("ok ") for line in lines), lines
