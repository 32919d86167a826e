"""Kept cells are run again and compared. Each thing that the check has to see is planted once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.kept import check as checking
from lab.kept import files, keep
from lab.kept.check import LONG, SHORT, Drawn, check, draw, of_length
from lab.kept.form import Kept
from lab.sweep import command, plan, runner
from lab.sweep.store import Store
from tests.lab.kept.samples import COMMIT, TEXT, fill, planned, recorded, write

WORD = "a commit"


@pytest.fixture
def kept(tmp_path):
    """(files of experiments by name, the folder of what is kept), made up."""
    path, place = write(tmp_path), tmp_path / "kept"
    list(fill(tmp_path / "r", planned(path)))
    assert keep.keep([str(path)], tmp_path / "r", place) == 0
    return {"small": path}, place


@pytest.fixture
def again(monkeypatch):
    """Runs are not run: they come to what was recorded, with the changes that are put in here."""
    changes: dict = {}
    monkeypatch.setattr(checking, "_run", lambda cell: replace(recorded(cell), **changes))
    return changes


def plant(place, change) -> None:
    """Change every kept cell, as if that had been kept."""
    cells = files.read("small", place)
    files.write("small", [Kept(where, change(cell)) for where, cell in cells.items()], place)


def config(**other):
    return lambda cell: replace(cell, config={**cell.config, **other})


# ---- which cells ---------------------------------------------------------------------------------------------


def test_two_are_drawn_by_the_commit_among_the_short_ones(kept):
    _, place = kept
    cells = of_length(SHORT, place)
    assert (
        len(cells) == 4
        and draw(cells, WORD) == draw(of_length(SHORT, place), WORD)
        and len(set(draw_names(cells, WORD))) == 2
    )
    assert len({tuple(draw_names(cells, str(number))) for number in range(50)}) > 6, "another commit, others"
    assert draw(cells[:1], WORD) == cells[:1]


def draw_names(cells: list[Drawn], word: str) -> list[str]:
    return [one.name for one in draw(cells, word)]


def test_what_cannot_be_run_in_a_minute_is_not_drawn(kept, again):
    experiments, place = kept
    plant(place, lambda cell: replace(cell, seconds=61.0))
    assert check(WORD, place, experiments).skipped == ["no kept cell took 0 to 60 s"]
    assert len(check(WORD, place, experiments, LONG).equal) == 1
    plant(place, lambda cell: replace(cell, seconds=6.0, config=dict(cell.config)))
    assert len(check(WORD, place, experiments).equal) == 2
    assert check(WORD, place, experiments, LONG).skipped == ["no kept cell took 60 to 240 s"]


def test_nothing_is_kept(tmp_path):
    (reason,) = check(WORD, tmp_path / "none").skipped
    assert reason.endswith("none/ keeps no runs yet")


# ---- what is seen ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"virtual_ns": 7}, "virtual_ns was 10000000"),
        ({"results": [{"n": 11}]}, "results[0].n was "),
        ({"results": []}, "results was "),
        ({"cachesim": {"page": {"lookups": 4}}}, "cachesim.page.lookups was 3, is 4"),
        ({"cachesim": {}}, "cachesim.page is not there any more"),
        ({"stats": {"page": {"cache": "page"}}}, "stats.buffer is not there any more"),
    ],
)
def test_every_kind_of_counter_is_compared(kept, again, change, says):
    experiments, place = kept
    again.update(change)
    faults = check(WORD, place, experiments).faults
    assert len(faults) == 2
    for fault, drawn in zip(faults, draw(of_length(SHORT, place), WORD), strict=True):
        assert fault.startswith(f"{drawn.name}: {says}"), fault


def test_a_fault_says_what_to_do(kept, again):
    experiments, place = kept
    again["virtual_ns"] = 7
    plant(place, config(kernel_sha256="f" * 64, machine_sha256=""))
    again["stats"] = {}
    fault = check(WORD, place, experiments).faults[0]
    assert f"Kept of commit {COMMIT}; not as then: the kernel's image." in fault
    assert "./cw run --defconfig lever-" in fault and "./cw keep small; make docs" in fault
    assert "./cw sweep small --full --again --only " in fault


def test_a_run_that_fails_is_a_fault(kept, again):
    experiments, place = kept
    again.update(status="failed", kind="panic", message="planted")
    assert all(": it failed: panic: planted. Kept of" in fault for fault in check(WORD, place, experiments).faults)


@pytest.mark.parametrize("other", ["a" * 64, ""])
def test_of_a_changed_kernel_what_the_caches_do_is_compared(kept, again, other):
    experiments, place = kept
    plant(place, lambda cell: config(machine_sha256=other)(_of_older_sources(cell)))
    again["virtual_ns"] = 7  # time is another
    assert len(check(WORD, place, experiments).equal) == 2
    again["stats"] = {}
    for fault in check(WORD, place, experiments).faults:
        assert ": page.lookups was 1000" in fault and "more than 3% off" in fault and "and 24 more" in fault
        assert "not as then: the sources" in fault


def test_where_nothing_can_be_compared_it_is_skipped(kept, again):
    """Another machine, that counts nothing of caches: Linux beside ours. Of the same one all the rest is compared."""
    experiments, place = kept
    plant(place, lambda cell: replace(cell, stats={}))
    again["stats"] = {}
    assert len(check(WORD, place, experiments).equal) == 2
    plant(place, lambda cell: config(machine_sha256="a" * 64)(cell))
    again["results"] = [{"n": 77}]
    outcome = check(WORD, place, experiments)
    assert not outcome.equal and not outcome.faults and len(outcome.skipped) == 2
    assert all("something else by now, and there are no counters of caches" in reason for reason in outcome.skipped)
    again["status"] = "failed"
    assert len(check(WORD, place, experiments).faults) == 2, "a run that fails is one all the same"


def test_a_fault_says_again_where_the_kept_runs_would_be_taken(kept, again):
    experiments, place = kept
    again["results"] = [{"n": 77}]
    fault = check(WORD, place, experiments).faults[0]
    assert "    ./cw sweep small --full --again; ./cw keep small; make docs" in fault, "of the same identity"
    plant(place, lambda cell: _of_older_sources(cell))
    assert "    ./cw sweep small --full --again; " in check(WORD, place, experiments).faults[0], "of the same machine"
    plant(place, config(machine_sha256="a" * 64))
    again["stats"] = {}
    assert "    ./cw sweep small --full; ./cw keep" in check(WORD, place, experiments).faults[0]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"lookups": 1030}, 0), ({"lookups": 1031}, 1), ({"lookups": 969}, 1), ({"hits": 1100}, 1), ({"objects": 1}, 1),
        ({"inserts": 2000}, 1), ({"hit_steps": 520}, 0), ({"hit_steps": 540}, 1), ({"largest": 9, "misses": 0}, 0),
    ],
)  # fmt: skip
def test_how_far_a_changed_kernel_may_be_off(change, found, monkeypatch):
    monkeypatch.setattr(checking, "FEW", 20)
    was = dict.fromkeys(("lookups", "hits", "inserts", "objects"), 1000) | {"hit_steps": 500, "miss_steps": 300}
    both = [{"stats": {"inode": counts}} for counts in (was, was | change)]
    assert len(list(checking.departures(*both, []))) == found
    assert not list(checking.departures({"stats": {}}, both[0], []))


@pytest.mark.parametrize(
    ("cache", "name", "count", "found"),
    [
        ("page", "hit_steps", 8000, 0), ("page", "hit_steps", 7000, 1), ("page", "hit_steps", 14000, 0),
        ("page", "hit_steps", 15000, 1), ("page", "lookups", 8000, 1), ("buffer", "hit_steps", 8000, 1),
    ],
)  # fmt: skip
def test_steps_may_be_what_another_seed_makes_of_them(cache, name, count, found, monkeypatch):
    """10,000 to 12,000 by seed: 8,000 to 14,000 may be, where the keys hold addresses, and of steps alone."""
    monkeypatch.setattr(checking, "FEW", 20)
    kept = [{"stats": {cache: {"lookups": 9000, "hit_steps": steps}}} for steps in (11000, 10000, 12000)]
    now = {"stats": {cache: {"lookups": 9000, "hit_steps": 11000} | {name: count}}}
    assert len(list(checking.departures(kept[0], now, kept))) == found


def test_few_are_no_departure():
    few, none = ({"stats": {"page": {"lookups": count}}} for count in (checking.FEW, 0))
    assert not list(checking.departures(few, none, []))


def test_a_machine_that_counts_otherwise_is_told_as_such(kept, again):
    experiments, place = kept
    again["virtual_ns"] = 7
    plant(place, _of_older_sources)  # the machine is the same
    faults = check(WORD, place, experiments).faults
    assert len(faults) == 2 and all("QEMU is given what it was given then" in fault for fault in faults)


def _of_older_sources(cell):
    from lab.sweep.plan import identity

    older = {**cell.config, "sources": "0" * 64}
    return replace(cell, config=older, id=identity(older))


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"qemu": "QEMU emulator version 6.0"}, "another QEMU: kept with QEMU emulator version 6.0, here is QEMU"),
        ({"packages": ["dash=0.1"]}, "other packages: kept with dash=0.1"),
        ("compiler", "another compiler: kept with gcc 2.95, here is gcc"),
        ("busybox", "another busybox: kept with gcc 2.95, here is BusyBox"),
        ("libc", "another libc: kept with gcc 2.95, here is musl"),
    ],
)
def test_with_another_version_it_is_skipped_and_said_which(kept, again, other, says):
    from lab.sweep.plan import identity

    experiments, place = kept

    def change(cell):
        new = {"tools": {**cell.config["tools"], other: "gcc 2.95"}} if isinstance(other, str) else other
        changed = {**cell.config, **new}
        return replace(cell, config=changed, id=identity(changed), qemu=changed["qemu"])

    plant(place, change)
    again["virtual_ns"] = 7  # which is no fault then
    outcome = check(WORD, place, experiments)
    assert not outcome.faults and not outcome.equal and len(outcome.skipped) == 2
    assert all(says in reason for reason in outcome.skipped)


def test_what_the_experiment_asks_for_no_longer(kept, again):
    experiments, place = kept
    write(experiments["small"].parent, TEXT.replace("128M", "129M"))
    assert all("asks for another mem by now" in reason for reason in check(WORD, place, experiments).skipped)
    write(experiments["small"].parent, TEXT.replace('"find"', '"other"'))
    assert all("asks for it no longer" in reason for reason in check(WORD, place, experiments).skipped)


# ---- with machines --------------------------------------------------------------------------------------------


@pytest.mark.turns(4)
def test_a_full_run_is_kept_and_counts_the_same_again(tmp_path, monkeypatch, capsys):
    """From a sweep to a check, with nothing made up; then a counter is planted."""
    path, place = write(tmp_path, TEXT.replace("full_seeds = [1, 2]", "full_seeds = [3]")), tmp_path / "kept"
    request = command.Request([str(path)], full=True, results=tmp_path / "r", kept=lambda: keep.kept_cells(place))
    assert command.sweep(request) == 0
    monkeypatch.setattr(keep, "revision", lambda: COMMIT)
    assert keep.keep([str(path)], tmp_path / "r", place) == 0
    cells = files.cells(place)
    assert len(cells) == 2 and all(cell.results == [{"n": 3}] for cell in cells.values())
    assert all(len(cell.config["kernel_sha256"]) == 64 and cell.config["host"] for cell in cells.values())
    assert command.sweep(replace(request, results=tmp_path / "new")) == 0, "nothing is to run"
    _is_taken_over_by_other_sources(request, place, tmp_path, monkeypatch, capsys)
    outcome = check(WORD, place, {"small": path})
    assert len(outcome.equal) == 2 and not outcome.faults and not outcome.skipped

    def one_more(cell):
        stats = {**cell.stats, "inode": {**cell.stats["inode"], "hits": cell.stats["inode"]["hits"] + 1}}
        return replace(cell, stats=stats)

    plant(place, one_more)
    outcome = check(WORD, place, {"small": path})
    assert len(outcome.faults) == 2 and not outcome.equal
    assert all(
        "stats.inode.hits was " in fault and "QEMU is given what it was given then" in fault for fault in outcome.faults
    )


def _is_taken_over_by_other_sources(request, place, folder, monkeypatch, capsys):
    """The same kernels of other sources, as after a change of a comment: recorded, not run, and what is kept stays."""
    kept, before = files.file_of("small", place), files.file_of("small", place).read_text()
    with monkeypatch.context() as patch:
        patch.setattr(plan, "sources_digest", lambda: "of other sources")
        other = replace(request, results=folder / "other")
        (revision,) = {cell.revision for cell in files.cells(place).values()}
        assert command.sweep(other) == 0
        said = capsys.readouterr().out
        assert said.count(f"the same machine as was run of commit {revision[:12]}") == 2, said
        assert keep.keep(request.names, other.results, place) == 0
        assert "small: 0 new; 2 of 2 runs kept" in capsys.readouterr().out and kept.read_text() == before
        with Store(other.results) as store:
            assert all(cell.config["sources"] == "of other sources" for cell in store.by_machine().values())
            assert {cell.revision for cell in store.by_machine().values()} == {revision}
        patch.setattr(runner, "ended_cell", None)  # whatever is run or taken now fails
        assert command.sweep(other) == 0
