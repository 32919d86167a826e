"""What runs in the sandbox sees little, reaches nothing, and ends."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import replace
from pathlib import Path

import pytest

from lab.base.paths import TOP, LabError
from lab.course import keys, labs
from lab.grade import sandbox
from lab.grade.one import grade
from lab.grade.sandbox import Limits

LIMITS = Limits(seconds=10, cpu=1, memory=256 << 20, processes=1, file=1 << 20, output=1000, scratch=1 << 20, files=16)
PYTHON = "/usr/bin/python3"


def shell(script: str, limits: Limits = LIMITS, **options) -> sandbox.Outcome:
    return sandbox.run(["/bin/sh", "-c", script], limits, **options)


def python(script: str, limits: Limits = LIMITS) -> sandbox.Outcome:
    return sandbox.run([PYTHON, "-c", script], limits)


def test_it_is_another_user_without_rights():
    status = shell("exec cat /proc/self/status").output.decode()
    assert f"Uid:\t{sandbox.GUEST}" in status and "CapEff:\t0000000000000000" in status and "NoNewPrivs:\t1" in status
    assert os.geteuid() or sandbox.OUTSIDE_USER != 0


def test_of_this_machine_it_sees_hardly_anything(monkeypatch):
    monkeypatch.setenv("A_SECRET", "seen")
    names = shell("exec ls /").output.decode().split()
    assert set(names) <= {"bin", "sbin", "lib", "lib64", "dev", "proc", "tmp", "usr"}
    assert "seen" not in shell("exec env").output.decode()
    assert [name for name in shell("exec ls /proc").output.decode().split() if name.isdecimal()] == ["1", "2"]
    assert shell("exec ls /tmp").output == b""
    assert shell("exec ls /proc/self/fd").output.split() == [b"0", b"1", b"2", b"3"]  # the last is ls's own
    for path in (Path(__file__), Path("/etc/passwd"), Path("/root")):
        assert shell(f"exec ls -d '{path}'").status != 0


def test_it_can_write_nowhere_but_where_it_is_let(tmp_path):
    for place in ("/usr/x", "/x", "/dev/x", "/proc/x", "/bin/x"):
        assert not shell(f": > {place}").good, place
    assert shell(": > /tmp/x").good
    with sandbox.folder() as folder:
        shown, kept = folder / "shown", folder / "kept"
        shown.mkdir()
        kept.mkdir()
        script = ": > /kept/x; : > /shown/x"
        assert not shell(script, shown={sandbox.give(shown): "/shown"}, kept={sandbox.give(kept): "/kept"}).good
        assert (kept / "x").exists() and not (shown / "x").exists()
    assert not folder.exists()


def test_it_reaches_no_network():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        connect = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 2)"
        assert python(connect).status == 1


@pytest.mark.parametrize(
    ("script", "kind", "status"),
    [
        ("exec sleep 100", "timeout", 0),
        ("exec >&- 2>&-; exec sleep 100", "timeout", 0),
        ("while :; do :; done", "signal", 9),
        ("exec cat /dev/zero", "output", 0),
        ("kill -11 $$", "signal", 11),
        ("exit 3", "exit", 3),
        ("exit 225", "exit", 225),
        ("exit 255", "exit", 255),
        ("exec head -c 2000000 /dev/zero > /tmp/x", "signal", 25),
        ("sleep 1 & wait", "exit", 2),
        ("for i in 1 2 3 4; do head -c 500000 /dev/zero > /tmp/$i || exit 5; done", "exit", 2),
    ],
)
def test_how_it_ended_is_told(script, kind, status):
    outcome = shell(script, replace(LIMITS, seconds=2 if kind == "timeout" else 60))
    assert (outcome.kind, outcome.status) == (kind, status), outcome
    assert outcome.kind == "exit" or outcome.why(LIMITS, hidden=False)


def test_of_hidden_questions_no_status_is_told_that_may_be_chosen():
    """What it was asked can be in any of them."""
    exits = [sandbox.Outcome("exit", status, b"", "its own words") for status in range(1, 256)]
    killed = [sandbox.Outcome("signal", number, b"", "its own words") for number in sandbox.FATAL]
    others = [sandbox.Outcome(kind, 0, b"", "") for kind in ("timeout", "output", "memory")]
    assert len({one.why(LIMITS, hidden=False) for one in (*exits, *killed)}) == len(exits) + len(killed)
    said = {one.why(LIMITS, hidden=True) for one in (*exits, *killed, *others)}
    assert len(said) == 3 and not any(c.isdecimal() for one in said for c in one), said


def test_a_status_beyond_those_of_signals_is_no_signal():
    assert shell("exit 225").why(LIMITS, hidden=False) == "it ended with status 225"
    assert "signal 11" in shell("kill -11 $$").why(LIMITS, hidden=False)


def test_memory_files_and_processes_are_counted():
    assert b"MemoryError" in python("bytearray(1 << 29)").said.encode()
    assert "Too many open files" in python("[open('/dev/null') for _ in range(99)]").said
    forks = "import os\nn = 0\ntry:\n while os.fork(): n += 1\n os._exit(0)\nexcept OSError: print(n)"
    few = python(forks, replace(LIMITS, processes=5))
    assert few.output == b"" or int(few.output) <= 5, few
    assert "Resource temporarily unavailable" in python("import os; os.fork()").said


SEVERAL = replace(LIMITS, processes=8, cpu=5, together=100 << 20)


@pytest.mark.parametrize("closed", ["", "os.close(1); os.close(2); "])
def test_the_memory_of_all_processes_is_counted_together(closed):
    """Each has a fifth of what one alone may have."""
    outcome = python(f"import os, time; {closed}os.fork(); os.fork(); x = bytearray(50 << 20); time.sleep(8)", SEVERAL)
    assert outcome.kind == "memory" and outcome.slow
    assert outcome.why(SEVERAL, hidden=False) == "it used more than 100 MB of memory, all its processes together"
    assert python("import os; os.fork(); x = bytearray(20 << 20)", SEVERAL).good


def test_no_memory_is_taken_that_belongs_to_no_process():
    """Segments of System V stay when nobody has them mapped; pages of a shared mapping, as long as one of them is."""
    shared = "import mmap; mmap.mmap(-1, 1 << 20)"
    segment = "import ctypes; print(ctypes.CDLL(None).{}(0, 1, 0o1600))"
    assert "Operation not permitted" in python(shared).said and python(shared, replace(LIMITS, shares=True)).good
    for call in ("shmget", "semget"):
        assert python(segment.format(call)).output == b"-1\n"


def test_nothing_outlives_it():
    """Whatever it starts, in whatever session: it dies with the sandbox."""
    mark = f"97{os.getpid()}.5"
    outcome = shell(
        f"setsid sleep {mark} < /dev/null > /dev/null 2>&1 & exit 0", replace(LIMITS, processes=8, seconds=3)
    )
    assert outcome.kind == "exit"
    deadline = time.monotonic() + 10
    while any(mark.encode() in line for line in _commands()):
        assert time.monotonic() < deadline, "it still runs"
        time.sleep(0.05)


def _commands() -> list[bytes]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes())
        except OSError:
            continue
    return found


def test_standard_input_is_handed_in_and_errors_are_printable():
    assert shell("exec cat", given=b"x" * 999).output == b"x" * 999
    assert shell("exec true", given=b"x" * 9_999_999).good  # and who does not read it is not waited for
    assert shell(r"printf 'a\033[2Jb\n' >&2").said == "a?[2Jb\n"


@pytest.mark.parametrize(
    ("instead", "said"),
    [
        (["/bin/sh", "-c", "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1"], "Permission denied"),
        (["/nowhere/bwrap"], "is missing"),
    ],
)
def test_without_a_sandbox_nothing_is_graded(monkeypatch, instead, said):
    """And who runs it is told what to do."""
    monkeypatch.setattr(sandbox, "_bubblewrap", lambda *_: instead)
    monkeypatch.setattr(sandbox, "check", sandbox.check.__wrapped__)
    with pytest.raises(LabError) as error:
        grade(labs.find("1"), TOP / "coursework/lab1/solution/mine.h", keys.practice(1), boots=False)
    assert said in str(error.value) and "apt-get install bubblewrap" in str(error.value)


def test_a_closed_folder_is_an_error_that_says_what_to_do(monkeypatch, tmp_path):
    if os.geteuid():
        pytest.skip("only for a grader that runs as root")
    tmp_path.chmod(0o700)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(LabError, match="set TMPDIR"), sandbox.folder():
        pass
