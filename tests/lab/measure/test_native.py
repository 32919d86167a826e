"""./cw bench native: what is divided by what, what is asked for, and one short run of it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from lab.base.paths import TOP, LabError
from lab.measure import native
from lab.measure.native import HOST, Cell, Figures, Side

KERNEL = Side(native.DEFAULT, Path("native"), "kernel")
LINUX = Side(HOST, Path("native"), "host")


def figures(*rounds: dict[tuple[str, str], float | None]) -> Figures:
    """Rounds with one thread, of {(side, row): ns}, all of the same names."""
    made = Figures(calls={"stat 1": 1, "stat 8": 1, "create+unlink": 3, "dentry cache": 0, native.TRAP: 1})
    made.rounds = [{Cell(side, 1, row, "same"): ns for (side, row), ns in at.items()} for at in rounds]
    return made


def test_of_the_host_each_call_of_a_turn_is_less_a_trap():
    found = figures(
        {(HOST, native.TRAP): 100, (HOST, "create+unlink"): 1000, (HOST, "stat 1"): 150},
        {(HOST, native.TRAP): 200, (HOST, "create+unlink"): 1000, (HOST, "stat 1"): None},
    )
    assert found.values(Cell(HOST, 1, "create+unlink", "same")) == [700, 400]  # each round's own trap
    assert found.values(Cell(HOST, 1, "create+unlink", "same"), gross=True) == [1000, 1000]
    assert found.values(Cell(HOST, 1, "stat 1", "same")) == [50]
    assert found.values(Cell(HOST, 1, native.TRAP, "same")) == [100, 200]


def test_ratios_are_of_one_round():
    found = figures(
        {(HOST, native.TRAP): 100, (HOST, "stat 1"): 300, (native.DEFAULT, "stat 1"): 100},
        {(HOST, native.TRAP): 100, (HOST, "stat 1"): 500, (native.DEFAULT, "stat 1"): 800},
        {(HOST, native.TRAP): 100, (native.DEFAULT, "stat 1"): 7},
    )
    ours, theirs = Cell(native.DEFAULT, 1, "stat 1", "same"), Cell(HOST, 1, "stat 1", "same")
    assert found.ratios(ours, theirs) == [0.5, 2.0]
    data = native.as_data(found, [KERNEL, LINUX], [1])
    rows = {(row["side"], row["row"]): row for row in data["rows"]}
    assert rows[native.DEFAULT, "stat 1"]["of_linux"] == {"median": 1.25, "low": 0.5, "high": 2.0}
    assert rows[native.DEFAULT, "stat 1"]["of_first"] == {"median": 1, "low": 1, "high": 1}
    assert rows[HOST, "stat 1"]["without_trap"]["median"] == 300
    assert native.behind(found, [1], [native.DEFAULT]) == [ours]
    assert native.behind(found, [2], [native.DEFAULT]) == []


def test_a_second_kernel_is_held_against_the_default_one_in_the_same_round():
    second = Side("HASH_STATS=n", Path("native"), "kernel")
    slow, fast = ({(native.DEFAULT, "stat 8"): ns, (second.name, "stat 8"): ns / 2} for ns in (100, 40))
    found = native.as_data(figures(slow, fast), [KERNEL, second], [1])["rows"]
    assert [row.get("of_default") for row in found] == [None, {"median": 0.5, "low": 0.5, "high": 0.5}]
    assert native.columns(second, 1, 1) == [second.name, "of Linux", "of default"]
    assert native.words_of(found[1], second, 1, 1)[2] == "0.50" and len(native.words_of(found[0], KERNEL, 1, 1)) == 2


def test_a_further_component_is_a_seventh_of_what_seven_take():
    found = figures({(native.DEFAULT, "stat 1"): 10, (native.DEFAULT, "stat 8"): 45}, {(native.DEFAULT, "stat 1"): 10})
    assert native.per_component(found, native.DEFAULT, 1, "same") == [5]


def test_what_was_never_together_is_not_shown_as_a_number():
    found = native.as_data(figures({(native.DEFAULT, "stat 1"): None}), [KERNEL], [1])["rows"]
    assert found[0]["ns"] is None
    assert native.shown(None) == native.shown_ratio(None) == "-"
    assert native.shown({"median": 200.0, "low": 150.0, "high": 210.0}) == "200 [dim]±25%[/dim]"


@pytest.mark.parametrize("text", ["", "0", "17", "1,", "1,x", "-1", "1.5"])
def test_threads_are_numbers(text):
    with pytest.raises(LabError, match="give numbers from 1 to 16"):
        native.thread_counts(text)
    assert native.thread_counts("2,1,2") == [2, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--threads", "x"], "--threads x: give numbers from 1 to 16"),
        (["--rounds", "0"], "--rounds 0: give a number from 1 to 1000"),
        (["--ms", "0"], "--ms 0: give a number from 1"),
        (["--files", "3"], "--files 3: give a number from 1000"),
        (["--row", "nothing"], "there is no such row. There are: stat 1"),
        (["--set", "DENTRY_LOCK=none"], "no value of DENTRY_LOCK 'none'. There are:"),
        (["--add", "docs"], "nothing to do with --add"),
        (["--mem", "1G"], "nothing to do with --mem"),
        (["--files", "1000", "boot"], "--files: for ./cw bench native alone"),
    ],
)
def test_bad_arguments_are_refused_with_what_there_is(arguments, message):
    what = [] if arguments[-1] == "boot" else ["native"]
    result = subprocess.run([TOP / "cw", "bench", *what, *arguments], capture_output=True, text=True, check=False)
    assert result.returncode not in (0, 1) and message in result.stderr and "Traceback" not in result.stderr


@pytest.mark.turns(4)
def test_both_kernels_and_the_host_stand_side_by_side():
    command = [
        TOP / "cw",
        "bench",
        "native",
        "--threads",
        "1,2",
        "--rounds",
        "2",
        "--ms",
        "1",
        "--set",
        "DENTRY_LOCK=bucket",
    ]
    command += ["--row", "stat 1", "--row", "stat 8", "--row", "dentry cache"]
    result = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    data = json.loads(result.stdout)
    assert data["kernels"] == {"default": [], "DENTRY_LOCK=bucket": ["DENTRY_LOCK=bucket"]}
    cells = {(row["side"], row["threads"], row["row"], row["place"]) for row in data["rows"]}
    sides = {"default", "DENTRY_LOCK=bucket"}
    wanted = {
        (side, n, row, p)
        for side in (*sides, HOST)
        for n in (1, 2)
        for row in ("stat 1", "stat 8")
        for p in ("same", "own")
    }
    wanted |= {(side, n, "dentry cache", p) for side in sides for n in (1, 2) for p in ("same", "own")}
    assert cells == wanted | {(HOST, n, native.TRAP, "same") for n in (1, 2)}
    alone = [row for row in data["rows"] if row["threads"] == 1]  # with more the host decides what is together
    assert all(row["ns"]["low"] > 0 for row in alone)
    assert {one["side"] for one in data["components"]} == {*sides, HOST}
    shown = subprocess.run([*command, "--threads", "1"], capture_output=True, text=True, check=False)
    assert (
        shown.returncode == 0 and "DENTRY_LOCK=bucket" in shown.stdout and "behind Linux less its traps" in shown.stdout
    )


def test_files_are_counted():
    command = [TOP / "cw", "bench", "native", "--files", "2000", "--ms", "1", "--json"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)["files"]
    assert [(one["side"], one["files"]) for one in found] == [
        (side, n) for side in ("default", HOST) for n in (1000, 2000)
    ]
    assert all(one["stat_ns"] > 0 and (one["bytes"] > 0) == (one["chase_ns"] > 0) for one in found)
    assert all(one["bytes"] > 0 for one in found if one["side"] != HOST)  # what others take is the host's, too


def test_a_host_that_gives_memory_back_is_not_divided_by(capsys: pytest.CaptureFixture[str]):
    """Its objects fell below what they were before the files were made: bytes and fetches are not known."""
    row = {"side": HOST, "steps": 0.0, "inode_ns": 0.0, "stat_ns": 500.0}
    known = row | {"files": 1000, "bytes": 900.0, "chase_ns": 2.0}
    native.print_files([known, row | {"files": 2000, "bytes": 0.0, "chase_ns": 0.0}])
    lines = capsys.readouterr().out.splitlines()
    assert next(line.split() for line in lines if "2000" in line)[2:] == ["-", "500.0", "-", "-", "-", "-"]
