"""Walks without locks, and lock schemes other than the default, as debug kernels on four CPUs (lockless.c)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lab.base.paths import TOP
from lab.check.fuzz import both
from lab.check.runtests import debug_output

HERE = Path(__file__).parent
SCHEMES = ["DENTRY_LOCK=bucket", "INODE_LOCK=rwlock", "BUFFER_LOCK=global", "PAGE_LOCK=sequence"]


@pytest.fixture(scope="session")
def lockless(tmp_path_factory) -> Path:
    program = tmp_path_factory.mktemp("lockless") / "lockless"
    flags = ["-std=gnu11", "-O1", "-static", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["musl-gcc", *flags, "-o", program, HERE / "lockless.c"], check=True)
    return program


@pytest.fixture(scope="module")
def kernel(tmp_path_factory) -> str:
    """Where a debug kernel with these schemes is, and all that Linux's programs ask for."""
    output = str(tmp_path_factory.mktemp("schemes") / "build")
    settings = f"SET={' '.join((*SCHEMES, 'DEBUG=y'))}"
    command = ["make", "-j2", "kernel", "user", "DEFCONFIG=full", settings, f"O={output}"]
    done = subprocess.run(command, cwd=TOP, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return output


@pytest.mark.parametrize("schemes", ["default", "others"])
def test_walks(cw, schemes, request, lockless, monkeypatch):
    """Nobody misses what always exists, or reaches what is forbidden; the debug kernel finds nothing at the end."""
    monkeypatch.setenv("CW_OUTPUT", debug_output() if schemes == "default" else request.getfixturevalue("kernel"))
    monkeypatch.setenv("CW_BUILD", "no")
    options = ["--add", f"{lockless}:/lockless", "--smp", "4", "--mem", "128M", "--quiet", "--timeout", "120"]
    script = "mkdir /root/w && chmod 755 /root /root/w && /lockless /root/w 8"
    result = cw("run", *options, "--", "/bin/sh", "-c", script, timeout=600)
    output = result.stdout.decode(errors="replace")
    assert result.returncode == 0, output + result.stderr.decode(errors="replace")
    assert "lockless: ok" in output, output


@pytest.mark.parametrize("root", both.ROOTS)
def test_sequences_as_on_linux(kernel, monkeypatch, root):
    """Links, mounts and dots in paths that are walked with references alone lead where Linux's walk leads."""
    if why := both.cannot_judge():
        pytest.skip(why)
    monkeypatch.setenv("CW_OUTPUT", kernel)
    work = both.Work(first=0, count=1000)
    ours = both.run_here(root, work, 1)
    assert not ours.ended, ours.ended
    linux = both.run_on_linux(root, work, ours.absent)
    wrong = [seed for seed in range(work.count) if ours.sums.get(seed) != linux.sums.get(seed)]
    assert not wrong, f"sequences that differ on {root}: {wrong[:50]}; ./cw fuzz --set DENTRY_LOCK=bucket shrinks them"
