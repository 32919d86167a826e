"""Cells without a machine: programs that are compared on this host itself, several of them in one run or a run each."""

from __future__ import annotations

import fcntl
import json
import os
import re
from dataclasses import replace

import pytest

from lab.base.paths import LabError
from lab.build.setup import need_lab
from lab.kept import files, page
from lab.kept import keep as keeping
from lab.kept.check import SHORT, of_length
from lab.kept.form import Kept, lines, read
from lab.kept.keep import keep
from lab.measure import host
from lab.report.command import gather
from lab.sweep import command, plan, progress
from lab.sweep.command import Request, sweep
from lab.sweep.plan import Plan, on_host
from lab.sweep.store import Store
from lab.sweep.validate import load

TEXT = """
name = "programs"
title = "Two programs"
reference = "slow"
seeds = [1, 2]

[machine]
host = true

[[kernel]]
name = "slow"
words = {{ system = "slow" }}

[[kernel]]
name = "quick"
words = {{ system = "quick" }}

[[workload]]
name = "turns"
cases = ["create", "read"]
run = ["/program", "/data", {run}]
add = ["{program}:/program", "{data}:/data"]

[[measure]]
name = "time"
over = "median"
from = "metric:cpu"
"""
# Three runs of each system in turn: 1 to 3 of the quick one, ten times that of the slow one; reading takes a hundredth more.
PROGRAM = """#!/bin/sh
cat "$1" > copy || exit 3
for run in 1 3 2; do for system in ${2:-slow quick}; do for case in create read; do
	zero= extra=
	[ $system = slow ] && zero=0
	[ $case = read ] && extra=.01
	echo "{\\"system\\":\\"$system\\",\\"case\\":\\"$case\\",\\"run\\":$run,\\"cpu\\":$run$zero$extra}"
done; done; done
exit $3
"""


@pytest.fixture(autouse=True)
def lock(tmp_path, monkeypatch):
    """The file by which those who time something on this host wait for one another: what others time has nothing to do with tests."""
    path = tmp_path / "timing.lock"
    monkeypatch.setattr(host, "lock_file", lambda: path)
    return path


@pytest.fixture
def experiment(tmp_path):
    """Writes the experiment, its job with more words; gives its path."""
    need_lab()
    program, data = tmp_path / "program", tmp_path / "data"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    data.write_text("data\n")

    def write(run: str = '""'):
        path = tmp_path / "programs.toml"
        path.write_text(TEXT.format(program=program, data=data, run=run))
        return path

    return write


def means(path, results) -> dict[tuple[str, str], float]:
    (section,) = gather([str(path)], False, results, False)
    (table,) = section.tables
    return {(row.kernel, row.place.name): row.ours.mean for row in table.rows if row.ours}


WANTED = {("slow", "create"): 20, ("slow", "read"): 20.01, ("quick", "create"): 2, ("quick", "read"): 2.01}


@pytest.mark.parametrize(("run", "cells"), [('""', 2), ('"{system}"', 4)])
def test_one_run_of_all_in_turn_and_a_run_of_each_say_the_same(experiment, tmp_path, run, cells, capsys):
    path = experiment(run)
    assert sweep(Request([str(path)], results=tmp_path / "r", jobs=2)) == 0
    assert f"{cells} cells: 0 recorded already" in capsys.readouterr().out
    assert means(path, tmp_path / "r") == WANTED
    assert sweep(Request([str(path)], results=tmp_path / "r")) == 0
    assert f"{cells} cells: {cells} recorded already" in capsys.readouterr().out
    with Store(tmp_path / "r") as store:
        cell = next(cell for _, cell in store.cells("programs", "reduced") if cell)
    assert (cell.kind, cell.qemu, cell.stats, cell.virtual_ns) == ("exit", "", {}, None) and cell.config["host"]
    assert cell.config["tools"].keys() == {"compiler"}, "neither musl nor busybox is in it"
    assert cell.config["system"]["kernel"] == os.uname().release and cell.config["checked"] is True
    assert [len(cell.config["load_average"][end]) for end in ("start", "end")] == [3, 3]
    assert re.fullmatch(rf"\S*/program \S*/data {'(slow|quick)' if cells == 4 else chr(39) * 2}", cell.command)


def test_a_program_that_fails_is_a_failed_cell(experiment, tmp_path, capsys):
    path = experiment('"", "5"')
    assert sweep(Request([str(path)], results=tmp_path / "r")) == 1
    assert "exit: the job failed with status 5" in capsys.readouterr().out


def test_one_that_does_not_end_or_is_not_there(experiment, tmp_path, capsys):
    path = experiment()
    path.write_text(path.read_text().replace("host = true", "host = true\ntimeout = 0.5"))
    (tmp_path / "program").write_text("#!/bin/sh\nsleep 30\n")
    assert sweep(Request([str(path)], results=tmp_path / "r")) == 1
    assert "timeout: it did not end in 0.5 s" in capsys.readouterr().out
    (tmp_path / "program").chmod(0o644)
    assert sweep(Request([str(path)], results=tmp_path / "r", again=True)) == 1
    assert "cannot be run: Permission denied" in capsys.readouterr().out


def test_another_program_another_processor_and_other_data_are_another_run(experiment, monkeypatch):
    path = experiment()

    def ids():
        made = Plan()
        made.add(load(path))
        return set(made.cells)

    known = [ids()]
    assert ids() == known[0]
    (path.parent / "data").write_text("other\n")
    known.append(ids())
    (path.parent / "program").write_text(PROGRAM + "\n")
    known.append(ids())
    monkeypatch.setattr(plan, "host", lambda: "another processor, 2 CPUs")
    known.append(ids())
    assert len(set.union(*known)) == 8, "two seeds, four times"


def test_it_is_kept_and_not_checked_by_running_it_again(experiment, tmp_path, monkeypatch):
    path = experiment()
    assert sweep(Request([str(path)], full=True, results=tmp_path / "r")) == 0
    monkeypatch.setattr(keeping, "revision", lambda: "1" * 40)
    assert keep([str(path)], tmp_path / "r", tmp_path / "kept") == 0
    assert len(files.cells(tmp_path / "kept")) == 2 and not of_length(SHORT, tmp_path / "kept")
    shown = page.page(tmp_path / "kept", tmp_path, [str(path)]).partition("## What all was made with")[2]
    assert re.search(r"\| such a host's load average at a run's start \| \d\S* to \d\S* \| 4 \|", shown)
    assert f"| kernel of a host that timed programs | {os.uname().release} | 4 |" in shown
    assert "| libraries of what was timed | none | 4 |" in shown, "they are scripts"
    assert not re.search(r"^\| (QEMU|busybox|libc) ", shown, re.MULTILINE), "it has nothing of these"


def test_what_was_kept_before_libraries_were_recorded_is_still_read(experiment, tmp_path, monkeypatch):
    path = experiment()
    assert sweep(Request([str(path)], full=True, results=tmp_path / "r")) == 0
    with Store(tmp_path / "r") as store:
        found = [(use, cell) for use, cell in store.cells("programs", "full") if cell]
    older = [
        Kept((use.kernel, use.workload, use.seed), replace(cell, config={name: cell.config[name] for name in cell.config if name not in ("libraries", "system", "load_average", "checked")}))
        for use, cell in found
    ]  # fmt: skip
    files.write("programs", older, tmp_path / "kept")
    assert set(files.cells(tmp_path / "kept")) == {cell.id for _, cell in found}
    shown = page.page(tmp_path / "kept", tmp_path, [str(path)])
    assert "| libraries of what was timed | not recorded | 4 |" in shown and "load average" not in shown


def test_two_sweeps_of_one_host_time_nothing_at_the_same_time(experiment, tmp_path, lock, monkeypatch, capsys):
    other = lock.open("a")
    fcntl.flock(other, fcntl.LOCK_EX)
    waiting, held = progress.Display.waiting, []

    def until_it_ends(display):
        waiting(display)
        other.close()

    def run(*given):
        with lock.open("a") as third, pytest.raises(BlockingIOError):
            fcntl.flock(third, fcntl.LOCK_EX | fcntl.LOCK_NB)
        held.append(given)
        return run_local(*given)

    run_local = command.run_local
    monkeypatch.setattr(progress.Display, "waiting", until_it_ends)
    monkeypatch.setattr(command, "run_local", run)
    assert sweep(Request([str(experiment())], results=tmp_path / "r")) == 0
    assert capsys.readouterr().out.count("waiting: another sweep on this host times a run") == 1
    assert len(held) == 2, "it is taken for each run, so that two sweeps take turns"


def test_what_changes_while_it_is_measured_is_not_recorded(experiment, tmp_path):
    path = experiment()
    (tmp_path / "program").write_text(f"{PROGRAM.replace('exit $3', '')}\necho more >> $1\n")
    with pytest.raises(LabError, match=r"\S*/data changed while the sweep ran"):
        sweep(Request([str(path)], results=tmp_path / "r"))
    with Store(tmp_path / "r") as store:
        assert not store.timings()


def test_a_look_at_the_file_or_at_the_plan_makes_nothing(experiment, tmp_path, monkeypatch, capsys):
    path = experiment()
    path.write_text(path.read_text().replace("[[measure]]", 'make = ["a-goal"]\n\n[[measure]]'))

    def makes(goals):
        raise AssertionError(f"make {goals}")

    monkeypatch.setattr(plan, "made_files", makes)
    assert sweep(Request([str(path)], check=True, results=tmp_path / "r")) == 0
    assert sweep(Request([str(path)], dry_run=True, results=tmp_path / "r")) == 0
    assert "is not there" not in capsys.readouterr().out
    (tmp_path / "program").unlink()
    assert sweep(Request([str(path)], check=True, results=tmp_path / "r")) == 0
    assert "programs: right; 4 runs" in capsys.readouterr().out
    assert sweep(Request([str(path)], dry_run=True, results=tmp_path / "r")) == 0
    said = capsys.readouterr().out
    assert f"{tmp_path}/program is not there: a sweep makes it (make a-goal)" in said and "2 cells: 0 recorded" in said


def test_a_run_that_fills_several_places_is_kept_once(experiment, tmp_path):
    path = experiment()
    assert sweep(Request([str(path)], full=True, results=tmp_path / "r")) == 0
    with Store(tmp_path / "r") as store:
        kept = [Kept((use.kernel, use.workload, use.seed), cell) for use, cell in store.cells("programs", "full")]
    written = lines("programs", kept)
    assert len(kept) == 4 and sum('"cell":' in line for line in written) == 2
    found = list(read("programs", "".join(f"{line}\n" for line in written), "programs.jsonl"))
    assert {one.place for one in found} == {one.place for one in kept}
    assert {one.place: one.cell.results for one in found} == {one.place: one.cell.results for one in kept}


def test_files_to_add_are_made_before_they_are_looked_at(experiment, monkeypatch):
    path = experiment()
    path.write_text(path.read_text().replace("[[measure]]", 'make = ["a-goal"]\n\n[[measure]]'))
    asked = []
    monkeypatch.setattr(plan, "made_files", asked.append)
    Plan().add(load(path))
    assert set(asked) == {("a-goal",)}
    monkeypatch.undo()
    with pytest.raises(LabError, match=r"make no-such-goal failed:\n.*No rule to make target 'no-such-goal'"):
        plan.made_files(("no-such-goal",))


def test_the_guests_paths_are_the_hosts():
    job = ["/bench", "--words", "/words", "/other", "bench"]
    assert on_host(job, ["/tmp/x/hashbench:/bench", "/tmp/words"]) == [
        "/tmp/x/hashbench", "--words", "/tmp/words", "/other", "bench",
    ]  # fmt: skip


def test_a_machines_job_takes_the_words_too(experiment):
    path = experiment('"{system}", "{seed}", "{other}"')
    path.write_text(path.read_text().replace("host = true", 'mem = "128M"'))
    made = Plan()
    made.add(load(path))
    jobs = sorted(json.dumps(cell.job[2:]) for cell in made.cells.values())
    assert jobs == sorted(json.dumps([s, n, "{other}"]) for s in ("slow", "quick") for n in ("1", "2"))
