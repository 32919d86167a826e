"""./cw run --strace writes what strace writes on Linux; docs/kernel/syscalls.md is what the table says."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lab.base import syscalls
from lab.check import syscalls as page
from lab.check.kernels import full_output
from tests.musl import static_program

HERE = Path(__file__).parent
RECORD = HERE / "traced.txt"


def compile_traced(folder: Path) -> Path:
    return static_program(folder / "traced", HERE / "traced.c")


def comparable(text: str) -> list[str]:
    """Each process's own lines from begin to end, its number, its parent's addresses and times taken out."""
    by_pid: dict[str, list[str]] = {}
    for line in text.splitlines():
        pid, _, rest = line.partition(" ")
        by_pid.setdefault(pid, []).append(rest.strip())
    # What a number is told by what stands before it, or by the call whose result it is.
    pid_at = re.compile(r"(?:kill\(|wait4\(|si_pid=|(?:getpid|gettid|fork|wait4)\(.*\) = )(\d+)")
    names = {pid: f"PID{number}" for number, pid in enumerate(by_pid)}

    def name_pid(match: re.Match[str]) -> str:
        return match[0].removesuffix(match[1]) + names.get(match[1], match[1])

    found: list[str] = []
    for lines in by_pid.values():
        # strace splits a call that another process's line comes between.
        whole: list[str] = []
        for line in lines:
            if resumed := re.match(r"<\.\.\. \w+ resumed>(.*)", line):
                whole[-1] = whole[-1].removesuffix(" <unfinished ...>") + resumed[1]
            else:
                whole.append(line)
        begin = next((at for at, line in enumerate(whole) if '"begin' in line), 0)
        for line in whole[begin:]:
            line = re.sub(r"0x[0-9a-f]{5,}", "ADDRESS", line)
            line = re.sub(r"rt_sigreturn\(.*", "rt_sigreturn", line)  # the kernel does not send the frame
            line = re.sub(r" +([=<])", r" \1", line)
            found.append(pid_at.sub(name_pid, pid_at.sub(name_pid, line)))
    # A child that ends before it is asked for is told of first: on a busy host it may.
    for at in range(1, len(found)):
        if found[at - 1].startswith("--- SIGCHLD") and found[at].startswith("wait4("):
            found[at - 1 : at + 1] = found[at], found[at - 1]
    return found


def traced_on_linux(folder: Path) -> str:
    scratch = folder / "scratch"
    scratch.mkdir()
    command = ["strace", "-f", "-o", folder / "trace", compile_traced(folder)]
    subprocess.run(command, cwd=scratch, check=True, capture_output=True)
    return (folder / "trace").read_text()


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not here")
def test_record_is_what_strace_writes(tmp_path):
    found = comparable(traced_on_linux(tmp_path))
    if not found:
        pytest.skip("strace may not trace here")
    assert found == RECORD.read_text().splitlines()


def test_trace_equals_linux(cw, tmp_path, monkeypatch):
    monkeypatch.setenv("CW_OUTPUT", full_output())
    program = compile_traced(tmp_path)
    trace = tmp_path / "cw-trace"
    cw(
        "run",
        "--quiet",
        "--root",
        "tmpfs",
        "--add",
        f"{program}:/root/traced",
        f"--strace={trace}",
        "--",
        "/root/traced",
    )
    assert comparable(trace.read_text()) == RECORD.read_text().splitlines()


def test_page_is_current():
    assert page.PAGE.read_text() == page.page(), "run `make docs`"


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as scratch_folder:
        RECORD.write_text("".join(f"{line}\n" for line in comparable(traced_on_linux(Path(scratch_folder)))))


def test_the_log_names_calls_that_are_missing_but_not_those_only_tried(cw_run, tmp_path):
    """Each refused call once; one that every program tries would only hide what a program truly lacks."""
    there = syscalls.read_table()
    tried = syscalls.read_table(macro="SYSCALL_TRIED")
    assert tried and not set(there) & set(tried)
    missing = next(number for number in range(200, 460) if number not in there | tried)
    source = tmp_path / "refused.c"
    source.write_text("#include <stdlib.h>\n#include <unistd.h>\n#include <sys/syscall.h>\n#include <errno.h>\n"
        "int main(int n, char **numbers) { while (--n) if (syscall(atoi(numbers[n])) != -1 || errno != ENOSYS) return 1; return 0; }\n")  # fmt: skip
    static_program(tmp_path / "refused", source)
    numbers = " ".join(str(number) for number in [*tried, missing, missing])
    result = cw_run(script=f"/refused {numbers} && dmesg", add=[f"{tmp_path}/refused:/refused"])
    said = re.findall(rb"system call (\d+) is not there", result.output)
    assert said == [str(missing).encode()]
