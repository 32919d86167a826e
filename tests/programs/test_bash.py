"""bash on a terminal, by hand: jobs stopped, continued, killed, in fore- and background; the dialogue is Linux's.

The same keys are typed at the host's terminal and at Chainwalk's console. What both print must be equal, but for
process numbers.
"""

from __future__ import annotations

import difflib
import os
import re
import shutil
import time

import pexpect
import pytest

from lab.base.paths import TOP
from lab.check.kernels import debug_output

PROMPT = "ready> "
PATIENCE = float(os.environ.get("CW_PATIENCE", "1"))
pytestmark = pytest.mark.skipif(
    not shutil.which("apt-get") or not shutil.which("bash"), reason="no apt or no bash on this machine"
)

# Lines to type, and keys. A line ending in "  " leaves a job in the foreground, so no prompt follows.
DIALOGUE = [
    "echo $-",
    "(echo up; sleep 1000)  ", "^Z", "jobs", "bg", "jobs -r", "fg  ", "^C", "echo $?",
    "cat | (echo up; cat) | cat  ", "^Z", "jobs -l | tr -s ' ' | sed 's/ [0-9]* / N /'", "kill %1; sleep 1", "wait %1; echo $?",
    "sleep 300 & sleep 301 & jobs", "kill %2; sleep 1", "wait %2; echo $?", "kill -STOP %1; sleep 1; jobs", "kill -CONT %1; kill -9 %1; sleep 1", "wait %1; echo $?",
    "trap 'echo caught' INT; (trap - INT; echo up; sleep 1000)  ", "^C", "trap - INT",
    "bash -c 'echo up; kill -STOP $$; echo again'", "", "fg",
    "cat < /dev/tty & sleep 1", "jobs", "kill %1; sleep 1", "",
    "stty tostop; (sleep 1; echo from behind) &", "sleep 2; jobs", "fg", "stty -tostop",
    "(set -m; sleep 0.1 & wait $!; echo $?)", "coproc sleep 1; kill $!; wait $!; echo $?",
    "echo $(kill -l 20) $(exit 3; echo no) $?", "{ sleep 0.1; false; } || echo no",
    "diff <(seq 3) <(seq 4)", "nosuchcommand; echo $?", "ulimit -n", "exec 5<>/tmp/five; echo out >&5; cat /tmp/five; exec 5>&-",
    "disown -a; jobs; echo end",
]  # fmt: skip


def converse(child: pexpect.spawn) -> list[str]:
    """Type the whole dialogue; what stood between prompts, process numbers left out."""
    said = []
    for line in DIALOGUE:
        if line.startswith("^"):
            time.sleep(0.5 * PATIENCE)  # so that the job is in its sleep
            child.sendcontrol(line[1].lower())
        else:
            child.sendline(line)
            child.expect_exact(line + "\r\n")
            if line.endswith("  "):
                child.expect_exact("up\r\n" if "echo up" in line else "\r\n")
                continue
        child.expect_exact(PROMPT)
        text = child.before.replace("\r", "")
        if line.startswith("^"):
            text = text.removeprefix(line)  # a signal flushes what the terminal has not sent yet, on Linux its own echo
        text = re.sub(r"(\[\d+\])[+ -] +(?=Terminated)", r"\1 ", text)  # which job is the current one is a race
        said.append(
            f"{line}: "
            + re.sub(r"\b\d{2,}\b(?=\s+(Stopped|Running|Killed|sleep)|$)|(?<=\] )\d+", "N", text, flags=re.M)
        )
    child.sendline("exit 7")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 7
    return said


SHELL = ["/bin/bash", "--norc", "--noprofile", "--noediting"]
START = f"PS1='{PROMPT}'; ulimit -n 512; cd /tmp"


def begin(command: list[str], environment: dict[str, str]) -> pexpect.spawn:
    child = pexpect.spawn(
        command[0], command[1:], env=environment, timeout=60 * PATIENCE, encoding="utf-8", codec_errors="replace",
        dimensions=(24, 200),
    )  # fmt: skip
    child.expect(r"\$ |# ", timeout=240 * PATIENCE)
    child.sendline(START)
    child.expect_exact(START + "\r\n")
    child.expect_exact(PROMPT)
    return child


@pytest.mark.parametrize("cpus", [1, 4])
def test_dialogue(cpus):
    plain = {"PATH": os.environ["PATH"], "TERM": "dumb", "LC_ALL": "C", "HOME": "/tmp"}
    linux = converse(begin(SHELL, plain))
    command = [str(TOP / "cw"), "shell", "--package", "bash", "--package", "coreutils", "--package", "diffutils",
               "--package", "sed", "--smp", str(cpus), "--", "/usr/bin/env", "TERM=dumb", "LC_ALL=C", *SHELL]  # fmt: skip
    found = converse(begin(command, {**os.environ, "CW_OUTPUT": debug_output()}))
    difference = list(difflib.unified_diff(linux, found, "Linux", "Chainwalk", "", "", 1, ""))
    assert not difference, "\n".join(difference)
