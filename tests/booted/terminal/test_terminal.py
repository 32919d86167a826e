"""The console's terminal: its system calls compared with a terminal of Linux, its keys typed by hand."""

from __future__ import annotations

import base64
import os
import re
import signal
import termios
import time

import pexpect
import pytest

from lab.base.paths import TOP
from lab.check.kernels import debug_output
from tests.musl import static_program

PROMPT = r"root@chainwalk:[^#]*# "
SETTLE = 0.7  # for what was started to be reading


@pytest.fixture(scope="module")
def terminal_program(tmp_path_factory):
    """terminal.c, which prints what the terminal's system calls answer."""
    program = tmp_path_factory.mktemp("terminal") / "terminal"
    source = TOP / "tests/booted/terminal/terminal.c"
    return static_program(program, source, flags=["-O2"])


def test_system_calls_answer_as_on_linux(cw_run, terminal_program):
    linux = pexpect.spawn(str(terminal_program), timeout=30)
    linux.expect(pexpect.EOF)
    expected = linux.before.decode().replace("\r", "").splitlines()
    assert expected[-1] == "end"
    result = cw_run(["/terminal"], add=[f"{terminal_program}:/terminal"])
    assert result.output.decode().replace("\r", "").splitlines() == expected


def pass_newlines_on() -> None:
    """The host's terminal, too, would make \\r\\n of each \\n."""
    settings = termios.tcgetattr(0)
    settings[1] &= ~termios.ONLCR
    termios.tcsetattr(0, termios.TCSANOW, settings)


@pytest.fixture
def shell():
    """A shell at its first prompt; ended hard if a test leaves it running."""
    environment = {**os.environ, "CW_OUTPUT": debug_output()}
    child = pexpect.spawn(
        str(TOP / "cw"), ["shell", "--mem", "256M", "--set", "DEBUG=y"],
        env=environment, timeout=20, dimensions=(24, 200), preexec_fn=pass_newlines_on,
    )  # fmt: skip
    child.expect(PROMPT, timeout=180)
    yield child
    if child.isalive():
        child.kill(signal.SIGKILL)
        child.ptyproc.wait()  # close() gives it a tenth of a second, which a busy host may need for other work
    child.close()


def begin(shell, line: str, wait: float = SETTLE) -> None:
    """Type a line whose program takes the terminal."""
    shell.sendline(line)
    shell.expect_exact(line + "\r\n")
    pexpect.run(f"sleep {wait}")


def finish(shell) -> bytes:
    """What came until the prompt."""
    shell.expect(PROMPT)
    return shell.before


def run(shell, line: str) -> str:
    begin(shell, line, 0)
    return re.sub(rb"\x1b\[[0-9;]*[A-Za-z]", b"", finish(shell)).decode().replace("\r", "").strip()


def typed(shell, keys: bytes, settings: str = "") -> tuple[bytes, bytes]:
    """Type @keys at a program that reads lines to an end of file: the echo, and the bytes it got."""
    begin(
        shell,
        f"{settings and f'stty {settings}; '}cat > /tmp/typed; stty sane iutf8 echoctl echoke; echo; base64 -w 0 /tmp/typed; echo",
    )
    shell.send(keys + b"\x04")
    echo, _, coded = finish(shell).rstrip(b"\r\n").rpartition(b"\r\n")
    return echo, base64.b64decode(coded)


def test_keys_that_edit_a_line(shell):
    for keys, got in (
        (b"abX\x7fc\n", b"abc\n"),  # erase
        ("aé€😀".encode() + b"\x7f\x7fz\n", "aéz\n".encode()),  # whole characters of UTF-8
        (b"\x7f\x7fa\n", b"a\n"),  # nothing left to erase
        (b"rubbish\x15clean\n", b"clean\n"),  # kill
        (b"one two  \x17three\n", b"one three\n"),  # a word
        (b"one two.three\x17four\n", b"one two.four\n"),
        (b"a\x16\x03b\x16\x7fc\n", b"a\x03b\x7fc\n"),  # literal
        (b"ab\x12c\n", b"abc\n"),  # reprint
        (b"ab\rcd\r", b"ab\ncd\n"),
        (b"no newline\x04", b"no newline"),
        (b"", b""),
    ):
        assert typed(shell, keys)[1] == got, keys
    assert typed(shell, b"a\rb\nc\x7f\n", "-icrnl")[1] == b"a\rb\n\n"
    assert typed(shell, b"aZb\x7f\n", "erase Z")[1] == b"b\x7f\n"


def test_what_is_echoed(shell):
    for keys, echo in (
        (b"abX\x7fc\n", b"abX\b \bc\r\n"),
        ("é\x7f\n".encode(), "é\b \b\r\n".encode()),
        (b"\x02\x7fz\n", b"^B\b \b\b \bz\r\n"),
        (b"a\tb\x7f\x7f\n", b"a\tb\b \b\r\na\r\n"),
        (b"ab\x15\n", b"ab\b \b\b \b\r\n"),
        (b"ab\x12c\n", b"ab^R\r\nabc\r\n"),
        (b"\x16\x03\n", b"^\b^C\r\n"),
    ):
        assert typed(shell, keys)[0] == echo, keys
    assert typed(shell, b"secret\n", "-echo")[0] == b""


def test_signals_of_keys(shell):
    for key, status in (("c", "130"), ("\\", "131")):
        begin(shell, "sleep 1000")
        shell.sendcontrol(key)
        finish(shell)
        assert run(shell, "echo $?") == status
    begin(shell, "sh -c 'trap \"echo caught\" INT; sleep 1000; echo went on'")
    shell.sendcontrol("c")
    assert b"caught\r\nwent on" in finish(shell)
    begin(shell, "stty -isig; head -n 1 | od -An -c; stty isig")
    shell.send(b"\x03\x1a\x1c\n")
    assert b"003 032 034  \\n" in finish(shell)


def falls_silent(shell, seconds: float = 1.5, limit: float = 30) -> bool:
    """Whether the output ends: nothing for so many seconds, seen before the limit.

    What was on its way when the key was pressed still comes, on a busy host for a second or two.
    """
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if shell.expect([r".", pexpect.TIMEOUT], timeout=seconds) == 1:
            return True
    return False


def test_stop_and_continue_output(shell):
    begin(shell, "while :; do echo tick; sleep 0.1; done")
    shell.expect("tick")
    shell.sendcontrol("s")
    assert falls_silent(shell), "output goes on after ^S"
    shell.sendcontrol("q")
    shell.expect("tick")
    shell.sendcontrol("s")
    pexpect.run("sleep 0.3")
    shell.sendcontrol("c")  # a signal also lets output go on
    finish(shell)


def test_a_long_write_ends_with_a_signal(shell):
    begin(shell, "dd if=/dev/zero bs=64M count=1")
    shell.expect("\0" * 1000)
    shell.sendcontrol("c")
    finish(shell)  # long before all is out
    assert run(shell, "echo $?") == "130"


def test_output_goes_on_when_flow_control_is_switched_off(shell):
    """Nothing could start it any more: ^Q is a character like others then."""
    begin(shell, "sleep 2; stty -ixon; echo goes on; stty ixon")
    shell.sendcontrol("s")
    shell.expect_exact("goes on")
    finish(shell)
    assert run(shell, "echo and on") == "and on"


def test_end_of_file_hands_out_what_is_there(shell):
    begin(shell, "dd bs=100 count=1 of=/tmp/d 2> /dev/null; echo; wc -c < /tmp/d")
    shell.send(b"abc\x04")
    assert finish(shell).split()[-1] == b"3"
    begin(shell, "dd bs=100 count=1 of=/tmp/d 2> /dev/null; echo; wc -c < /tmp/d")
    shell.send(b"\x04")
    assert finish(shell).split()[-1] == b"0"
    begin(shell, "dd bs=100 count=1 of=/tmp/d 2> /dev/null; echo; wc -c < /tmp/d")
    shell.send(b"one\ntwo\n")
    assert b"\r\n4\r\n" in finish(shell), "a read takes one line"


def test_reading_without_lines(shell):
    def reading(settings: str, keys: list[bytes]) -> bytes:
        begin(
            shell, f"stty -icanon {settings}; dd bs=10 count=1 of=/tmp/d 2> /dev/null; stty sane; echo; wc -c < /tmp/d"
        )
        for key in keys:
            shell.send(key)
            pexpect.run("sleep 0.3")
        return finish(shell).split()[-1]

    assert reading("min 1 time 0", [b"x"]) == b"1"
    assert reading("min 3 time 0", [b"x", b"y", b"z"]) == b"3"
    assert reading("min 0 time 5", []) == b"0"
    assert reading("min 5 time 50", [b"x", b"y"]) == b"2", "the gap behind a byte ends the read"
    assert reading("min 1 time 0", [b"\x04"]) == b"1", "no key ends a file"


def test_a_line_longer_than_the_buffer_is_cut(shell):
    echo, got = typed(shell, b"", "-echo")
    begin(shell, "stty -echo; cat > /tmp/typed; stty sane; wc -c /tmp/typed")
    for _ in range(60):
        shell.send(b"x" * 100)
        pexpect.run("sleep 0.02")
    shell.send(b"\nnext\n\x04")
    assert b"4101 /tmp/typed" in finish(shell)


def test_background_jobs_and_the_terminal(shell):
    run(shell, "set -m; cat & sleep 0.5")
    assert "Stopped (tty input)" in run(shell, "jobs")
    run(shell, "kill -9 %1; wait; stty tostop; echo hidden & sleep 0.5")
    assert "Stopped (tty output)" in run(shell, "jobs")
    begin(shell, "stty -tostop; fg")
    assert b"hidden" in finish(shell)
    begin(shell, "cat")
    shell.sendcontrol("z")
    finish(shell)
    begin(shell, "fg")
    shell.send(b"again\n\x04")
    assert b"again\r\nagain\r\n" in finish(shell)
    assert run(shell, "jobs") == ""


def test_window_size(shell):
    run(shell, "unset LINES COLUMNS")  # busybox believes them before the terminal
    assert run(shell, "stty rows 40 columns 120; stty size") == "40 120"
    assert run(shell, """sh -c 'trap "echo changed" WINCH; stty rows 50; echo still; stty size'""") == (
        "changed\nstill\n50 120"
    )


def test_control_t_reports_while_a_program_runs(shell):
    begin(shell, "while :; do :; done")
    shell.sendcontrol("t")
    for cache in ("Page", "Buffer", "Inode", "Dentry"):
        shell.expect(f"{cache} cache total lookups: \\d+")
    shell.sendcontrol("c")
    finish(shell)


def test_control_t_reports_at_the_prompt_and_spares_programs_without_signals(shell):
    """The prompt's line editor has turned signals off, as has an editor, which gets the key."""
    shell.send("echo sti\x14ll")
    for cache in ("Page", "Buffer", "Inode", "Dentry"):
        shell.expect(f"{cache} cache total lookups: \\d+")
    shell.send(" there\n")
    assert b"still there\r\n" in finish(shell)
    begin(shell, "stty -isig; head -n 1 | od -An -c; stty isig")
    shell.send(b"\x14\n")
    assert b"024  \\n" in finish(shell)


def test_the_end_of_a_session_hangs_up(shell):
    run(shell, "(trap 'echo hup > /root/hup; exit' HUP; sleep 1000 & wait) &")
    shell.sendline("exit 3")
    shell.expect(pexpect.EOF)
    shell.close()
    assert shell.exitstatus == 3
