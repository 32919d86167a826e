"""What is said of a submission has the name that it was handed in by."""

from __future__ import annotations

import io
import tarfile

import pytest

from lab.course import keys, labs
from lab.grade import score
from lab.grade.booted import judge as booted
from lab.grade.one import grade
from tests.lab.grade.conftest import COURSE


def said_of(number, path, seeds=COURSE):
    """Lab 6 has nothing to say before a kernel is built; the others have."""
    with booted.home():
        return score.text(grade(labs.find(number), path, seeds, boots=number == "6"))


def solution(number):
    lab = labs.find(number)
    return (lab.folder / "solution" / lab.hand_in).read_text()


@pytest.mark.parametrize("number", labs.numbers())
def test_who_does_not_compile_is_told_the_name_of_his_own_file(number, tmp_path):
    name = labs.find(number).hand_in
    path = tmp_path / f"alice{name[-2:]}"
    path.write_text(solution(number) + "\nint broken = ;\n")
    said = said_of(number, path)
    assert f"{path.name}:" in said and name not in said, said


def test_the_command_that_shows_the_like_has_it_too(tmp_path):
    path = tmp_path / "alice's own.h"
    path.write_text("static inline u32 buffer_hash(dev_t dev, u64 block, unsigned bits)\n{\n\treturn 0;\n}\n")
    assert """./cw grade 1 'alice'"'"'s own.h' --seed """ in said_of("1", path)


@pytest.mark.parametrize("name", ["not\n100.00 of 100  in all.h", "a" * 200 + ".h"])
def test_a_name_that_is_no_name_to_be_told_is_not(name, tmp_path):
    path = tmp_path / name
    path.write_text("")
    assert "Nothing was judged: mine.h is empty" in said_of("1", path)


def test_in_an_archive_it_is_the_labs_name(tmp_path):
    text = solution("1").encode() + b"\nint broken = ;\n"
    with tarfile.open(tmp_path / "alice.tar", "w") as archive:
        member = tarfile.TarInfo("mine.h")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
    assert "mine.h:" in said_of("1", tmp_path / "alice.tar", keys.practice(1))
