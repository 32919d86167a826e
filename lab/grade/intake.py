"""What was handed in: one file, an archive or a folder with it; taken in with nothing believed of names and sizes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from lab.course.labs import Lab
from lab.grade import whose
from lab.grade.work import Refused

LARGEST_ARCHIVE = 16 << 20  # bytes, packed and unpacked
MOST_MEMBERS = 1000
LONGEST_NAME = 80
UNPACKERS: dict[bytes, Callable[[io.BytesIO], Any]] = {
    b"\x1f\x8b": lambda data: gzip.open(data),
    b"BZh": lambda data: bz2.open(data),
    b"\xfd7zXZ": lambda data: lzma.open(data),
}
# What the unpackers say of bytes that are damaged, encrypted, or packed in a way that they do not know.
DAMAGED = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, OSError, EOFError, ValueError, OverflowError, NotImplementedError,
    RuntimeError,
)  # fmt: skip


def take(path: Path, lab: Lab) -> tuple[bytes, str]:
    """The text that was handed in for @lab as @path, and what its file is called. Refused: why it is none."""
    try:
        data, called = _submitted(path, lab)
    except OSError as error:
        raise Refused(f"{path.name} cannot be read: {error.strerror}") from None
    return _checked(data, called, lab), called


def _checked(data: bytes, called: str, lab: Lab) -> bytes:
    """@data, if it can be this lab's file at all."""
    if len(data) > lab.largest:
        raise Refused(f"{called} has more than {lab.largest:,} bytes, which is more than it needs")
    if not data.strip():
        raise Refused(f"{called} is empty")
    if b"\0" in data:
        raise Refused(f"{called} is no text file")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused(f"{called} is not in UTF-8, in its comments perhaps: save it as UTF-8") from None
    code = whose.code_of(text)
    for wanted in lab.defines:
        if not whose.defines(code, wanted):
            lacks = f"does not define {wanted}()" if wanted.isidentifier() and wanted.islower() else f"has no {wanted}"
            raise Refused(f"{called} {lacks}{whose.instead(code, called, lab)}")
    return data


def _submitted(path: Path, lab: Lab) -> tuple[bytes, str]:
    if path.is_dir() and not path.is_symlink():
        names = (one.name for one in islice(path.rglob("*"), MOST_MEMBERS))
        found = _only(sorted(path.rglob(lab.hand_in)), lab, names)
        return _regular(found, lab.largest), lab.hand_in
    data = _regular(path, LARGEST_ARCHIVE)
    try:
        members = _members(data)
        return (data, _tellable(path.name, lab)) if members is None else (_unpacked(members, lab), lab.hand_in)
    except DAMAGED:
        raise Refused("the archive is damaged, encrypted, or packed in a way that is not known here") from None


def _tellable(name: str, lab: Lab) -> str:
    """@name, if it is one that can stand in a line of text."""
    return name if name.isprintable() and len(name) <= LONGEST_NAME else lab.hand_in


def _unpacked(members: Iterator[tuple[str, Callable[[int], bytes | None]]], lab: Lab) -> bytes:
    """The one member that is @lab's file."""
    names: dict[str, bytes | None] = {}
    others: list[str] = []
    for count, (name, read) in enumerate(members):
        if count >= MOST_MEMBERS:
            raise Refused(f"the archive has more than {MOST_MEMBERS:,} files")
        place = PurePosixPath(name.replace("\\", "/"))
        if place.is_absolute() or ".." in place.parts:
            raise Refused(f"the archive has a path that leads out of it: {name[:80]!r}")
        if place.name == lab.hand_in and "__MACOSX" not in place.parts:
            names[name] = read(lab.largest + 1)
        others.append(place.name)
    content = names[_only(list(names), lab, others)]
    if content is None:
        raise Refused(f"{lab.hand_in} in the archive is no plain file")
    return content


def _only(found: list, lab: Lab, names: Iterable[str]):
    """The one of @found; @names: of all that is there, looked at if it is none."""
    if len(found) != 1:
        there = "no" if not found else f"{len(found)} files called"
        said = "" if found else whose.among(names)
        raise Refused(f"there is {there} {lab.hand_in} in what was handed in{said}; it takes one")
    return found[0]


def _regular(path: Path, most: int) -> bytes:
    """The bytes of a plain file, not of what a link leads to, nor of a pipe that never ends."""
    if path.is_symlink():  # told as what it is; O_NOFOLLOW is what makes sure of it
        raise Refused(f"{path.name} is a link and no plain file")
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise Refused(f"{path.name} is no plain file")
        if status.st_size > most:
            raise Refused(f"{path.name} has {status.st_size:,} bytes; {most:,} are the most")
        return file.read(most + 1)


def _members(data: bytes) -> Iterator[tuple[str, Callable[[int], bytes | None]]] | None:
    """The names in an archive, each with what reads so many bytes of it (None: no plain file); None: it is no archive."""
    if data[:2] == b"PK":
        return _zipped(data)
    for magic, unpacker in UNPACKERS.items():
        if data.startswith(magic):
            with unpacker(io.BytesIO(data)) as file:
                data = file.read(LARGEST_ARCHIVE + 1)
            if len(data) > LARGEST_ARCHIVE:
                raise Refused(f"the archive has more than {LARGEST_ARCHIVE:,} bytes when it is unpacked")
            return _tarred(data)
    return _tarred(data) if data[257:262] == b"ustar" else None


def _tarred(data: bytes) -> Iterator[tuple[str, Callable[[int], bytes | None]]]:
    def reader(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Callable[[int], bytes | None]:
        def read(most: int) -> bytes | None:
            file = archive.extractfile(member) if member.isreg() and not member.issparse() else None
            return file.read(most) if file else None

        return read

    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for member in archive:
            yield member.name, reader(archive, member)


def _zipped(data: bytes) -> Iterator[tuple[str, Callable[[int], bytes | None]]]:
    def reader(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Callable[[int], bytes | None]:
        def read(most: int) -> bytes | None:
            if member.is_dir() or stat.S_ISLNK(member.external_attr >> 16):
                return None
            with archive.open(member) as file:
                return file.read(most)

        return read

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            yield member.filename, reader(archive, member)
