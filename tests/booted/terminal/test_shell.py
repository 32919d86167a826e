"""./cw shell by hand: the prompt, line editing, pipes, job control, leaving."""

from __future__ import annotations

import os
import re
import shlex
import signal
import time
from pathlib import Path

import pexpect
import pytest

from lab.base.paths import TOP
from lab.check.kernels import debug_output

PROMPT = r"root@chainwalk:[^#]*# "


@pytest.fixture
def shell():
    """A shell at its first prompt; ended hard if a test leaves it running."""
    environment = {**os.environ, "CW_OUTPUT": debug_output()}
    child = pexpect.spawn(
        str(TOP / "cw"), ["shell", "--mem", "256M"],
        env=environment, timeout=60, encoding="utf-8", codec_errors="replace", dimensions=(24, 200),
    )  # fmt: skip
    child.expect(PROMPT, timeout=180)
    yield child
    child.close(force=True)


def run(shell, line: str) -> str:
    """Type a line; what came before the next prompt."""
    shell.sendline(line)
    shell.expect_exact(line)
    shell.expect(PROMPT)
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", shell.before).replace("\r", "").strip()


@pytest.mark.check
def test_prompt_pipes_redirection_globbing(shell):
    assert run(shell, "echo hello world | tr a-z A-Z") == "HELLO WORLD"
    assert run(shell, "cd /tmp; seq 1 5 > f; sort -rn < f | head -n 1") == "5"
    assert run(shell, "echo /etc/pass*") == "/etc/passwd"
    assert run(shell, "nothing-of-this-name; echo $?").splitlines()[-1] == "127"
    assert run(shell, "ls /bin | wc -l").isdigit()
    assert run(shell, "tty") in ("/dev/console", "/dev/ttyS0", "/dev/tty")


def test_interrupt_ends_the_foreground_job_alone(shell):
    shell.sendline("sleep 1000")
    shell.expect_exact("sleep 1000")
    pexpect.run("sleep 0.5")
    shell.sendcontrol("c")
    shell.expect(PROMPT)
    assert run(shell, "echo $?") == "130"


def test_job_control(shell):
    shell.sendline("sleep 500")
    shell.expect_exact("sleep 500")
    pexpect.run("sleep 0.5")
    shell.sendcontrol("z")
    shell.expect("Stopped")
    shell.expect(PROMPT)
    assert "Stopped" in run(shell, "jobs")
    run(shell, "bg")
    assert "Running" in run(shell, "jobs")
    shell.sendline("fg")
    shell.expect("sleep 500")
    pexpect.run("sleep 0.5")
    shell.sendcontrol("c")
    shell.expect(PROMPT)
    assert run(shell, "jobs") == ""
    run(shell, "sleep 300 &")
    assert "143" in run(shell, "kill %1; wait %1; echo $?").splitlines()


def test_job_control_of_debians_bash_and_dash():
    """Stop, list, continue in the background and the foreground, interrupt; background reads; bash's own line editing."""
    environment = {**os.environ, "CW_OUTPUT": debug_output()}
    child = pexpect.spawn(
        str(TOP / "cw"), ["shell", "--mem", "256M", "--package", "bash", "--package", "dash"],
        env=environment, timeout=60, encoding="utf-8", codec_errors="replace", dimensions=(24, 200),
    )  # fmt: skip

    def type_line(line: str, wait: float = 0) -> str:
        child.sendline(line)
        child.expect_exact(f"{line}\r\n")
        if wait:
            pexpect.run(f"sleep {wait}")
            return ""
        child.expect_exact("@> ")
        return child.before.replace("\r", "")

    try:
        child.expect(r"chainwalk[^\r]*[#$] ", timeout=240)
        for shell in ("bash --norc --noediting -i", "dash -i"):
            child.sendline(f"PS1=@'> ' {shell}")
            child.expect_exact("@> ")
            type_line("sleep 1000", wait=0.7)
            child.sendcontrol("z")
            child.expect_exact("@> ")
            assert "Stopped" in type_line("jobs")
            assert "sleep 1000" in type_line("bg")
            assert "Running" in type_line("jobs")
            type_line("fg", wait=0.7)
            child.sendcontrol("c")
            child.expect_exact("@> ")
            assert type_line("jobs") == ""
            assert "(tty input)" in type_line("cat & sleep 0.7; jobs -l")
            assert "Killed" in type_line("kill -9 %1; sleep 0.5; jobs")
            assert "(tty output)" in type_line("stty tostop; echo no & sleep 0.7; jobs -l; stty -tostop; kill -9 %1")
            assert "got 3" in type_line("echo a b c | (read x y z; echo got $(echo $x $y $z | wc -w))")
            child.sendline("exit")
            child.expect(r"chainwalk[^\r]*[#$] ")
        child.sendline("PS1=@'> ' bash --norc -i")
        child.expect_exact("@> ")
        child.send("echo abd\x1b[Dc\r")  # left, and insert
        child.expect_exact("\r\nabcd\r\n")
    finally:
        child.close(force=True)


def test_canonical_line_editing(shell):
    """The terminal's own editing, which cat uses: erase, kill, end of file."""
    shell.sendline("cat")
    shell.expect_exact("cat\r\n")
    pexpect.run("sleep 0.5")
    # Each line comes twice: as it was typed, and as cat got it, which is a line of its own.
    for keys, line in (("abX\x7fc", "abc"), ("rubbish\x15clean", "clean"), ("one two\x17three", "one three")):
        shell.send(f"{keys}\n")
        shell.expect(r"\r\n([^\r]*)\r\n")
        assert shell.match[1] == line
    shell.sendcontrol("d")
    shell.expect(PROMPT)


def test_the_shells_own_line_editing(shell):
    shell.send("echo abd\x7fc\x1b[D\x1b[DX\n")
    shell.expect("aXbc\r\n")
    shell.expect(PROMPT)
    shell.send("\x1b[A")
    shell.expect_exact("echo aXbc")
    shell.sendcontrol("c")
    shell.expect(PROMPT)


def test_control_t_prints_the_four_histograms(shell):
    shell.sendline("cat")
    shell.expect_exact("cat")
    pexpect.run("sleep 0.5")
    shell.sendcontrol("t")
    for cache in ("Page", "Buffer", "Inode", "Dentry"):
        shell.expect(f"{cache} cache total lookups: \\d+")
    shell.sendcontrol("c")
    shell.expect(PROMPT)


def test_leaving_gives_the_shells_status(shell):
    shell.sendline("exit 9")
    shell.expect(pexpect.EOF)
    shell.close()
    assert shell.exitstatus == 9


def machines(mark: str) -> list[str]:
    """The QEMU processes whose kernel command line holds @mark."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"qemu-system" in words[0] and any(mark.encode() in word for word in words):
            found.append(path.parent.name)
    return found


@pytest.mark.parametrize("how", ["key", "SIGTERM", "SIGKILL"])
@pytest.mark.parametrize("command", ["run", "shell"])
def test_an_interrupted_run_leaves_nothing_behind(command, how):
    """Ctrl-C at `cw run` (Ctrl-A X at the shell), or a signal: the terminal as it was, no machine left."""
    mark = f"mark={command}-{how}-{os.getpid()}"
    job = ["--", "/bin/sh", "-c", "echo up; sleep 1000"] if command == "run" else []
    child = pexpect.spawn("/bin/sh", timeout=60, encoding="utf-8", env={**os.environ, "PS1": "HOST> "})
    child.sendline("stty -a | md5sum; echo before")
    child.expect(r"([0-9a-f]{32})  -\r\nbefore")
    before = child.match[1]
    child.sendline(f"{TOP}/cw {command} --cmdline {mark} {' '.join(shlex.quote(word) for word in job)}; echo status $?")
    child.expect(r"\r\nup\r\n" if command == "run" else PROMPT, timeout=120)
    assert len(machines(mark)) == 1
    if how == "key" and command == "run":
        child.sendcontrol("c")
    elif how == "key":
        child.send("\x01x")
    else:
        # Not the whole group: only the process that the user's kill would name.
        found = re.findall(r"\d+", pexpect.run(f"pgrep -f 'lab {command} --cmdline {mark}'").decode())
        os.kill(int(found[0]), getattr(signal, how))
    child.expect(r"status (\d+)\r?\n")
    status = {"key": ("130", "121")[command == "shell"], "SIGTERM": "130", "SIGKILL": "137"}[how]
    assert child.match[1] == status
    for _ in range(50):
        if not machines(mark):
            break
        time.sleep(0.1)
    assert not machines(mark)
    if how != "SIGKILL":
        child.sendline("stty -a | md5sum; echo after")
        child.expect(r"([0-9a-f]{32})  -\r\nafter")
        assert child.match[1] == before
    child.close(force=True)
