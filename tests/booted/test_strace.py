"""./cw run --strace writes what strace writes on Linux; docs/syscalls.md is what the table says."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lab import syscalls

HERE = Path(__file__).parent
RECORD = HERE / "traced.txt"


def compile_traced(folder: Path) -> Path:
    program = folder / "traced"
    flags = ["-std=gnu11", "-O1", "-static", "-Wno-unused-result"]
    subprocess.run(["musl-gcc", *flags, "-o", program, HERE / "traced.c"], check=True)
    return program


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


def test_trace_equals_linux(cw, tmp_path):
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
    assert syscalls.PAGE.read_text() == syscalls.page(), "run `make docs`"


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as scratch_folder:
        RECORD.write_text("".join(f"{line}\n" for line in comparable(traced_on_linux(Path(scratch_folder)))))
