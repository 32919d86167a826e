"""What cannot be a submission is refused with the reason: archives that lead out, gigabytes, nothing, other files."""

from __future__ import annotations

import gzip
import io
import os
import re
import tarfile
import zipfile
from pathlib import Path

import pytest

from lab.base.paths import TOP
from lab.course import labs
from lab.grade import intake
from lab.grade.work import Refused
from tests.lab.grade.lab1.conftest import LAB
from tests.lab.grade.lab1.submissions import RIGHT

TEXT = RIGHT["mixed"].encode()


def tar(members: dict[str, bytes], mode: str = "w:gz", link: str = "") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            if link:
                member.type, member.linkname, member.size = tarfile.SYMTYPE, link, 0
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def packed(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        TEXT, tar({"mine.h": TEXT}), tar({"a/b/mine.h": TEXT, "README": b"x"}, "w"), tar({"mine.h": TEXT}, "w:xz"),
        packed({"lab1/mine.h": TEXT, "lab1/notes.txt": b"x", "__MACOSX/lab1/mine.h": b"x"}),
    ],
)  # fmt: skip
def test_a_file_or_an_archive_with_it(tmp_path, data):
    path = tmp_path / "anything"
    path.write_bytes(data)
    assert intake.take(path, LAB) == (TEXT, "mine.h" if data != TEXT else "anything")


def test_a_folder_with_it(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "mine.h").write_bytes(TEXT)
    assert intake.take(tmp_path, LAB) == (TEXT, "mine.h")


def changed(archive: bytes, behind: bytes, at: int) -> bytes:
    """The archive with the byte turned over that stands @at behind the beginning of @behind."""
    place = archive.index(behind) + at
    return archive[:place] + bytes([archive[place] ^ 0xFF]) + archive[place + 1 :]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"\x7fELF\0\0\xff", "is no text file"),
        (TEXT + b"\0", "is no text file"),
        (TEXT.replace(b"buffer_hash", b"page_hash"), "but page_hash()"),
        (b"/* buffer_hash */ int x;", "does not define buffer_hash()"),
        (TEXT + b" " * LAB.largest, "more than 16,384 bytes"),
        (tar({"../mine.h": TEXT}), "leads out of it"),
        (tar({"/etc/mine.h": TEXT}), "leads out of it"),
        (packed({"a/../../mine.h": TEXT}), "leads out of it"),
        (packed({"..\\mine.h": TEXT}), "leads out of it"),
        (tar({"mine.h": TEXT}, link="/etc/passwd"), "no plain file"),
        ("/* José */".encode("latin-1") + TEXT, "save it as UTF-8"),
        (tar({"yours.h": TEXT}), "there is no mine.h"),
        (tar({"a/mine.h": TEXT, "b/mine.h": TEXT}), "2 files called mine.h"),
        (tar({"mine.h": TEXT})[:-40], "damaged"),
        (packed({"mine.h": TEXT})[:-30], "damaged"),
        (changed(packed({"mine.h": TEXT}), b"mine.h", 8), "damaged"),  # the content, of which there is a checksum
        (changed(packed({"mine.h": TEXT}), b"PK\1\2", 8), "encrypted"),  # by its flags
        (changed(packed({"mine.h": TEXT}), b"PK\1\2", 10), "not known here"),  # another method
        (changed(gzip.compress(TEXT), b"\x1f\x8b", 10), "damaged"),
        (tar({"mine.h": TEXT * 40}, "w")[:1000], "damaged"),
        (tar({f"{i}": b"" for i in range(1100)}), "more than 1,000 files"),
    ],
)  # fmt: skip
def test_what_is_none_is_refused_with_the_reason(tmp_path, data, reason):
    path = tmp_path / "mine.h"
    path.write_bytes(data)
    with pytest.raises(Refused) as error:
        intake.take(path, LAB)
    assert reason in str(error.value)


def test_what_unpacks_to_much_is_refused(tmp_path):
    test_what_is_none_is_refused_with_the_reason(tmp_path, packed({"mine.h": bytes(1 << 28)}), "more than 16,384 bytes")
    test_what_is_none_is_refused_with_the_reason(tmp_path, gzip.compress(bytes(1 << 26)), "when it is unpacked")


def test_gigabytes_pipes_links_and_devices_are_not_read(tmp_path):
    large, pipe, link = (tmp_path / name for name in ("large", "pipe", "link"))
    with large.open("wb") as file:
        file.truncate(8 << 30)
    os.mkfifo(pipe)
    (tmp_path / "another's").write_bytes(TEXT)
    link.symlink_to(tmp_path / "another's")
    for path in (large, pipe, link, Path("/dev/zero")):
        with pytest.raises(Refused):
            intake.take(path, LAB)
    (tmp_path / "student").mkdir()
    (tmp_path / "student" / "mine.h").symlink_to(tmp_path / "another's")
    with pytest.raises(Refused):
        intake.take(tmp_path / "student", LAB)
    with pytest.raises(Refused, match="cannot be read"):
        intake.take(tmp_path / "nowhere", LAB)


HEADER = (TOP / "coursework/lab6/starter/pathcache.h").read_text()
LINEAR = (TOP / "coursework/lab4/starter/linear.h").read_bytes()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pathcache.h", HEADER),
        ("alice.c", HEADER),
        ("alice.c", "/* Alice's */\n" + HEADER.replace("\t", "  ")),
        ("pathcache.h", HEADER + "int more;\n"),
    ],
)
def test_a_header_alone_is_told_from_what_is_to_be_handed_in(tmp_path, name, text):
    """It has all the names that the file must have: as declarations."""
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(Refused, match=r"does not define pathcache_find\(\): .*pathcache\.h, which comes with lab 6"):
        intake.take(path, labs.find("6"))


def test_another_labs_file_is_named(tmp_path):
    path = tmp_path / "alice.h"
    path.write_bytes(LINEAR)
    with pytest.raises(Refused, match=r"this is lab 4's file, linear\.h"):
        intake.take(path, LAB)
    path = tmp_path / "lockless.h"
    path.write_bytes((TOP / "coursework/lab5/starter/lockless.h").read_bytes())
    with pytest.raises(Refused, match=r"this is lab 5's file, lockless\.h"):
        intake.take(path, LAB)


@pytest.mark.parametrize(("number", "other", "name"), [("5", "4", "linear.h"), ("4", "5", "lockless.h")])
def test_one_structure_is_told_from_another(tmp_path, number, other, name):
    path = tmp_path / "alice.h"
    path.write_bytes((TOP / f"coursework/lab{other}/solution/{name}").read_bytes())
    with pytest.raises(Refused, match=rf"has no struct \w+_link: this is lab {other}'s file, {name}"):
        intake.take(path, labs.find(number))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("linear.h", r"linear\.h is lab 4's file"),
        ("linear_link.h", r"linear_link\.h comes with lab 4"),
        ("notes.txt", "it takes one$"),
    ],
)
def test_a_folder_or_an_archive_that_has_only_another_labs_file_says_so(tmp_path, name, said):
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / name).write_bytes(LINEAR)
    (tmp_path / "archive").write_bytes(tar({f"deep/{name}": LINEAR}))
    for path in (folder, tmp_path / "archive"):
        with pytest.raises(Refused, match=r"there is no mine\.h") as error:
            intake.take(path, LAB)
        assert re.search(said, str(error.value))
