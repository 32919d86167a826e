"""A whole class at once: all get a row, bad input does not stop it, Ctrl-C loses nothing, the same scores with any number at a time."""

from __future__ import annotations

import csv
import errno
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from lab.base.paths import TOP, LabError
from lab.cli import course
from lab.course import keys, labs
from lab.course.start import setup_course
from lab.grade import classroom, one
from lab.grade.booted import judge as booted
from lab.grade.kinds import can_judge
from tests.lab.grade.lab1.conftest import LAB
from tests.lab.grade.lab1.submissions import RIGHT, WRONG


@pytest.fixture
def class_folder(tmp_path):
    """Ada's is right, Ben's counts, Cyd handed in nothing, Dan's is gigabytes, Eve would run a formula in the teacher's spreadsheet."""
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "ada.h").write_text(RIGHT["folded"])
    (folder / "ben").mkdir()
    (folder / "ben" / "mine.h").write_text(WRONG["counter"][0])
    (folder / "cyd.h").write_text("")
    with (folder / "dan.zip").open("wb") as file:
        file.truncate(5 << 30)
    (folder / "=eve.h").write_text(WRONG["does not compile"][0])
    (folder / ".hidden").write_text("not a submission")
    return folder


def test_the_graders_own_files_are_no_submissions(class_folder):
    out = class_folder / "points.csv"
    before = classroom.submissions(class_folder)
    out.write_text("submission,points\n")
    out.with_name("points.csv.scores").mkdir()
    assert classroom.submissions(class_folder, out, out.with_name("points.csv.scores")) == before


def rows(path):
    with path.open(newline="") as file:
        return {row["submission"]: row for row in csv.DictReader(file)}


def graded(folder, out, jobs=2, said=None):
    with booted.home():
        return classroom.grade_class(
            LAB, folder, keys.practice(1), out, jobs, False, (said if said is not None else []).append
        )


def test_everybody_gets_a_row(class_folder, tmp_path, impatient):
    out, said = tmp_path / "out.csv", []
    assert graded(class_folder, out, said=said) == (5, 0)
    found = rows(out)
    assert {name: float(row["points"]) for name, row in found.items()} == {"ada.h": 90, "ben": 15, "cyd.h": 0, "dan.zip": 0, "'=eve.h": 0}  # fmt: skip
    assert (
        found["ada.h"]["remark"] == ""
        and "is empty" in found["cyd.h"]["remark"]
        and "5,368,709,120 bytes" in found["dan.zip"]["remark"]
    )
    assert found["'=eve.h"]["remark"] == "it does not compile."
    kept = [json.loads(one.read_text()) for one in out.with_name("out.csv.scores").glob("*.json")]
    assert {one["submission"] for one in kept} == {"ada.h", "ben", "cyd.h", "dan.zip", "=eve.h"}
    assert len(said) == 6 and out.with_name("out.csv.scores").stat().st_mode & 0o77 == 0

    # Again: nothing is done twice; what was changed is graded anew.
    again: list[str] = []
    graded(class_folder, out, jobs=1, said=again)
    assert again[0] == "5 of 5 are graded already" and len(again) == 2 and rows(out) == found
    (class_folder / "cyd.h").write_text(RIGHT["mixed"])
    graded(class_folder, out, said=again)
    assert "practice streams of seed 1" in again[3]
    assert [again[2], *again[4:]] == ["4 of 5 are graded already", "1 of 1: cyd.h: 90.00"]
    assert rows(out)["cyd.h"]["points"] == "90.00"


def test_a_change_is_seen_by_what_is_in_a_file(tmp_path):
    """Of the same size and time, too; who only touches it gets no other digest."""
    file = tmp_path / "mine.h"
    file.write_text("#define LOAD 1\n")
    before, status = classroom.digest_of(file, ""), file.stat()
    file.write_text("#define LOAD @\n")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert classroom.digest_of(file, "") != before and classroom.digest_of(tmp_path, "") != before
    inside = classroom.digest_of(tmp_path, "")
    file.write_text("#define LOAD 1\n")
    assert classroom.digest_of(file, "") == before and classroom.digest_of(tmp_path, "") != inside


def test_a_change_is_seen_behind_a_thousand_other_files(tmp_path):
    for number in range(classroom.MOST_READ + 5):
        (tmp_path / f"a{number:04}").touch()
    late = tmp_path / "mine.h"
    late.write_text("#define LOAD 1\n")
    before, status = classroom.digest_of(tmp_path, ""), late.stat()
    late.write_text("#define LOAD @\n")
    os.utime(late, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert classroom.digest_of(tmp_path, "") != before


def test_a_fault_of_the_grader_is_told_and_the_class_goes_on(class_folder, tmp_path, monkeypatch, impatient):
    real = classroom.grade

    def breaks(lab, path, *others):
        if path.name == "ben":
            raise ZeroDivisionError("planted")
        return real(lab, path, *others)

    monkeypatch.setattr(classroom, "grade", breaks)
    out = tmp_path / "out.csv"
    assert graded(class_folder, out) == (len(rows(out)), 1)
    assert "THE GRADER FAILED: ZeroDivisionError('planted')" in rows(out)["ben"]["remark"]
    assert rows(out)["ben"]["points"] == "", "not known, which is not 0"
    assert rows(out)["ada.h"]["points"] == "90.00"
    monkeypatch.undo()
    graded(class_folder, out)
    assert rows(out)["ben"]["points"] == "15.00"


def test_a_full_disk_ends_the_class(class_folder, tmp_path, monkeypatch, impatient):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(classroom, "grade", full)
    monkeypatch.setattr(classroom.sandbox, "stop_all", lambda: None)  # which would be for good
    with pytest.raises(OSError, match="No space left"):
        graded(class_folder, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_a_name_can_be_any_bytes(tmp_path, impatient, cw):
    folder, out = tmp_path / "class", tmp_path / "out.csv"
    folder.mkdir()
    odd = Path(os.fsdecode(os.fsencode(folder) + b"/bad\xffname.h"))
    odd.symlink_to("/etc/passwd")
    (folder / "good.h").write_text(RIGHT["folded"])
    assert graded(folder, out) == (2, 0)
    found = rows(out)
    assert found["good.h"]["points"] == "90.00" and found["bad\\udcffname.h"]["points"] == "0.00"
    alone = cw("grade", "1", odd)
    assert alone.returncode == 0 and b"bad\\udcffname.h is a link" in alone.stdout


def test_a_fault_of_the_grader_costs_nobody_points(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(one, "grade", lambda *_: 1 // 0)
    (tmp_path / "mine.h").write_text(RIGHT["folded"])
    with pytest.raises(LabError, match="the grader failed at this submission.*ZeroDivisionError"):
        course.grade("1", tmp_path / "mine.h", None, 1, False, False, None, 0, True)
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_ctrl_c_loses_nothing_and_leaves_nothing(tmp_path):
    folder, out = tmp_path / "class", tmp_path / "out.csv"
    folder.mkdir()
    (folder / "a.h").write_text(RIGHT["mixed"])
    (folder / "b.h").write_text(WRONG["sleeps"][0])
    command = [str(TOP / "cw"), "grade", "1", str(folder), "--class", "--csv", str(out), "--jobs", "1", "--no-boot"]
    environment = {**os.environ, "TMPDIR": os.environ.get("TMPDIR", "/tmp")}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr and "practice streams of seed 1" in process.stderr.readline()
        assert "1 of 2: a.h: 90.00" in process.stderr.readline()
        time.sleep(1.5)  # the other one is being slept through
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert "1 of 2 are graded and kept; the same command goes on" in process.stderr.read()
    kept = list(tmp_path.glob("out.csv.scores/*.json"))
    assert len(kept) == 1 and json.loads(kept[0].read_text())["score"]["score"] == 90
    (folder / "b.h").write_text(RIGHT["folded"])
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert result.returncode == 0 and "1 of 2 are graded already" in result.stderr
    assert {row["points"] for row in rows(out).values()} == {"90.00"}


def test_json_is_in_gradescopes_form(cw, tmp_path):
    path = tmp_path / "mine.h"
    path.write_text(RIGHT["folded"])
    result = cw("grade", "1", path, "--no-boot", "--json")
    found = json.loads(result.stdout)
    assert found["score"] == 90 == sum(test["score"] for test in found["tests"])
    assert sum(test["max_score"] for test in found["tests"]) == 100
    assert {test["status"] for test in found["tests"]} == {"passed", "failed"}
    assert all({"name", "number", "output", "visibility"} <= set(test) for test in found["tests"])


@pytest.mark.parametrize("words", [["--class"], ["--csv", "x.csv"], ["--class", "--csv", "x.csv", "--json"]])
def test_half_a_class_is_refused(cw, tmp_path, words):
    result = cw("grade", "1", tmp_path, *words)
    assert result.returncode == 125 and b"--class --csv OUT.csv" in result.stderr


@pytest.mark.parametrize("more", [[], ["--class", "--csv", "/dev/null/x.csv"]])
def test_a_lab_of_which_all_is_seen_in_booted_machines_is_not_graded_without(cw, tmp_path, more):
    """Points of which none can be had would be no score."""
    (tmp_path / "pathcache.c").write_text("")
    result = cw("grade", "6", tmp_path, "--no-boot", *more)
    assert result.returncode == 125 and not result.stdout
    assert b"lab 6" in result.stderr and b"leave --no-boot out" in result.stderr


def test_the_other_labs_have_points_without_boots():
    assert [number for number in labs.numbers() if not can_judge(labs.find(number), boots=False)] == ["6"]


@pytest.mark.parametrize("number", ["1", "0"])
def test_a_key_and_a_seed_are_refused_together(cw, tmp_path, number):
    """One of them would be ignored: the scores were not those of the streams that were asked for."""
    (tmp_path / "mine.h").write_text(RIGHT["folded"])
    key = setup_course(tmp_path / "course")
    result = cw("grade", "1", tmp_path / "mine.h", "--no-boot", "--key", key, "--seed", number)
    assert result.returncode == 125 and not result.stdout
    assert b"--seed" in result.stderr and b"--key" in result.stderr and b"one of them" in result.stderr
