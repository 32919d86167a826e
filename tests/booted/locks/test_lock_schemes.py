"""Lock schemes other than the default, as a debug kernel on four CPUs (lockless.c)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SCHEMES = ["DENTRY_LOCK=rcu", "INODE_LOCK=rwlock", "BUFFER_LOCK=global", "PAGE_LOCK=rwlock"]


@pytest.fixture(scope="session")
def lockless(tmp_path_factory) -> Path:
    program = tmp_path_factory.mktemp("lockless") / "lockless"
    flags = ["-std=gnu11", "-O1", "-static", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["musl-gcc", *flags, "-o", program, HERE / "lockless.c"], check=True)
    return program


def test_walks_without_locks(cw, lockless, tmp_path, monkeypatch):
    """Nobody misses what always exists, or reaches what is forbidden; the debug kernel finds nothing at the end."""
    monkeypatch.setenv("CW_OUTPUT", str(tmp_path / "build"))
    settings = [part for setting in (*SCHEMES, "DEBUG=y") for part in ("--set", setting)]
    options = [
        *settings,
        "--add",
        f"{lockless}:/lockless",
        "--smp",
        "4",
        "--mem",
        "128M",
        "--quiet",
        "--timeout",
        "120",
    ]
    script = "mkdir /root/w && chmod 755 /root /root/w && /lockless /root/w 8"
    result = cw("run", *options, "--", "/bin/sh", "-c", script, timeout=600)
    output = result.stdout.decode(errors="replace")
    assert result.returncode == 0, output + result.stderr.decode(errors="replace")
    assert "lockless: ok" in output, output
