"""A command that is late ends with all that it has started, and nobody waits for those (lab/base/offspring.py)."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab.base import offspring
from lab.base.paths import TOP

# A child in a session of its own, which will not be asked and holds the output open.
DEAF = "setsid sh -c 'trap : TERM; echo $$ > {note}; while :; do sleep 1; done' & echo begun; sleep 1000"


def is_there(number: str) -> bool:
    """Is process @number there, as more than a remainder that its parent has not waited for?"""
    try:
        return Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def has_ended(note: Path) -> bool:
    """Has the process whose number is in @note ended, or does it within ten seconds?"""
    number = note.read_text().strip()
    until = time.monotonic() + 10
    while is_there(number) and time.monotonic() < until:
        time.sleep(0.1)
    return not is_there(number)


def wait_for(note: Path) -> None:
    while not (note.exists() and note.read_text().strip()):
        time.sleep(0.05)


def test_what_is_late_ends_with_all_it_started(tmp_path):
    note = tmp_path / "pid"
    with pytest.raises(subprocess.TimeoutExpired) as late:
        offspring.run(["sh", "-c", DEAF.format(note=note)], timeout=2, text=True)
    assert late.value.stdout == "begun\n"
    assert has_ended(note)


def test_so_do_the_offspring_of_offspring(tmp_path):
    """Who is given up has run something in the same way, in an environment of its own."""
    note = tmp_path / "pid"
    inner = f"['sh', '-c', {DEAF.format(note=note)!r}], timeout=900, env={{'PATH': '/usr/bin:/bin'}}"
    inner = f"from lab.base import offspring\noffspring.run({inner})"
    with pytest.raises(subprocess.TimeoutExpired):
        offspring.run([sys.executable, "-c", inner], timeout=4, cwd=TOP)
    assert has_ended(note)


def test_who_is_interrupted_leaves_nothing(tmp_path, monkeypatch):
    note = tmp_path / "pid"

    def interrupted(process, *_):
        wait_for(note)
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        offspring.run(["sh", "-c", DEAF.format(note=note)], timeout=900)
    assert has_ended(note)


def test_what_ends_by_itself_says_how():
    done = offspring.run(["sh", "-c", "cat; echo said >&2; exit 3"], timeout=60, input="given", text=True)
    assert (done.returncode, done.stdout, done.stderr) == (3, "given", "said\n")


def test_nothing_outlives_what_ends_by_itself(tmp_path):
    note = tmp_path / "pid"
    quiet = DEAF.format(note=note).replace(
        "done' &", f"done' > /dev/null 2>&1 & while [ ! -s {note} ]; do :; done; exit 0;"
    )
    assert offspring.run(["sh", "-c", quiet], timeout=60).returncode == 0
    assert has_ended(note)


def test_what_others_have_started_is_left_alone(tmp_path):
    with subprocess.Popen(["sleep", "1000"]) as bystander:
        try:
            with pytest.raises(subprocess.TimeoutExpired):
                offspring.run(["sleep", "1000"], timeout=0.5)
            assert bystander.poll() is None
        finally:
            bystander.kill()
