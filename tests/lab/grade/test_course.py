"""What ./cw lab does: starters that overwrite nothing, keys that nobody else reads, solutions only for who has one; and the lab's own text."""

from __future__ import annotations

import errno
import re
import shutil
import stat
from pathlib import Path

import pytest

from lab.base.paths import TOP, LabError
from lab.course import keys, labs
from lab.course.start import setup_course, solution, start
from lab.grade.kinds import KINDS


def test_a_lab_begins_in_a_folder_and_overwrites_nothing(tmp_path, cw):
    folder = tmp_path / "new" / "lab1"
    result = cw("lab", "start", "1", folder)
    assert result.returncode == 0 and b"docs/labs/1-hash-function.md" in result.stdout
    mine = folder / "mine.h"
    mine.write_text("a night's work")
    result = cw("lab", "start", "1", folder)
    assert result.returncode == 125 and b"is there already" in result.stderr and mine.read_text() == "a night's work"
    mine.unlink()
    mine.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LabError, match="there already"):
        start("1", folder)
    assert not (tmp_path / "elsewhere").exists()
    with pytest.raises(LabError, match=r"no lab 9\. There are: 1"):
        start("9", folder)


def full_disk(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_leaves_no_half_starter_and_no_empty_key(tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "copyfileobj", full_disk)
        with pytest.raises(LabError, match="No space left"):
            start("1", tmp_path / "lab1")
        patched.setattr(keys.secrets, "token_hex", full_disk)
        with pytest.raises(LabError, match="No space left"):
            setup_course(tmp_path / "course")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert start("1", tmp_path / "lab1") and setup_course(tmp_path / "course")


def test_a_key_is_its_owners_alone_and_no_two_are_alike(tmp_path):
    path = setup_course(tmp_path / "course")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_text()
    with pytest.raises(LabError, match="not made twice"):
        setup_course(tmp_path / "course")
    assert path.read_text() == before
    one, other = keys.load(path), keys.load(setup_course(tmp_path / "other"))
    assert one.hidden and one.seed("1", "stream", 0) != other.seed("1", "stream", 0) != one.seed("1", "stream", 1)
    assert one.seed("1", "stream", 0) == keys.load(path).seed("1", "stream", 0)
    path.chmod(0o640)
    with pytest.raises(LabError, match="chmod 600"):
        keys.load(path)


def test_a_solution_is_for_who_has_a_key(tmp_path, cw):
    key = setup_course(tmp_path)
    text = solution("1", key)
    assert "static inline u32 buffer_hash" in text and text.startswith("# ")
    fake = tmp_path / "fake"
    fake.write_text("chainwalk-course-key 1234\n")
    for path, said in ((tmp_path / "nowhere", "setup-course"), (fake, "no key file")):
        with pytest.raises(LabError, match=said):
            solution("1", path)
    assert cw("lab", "solution", "1").returncode != 0


@pytest.mark.parametrize("number", labs.numbers())
def test_a_lab_is_whole(number):
    lab = labs.find(number)
    assert lab.points == 100 and {part.kind for part in lab.parts} <= set(KINDS)
    assert (TOP / lab.text).exists() and (lab.folder / "teacher.md").exists()
    for folder in ("starter", "solution"):
        assert (lab.folder / folder / lab.hand_in).stat().st_size <= lab.largest
    listed = (TOP / "docs/labs/README.md").read_text()
    assert Path(lab.text).name in listed


def test_what_students_see_has_no_solution():
    said = (TOP / "coursework/lab1/solution/mine.h").read_text()
    numbers = set(re.findall(r"0x[0-9a-f]{9,}", said))
    assert numbers
    for path in (*(TOP / "docs/labs").glob("*.md"), *(TOP / "coursework/lab1/starter").iterdir()):
        assert not numbers & set(re.findall(r"0x[0-9a-f]{9,}", path.read_text())), path
