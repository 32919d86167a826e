"""inotify by programs that live on it, its limits, and how its calls and splice's look in a trace."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lab.check.kernels import full_output
from tests.musl import static_program

HERE = Path(__file__).parent


def compile_program(name: str, folder: Path) -> Path:
    return static_program(folder / name, HERE / f"{name}.c")


# ---- programs --------------------------------------------------------------------------------------------------

WAIT = """
mkdir -p /root/w/sub; cd /root
events=create,modify,attrib,move,delete,delete_self,close_write
inotifywait -m -r -e $events --format '%e %w%f' -o /tmp/log w 2> /tmp/said &
until grep -q established /tmp/said; do sleep 0.1; done
echo text > w/f; cat w/f > /dev/null; mv w/f w/sub/g; chmod 600 w/sub/g; ln w/sub/g w/h
mkdir w/new; until ls -l /proc/$!/fd | grep -q inotify && sleep 0.5; do :; done
echo text > w/new/i; rm -r w/new w/sub; sleep 0.2
kill $!; cat /tmp/log
"""

TOLD = """
CREATE w/f|MODIFY w/f|CLOSE_WRITE,CLOSE w/f|MOVED_FROM w/f|MOVED_TO w/sub/g|ATTRIB w/sub/g|CREATE w/h|CREATE,ISDIR w/new
CREATE w/new/i|MODIFY w/new/i|CLOSE_WRITE,CLOSE w/new/i|DELETE w/new/i|DELETE_SELF w/new/|DELETE,ISDIR w/new
DELETE w/sub/g|DELETE_SELF w/sub/|DELETE,ISDIR w/sub
"""


def test_inotifywait(cw_run):
    """inotify-tools, whose -r adds watches for directories as they are made."""
    result = cw_run(script=WAIT, packages=["inotify-tools"])
    lines = result.output.decode().replace("\r", "").split("\n")
    assert [line for line in lines if line] == TOLD.strip().replace("|", "\n").splitlines()


def test_tail_follows_a_name(cw_run):
    """coreutils' tail -F: what is appended, and the file that comes in place of one that was renamed."""
    script = """
    cd /root; echo one > log; tail -F log > out 2> errors & sleep 0.5
    ls -l /proc/$!/fd | grep -o anon_inode:inotify
    echo two >> log; sleep 0.3; mv log log.1; echo three > log; sleep 0.5; echo four >> log; sleep 0.3; kill $!; cat out
    """
    result = cw_run(script=script, packages=["coreutils"])
    assert result.output.decode().split() == ["anon_inode:inotify", "one", "two", "three", "four"]


# ---- limits ----------------------------------------------------------------------------------------------------


def test_limits(cw_run, tmp_path):
    """8,192 watches of a user, in however many inotifies; what /proc says is what there is."""
    program = compile_program("limits", tmp_path)
    script = "mkdir /tmp/w; cd /tmp/w; /root/limits; cat /proc/sys/fs/inotify/max_*; ls /proc/sys/fs | grep notify"
    result = cw_run(script=script, add=[f"{program}:/root/limits"], full=True)
    said = result.output.decode().replace("\r", "").splitlines()
    assert said[:5] == ["first 8192 No space left on device", "second 0", "again 100", "his 1", "all of 8192"]
    assert said[5:8] == ["16384", "128", "8192"]
    assert said[8:] == ["inotify"]


# ---- traces ----------------------------------------------------------------------------------------------------


def calls_of(trace: str) -> list[str]:
    """The lines from inotify_init1 on, without process numbers."""
    lines = [re.sub(r"^\d+ +", "", line) for line in trace.splitlines()]
    lines = [re.sub(r" +=", " =", line) for line in lines]
    return lines[next(at for at, line in enumerate(lines) if line.startswith("inotify_init1")) :]


def test_a_trace_names_what_is_asked_for(cw, tmp_path):
    """As strace writes it."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not here")
    program = compile_program("named", tmp_path)
    command = ["strace", "-o", tmp_path / "linux", program]
    if subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode:
        pytest.skip("strace may not trace here")
    full = {**os.environ, "CW_OUTPUT": full_output()}
    cw("run", "--quiet", f"--strace={tmp_path / 'ours'}", "--add", f"{program}:/named", "--", "/named", env=full)
    ours = calls_of((tmp_path / "ours").read_text())
    assert ours == calls_of((tmp_path / "linux").read_text())
    assert 'inotify_add_watch(3, ".", IN_CREATE|IN_DELETE|IN_ONLYDIR) = 1' in ours
