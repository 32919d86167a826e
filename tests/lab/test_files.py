"""Files that are there as a whole or not at all (lab/base/files.py)."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest

from lab.base.files import copy_sparse, write_whole


def test_what_is_written_is_there_as_a_whole_or_not_at_all(tmp_path):
    write_whole(tmp_path / "a", "text \udcff")
    assert (tmp_path / "a").read_bytes() == b"text \xff"
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError):
        write_whole(tmp_path / "folder", b"")
    with pytest.raises(OSError, match="nowhere/b'"):
        write_whole(tmp_path / "nowhere/b", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "folder"]


def test_sparse_copies_are_copies(tmp_path):
    source = tmp_path / "a"
    with source.open("wb") as out:
        out.seek(1 << 20)
        out.write(b"x" * 5000)
        out.truncate(4 << 20)
    copy_sparse(source, tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == source.read_bytes()
    assert (tmp_path / "b").stat().st_blocks * 512 < 1 << 20
    with tempfile.TemporaryDirectory(dir="/dev/shm") as other:
        copy_sparse(source, Path(other) / "c")
        assert (Path(other) / "c").read_bytes() == source.read_bytes()


def test_a_copy_that_breaks_off_leaves_nothing(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"x" * 5000)
    (tmp_path / "b").write_text("before")

    def full(*_):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(OSError, match="full"):
        copy_sparse(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
    with pytest.raises(OSError, match="nowhere/b'"):
        copy_sparse(tmp_path / "a", tmp_path / "nowhere/b")
