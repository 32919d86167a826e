"""What ./cw lab does: starters that overwrite nothing, keys that nobody else reads, solutions only for who has one; and the lab's own text."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from lab.base.paths import TOP, LabError
from lab.course import keys, labs
from lab.course.start import setup_course, solution, start
from lab.grade.kinds import KINDS
from lab.run.demo import project_files

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def followed(text, run):
    """Each block of commands of @text through run(block) -> what it printed, which must have the lines of the blocks of output behind it."""
    printed = ""
    for language, block in BLOCK.findall(text):
        if language == "sh":
            printed = run(block)
        elif language == "text":
            there = [" ".join(line.split()) for line in printed.splitlines()]
            for line in block.splitlines():
                said = " ".join(line.split())
                assert not said or said == "..." or any(one.startswith(said) for one in there), (
                    f"not printed: {line}\n{printed}"
                )


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


def test_the_labs_steps_can_be_followed_to_the_letter(tmp_path):
    """In a copy of the checkout; the kernel's own run is left to test_booted.py. What is printed is what the text says is."""
    copy, home = tmp_path / "chainwalk", tmp_path / "home"
    home.mkdir()
    for path in project_files():
        if path.relative_to(TOP).parts[0] not in ("tests", "results", "experiments"):
            (copy / path.relative_to(TOP)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy / path.relative_to(TOP))
    (copy / ".venv").symlink_to(TOP / ".venv")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("CW_", "MAKE", "MFLAGS"))}

    def run(block):
        script = re.sub(r"^(\./cw grade .*)$", r"\1 --no-boot", block, flags=re.MULTILINE)
        result = subprocess.run(
            ["bash", "-e", "-c", script], cwd=copy, env={**environment, "HOME": str(home)}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        assert result.returncode == 0, f"{script}\n{result.stdout[-2000:]}\n{result.stderr[-2000:]}"
        return result.stdout

    followed((TOP / labs.find("1").text).read_text(), run)
