"""Files that are there as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

from lab.base.paths import LabError

PIECE = 1 << 20


def check_room(path: Path, option: str) -> None:
    """Before a run whose outcome goes to @path, as @option has it. LabError: there can be no file, which is better said before the
    run than behind it."""
    if not path.parent.is_dir():
        raise LabError(f"{option} {path}: there is no folder {path.parent}")
    if os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode):
        raise LabError(f"{option} {path}: what is there is no file, and stays: give another name")
    if not os.access(path.parent, os.W_OK):
        raise LabError(f"{option} {path}: nothing can be written in {path.parent}")


def make_room(path: Path, option: str) -> None:
    """check_room(); what is there afterwards is this run's, so an older file goes."""
    check_room(path, option)
    path.unlink(missing_ok=True)


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A name beside @path to write a file to. It becomes @path when the block ends well, and goes otherwise: then what was
    there stays. OSError names @path."""
    new = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        yield new
        new.replace(path)
    except OSError as error:
        if error.filename == str(new):
            error.filename = str(path)
        raise
    finally:
        new.unlink(missing_ok=True)


def write_whole(path: Path, content: str | bytes) -> None:
    """Write @content to @path as a whole or not at all; bytes in text that are none of UTF-8 stay what they were."""
    with written_whole(path) as new:
        new.write_bytes(content.encode(errors="surrogateescape") if isinstance(content, str) else content)


def copy_sparse(source: Path, target: Path) -> None:
    """Copy a file and leave its holes out, on another file system, too."""
    with source.open("rb") as reader, written_whole(target) as new, new.open("wb") as writer:
        size = os.fstat(reader.fileno()).st_size
        os.ftruncate(writer.fileno(), size)
        at = 0
        while at < size:
            try:
                at = os.lseek(reader.fileno(), at, os.SEEK_DATA)
            except OSError:  # no more data
                break
            end = os.lseek(reader.fileno(), at, os.SEEK_HOLE)
            while at < end and (piece := os.pread(reader.fileno(), min(PIECE, end - at), at)):
                at += os.pwrite(writer.fileno(), piece, at)
