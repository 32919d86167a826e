"""What is kept and was run once more: a later run takes its place where it says something else, wherever it is kept."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.base.paths import LabError
from lab.kept import files
from lab.kept.form import Kept
from lab.kept.keep import keep
from lab.sweep.plan import identity
from lab.sweep.store import Store
from tests.lab.kept.samples import TEXT, fill, planned, recorded, write

TIMED = TEXT.replace('mem = "128M"', 'mem = "128M"\nicount = false')
LATER, MUCH_LATER = "2998-01-01T00:00:00Z", "2999-01-01T00:00:00Z"
OTHER = [{"n": 77.0}]


def run(path, cells, **other) -> None:
    """As if @cells had been run once more."""
    with Store(path) as store:
        for cell in cells:
            store.record(replace(recorded(cell), **other))


def kept(text, folder):
    """(the experiment's file, the folder in which all four of its runs are kept)."""
    path, place = write(folder, text), folder / "kept"
    list(fill(folder / "r", planned(path)))
    assert keep([str(path)], folder / "r", place) == 0
    return path, place


def results(place, name: str = "small") -> list:
    return [cell.results for cell in files.read(name, place).values()]


@pytest.mark.parametrize(("text", "change"), [(TIMED, {}), (TIMED, {"results": OTHER}), (TEXT, {"results": OTHER})])
def test_a_later_run_takes_the_place(tmp_path, capsys, text, change):
    """Of what goes by the host's time whatever it says: that it says the same again is news, too."""
    path, place = kept(text, tmp_path)
    capsys.readouterr()
    run(tmp_path / "r", planned(path)[:3], finished=LATER, **change)
    assert keep([str(path)], tmp_path / "r", place) == 0
    assert "small: 0 new; 4 of 4 runs kept; 3 run again since, in place of the earlier run" in capsys.readouterr().out
    cells = files.cells(place).values()
    assert sum(cell.finished == LATER for cell in cells) == 3
    assert results(place).count(OTHER) == (3 if change else 0)
    assert keep([str(path)], tmp_path / "r", place) == 0
    assert "0 new; 4 of 4 runs kept\n" in capsys.readouterr().out, "once"


@pytest.mark.parametrize(
    ("text", "change"),
    [
        (TEXT, {"finished": LATER}),  # it counts the same
        (TIMED, {"finished": "2001-01-01T00:00:00Z", "results": OTHER}),  # it is older
        (TIMED, {"finished": LATER, "results": OTHER, "status": "failed"}),
    ],
)
def test_what_says_nothing_new_does_not(tmp_path, capsys, text, change):
    path, place = kept(text, tmp_path)
    before = (place / "small.jsonl").read_bytes()
    run(tmp_path / "r", planned(path), **change)
    assert keep([str(path)], tmp_path / "r", place) == 0
    assert "small: 0 new; 4 of 4 runs kept\nnothing is new" in capsys.readouterr().out
    assert (place / "small.jsonl").read_bytes() == before


def test_other_experiments_that_keep_it_have_the_later_one_as_well(tmp_path):
    path, place = kept(TIMED, tmp_path)
    other = write(tmp_path, TIMED, name="other")
    assert keep([str(other)], tmp_path / "r", place) == 0
    run(tmp_path / "r", planned(path), finished=LATER, results=OTHER)
    assert keep([str(path)], tmp_path / "r", place) == 0
    assert results(place) == results(place, "other") == [OTHER] * 4


def test_a_keep_that_ended_between_the_two_leaves_nothing_damaged(tmp_path):
    """Of what goes by the host's time the later one counts, and the same command goes on."""
    path, place = kept(TIMED, tmp_path)
    other = write(tmp_path, TIMED, name="other")
    assert keep([str(other)], tmp_path / "r", place) == 0
    cells = files.read("small", place)
    later = {where: replace(cell, finished=LATER, results=OTHER) for where, cell in cells.items()}
    files.write("small", [Kept(*one) for one in later.items()], place)
    assert all(cell.results == OTHER for cell in files.cells(place).values())
    assert keep([str(other)], tmp_path / "r", place) == 0
    assert results(place, "other") == [OTHER] * 4


def test_of_what_counts_the_same_each_time_two_that_differ_are_still_refused(tmp_path):
    path, place = kept(TEXT, tmp_path)
    other = write(tmp_path, name="other")
    assert keep([str(other)], tmp_path / "r", place) == 0
    cells = files.read("small", place)
    files.write("small", [Kept(where, replace(one, results=OTHER)) for where, one in cells.items()], place)
    with pytest.raises(LabError, match="has other counts there"):
        keep([str(path)], tmp_path / "r", place)


def test_of_an_older_identity_and_the_same_machine(tmp_path, capsys):
    """Sources that make the same machine: what is kept stays, unless the machine was run later and counted otherwise."""
    path, place = kept(TEXT, tmp_path)
    cells = files.read("small", place)

    def older(cell):
        config = {**cell.config, "sources": "0" * 64}
        return replace(cell, config=config, id=identity(config))

    files.write("small", [Kept(where, older(cell)) for where, cell in cells.items()], place)
    assert keep([str(path)], tmp_path / "r", place) == 0
    assert "0 new; 4 of 4 runs kept\n" in capsys.readouterr().out
    run(tmp_path / "r", planned(path), finished=MUCH_LATER, results=OTHER)
    assert keep([str(path)], tmp_path / "r", place) == 0
    assert "4 new, 4 in place of runs with other sources" in capsys.readouterr().out
    assert results(place) == [OTHER] * 4
