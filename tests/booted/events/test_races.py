"""Watches and spliced pipes on several CPUs at once (races.c), by the debug kernel: no panic, nothing left."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.base import offspring
from lab.check.fuzz import calls as fuzz
from tests.musl import static_program

SOURCE = Path(__file__).parent / "races.c"


@pytest.fixture(scope="session")
def races(tmp_path_factory) -> Path:
    return static_program(tmp_path_factory.mktemp("races") / "races", SOURCE)


def test_linux_agrees(races, tmp_path):
    for more in ([], ["splice"]):
        (tmp_path / "work").mkdir(exist_ok=True)
        command = ["unshare", "-m", races, tmp_path / "work", "2000", *more]
        done = offspring.run(command, timeout=300)
        if b"(Operation not permitted)" in done.stdout + done.stderr:
            pytest.skip("root may not mount here")
        assert done.stdout == b"races: ok\n", done.stdout + done.stderr


@pytest.mark.turns(2)
@pytest.mark.parametrize(("root", "rounds"), [("tmpfs", 2000), ("ext2", 500)])
def test_watches_that_come_and_go(cw_run, races, root, rounds):
    """While what they watch is made, renamed, removed, unmounted, and while queues are closed under who reads them.

    What a rename has replaced is freed by ext2's second commit (fs/ext2/commit.c): hence one sync more.
    """
    again = f"mkdir -p /root/w; /root/races /root/w {{}} || exit 1; rm -rf /root/w; sync; {fuzz.SETTLED}; echo ROUND"
    script = "; ".join(again.format(count) for count in (rounds // 4, rounds, rounds))
    result = cw_run(script=script, add=[f"{races}:/root/races"], root=root, smp=4, timeout=300)
    _, before, after, _ = result.output.decode(errors="replace").replace("\r", "").split("ROUND\n")
    assert "races: ok" in before and "races: ok" in after
    assert not fuzz.leaks(before, after)


def test_bytes_that_go_through_pipes_together(cw_run, races):
    """Two feed a pipe, two splice it on, two take: none is lost, doubled or changed."""
    script = (
        f"mkdir /root/w; for n in 1 2; do /root/races /root/w 400 splice || exit 1; {fuzz.SETTLED}; echo ROUND; done"
    )
    result = cw_run(script=script, add=[f"{races}:/root/races"], smp=4, timeout=60)
    before, after, _ = result.output.decode(errors="replace").replace("\r", "").split("ROUND\n")
    assert "races: ok" in before and "races: ok" in after
    assert not fuzz.leaks(before, after)
