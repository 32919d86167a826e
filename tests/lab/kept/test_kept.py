"""What sweeps record of the full size is kept, taken up again, reported; what is damaged is refused, and said where."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from lab.base.paths import TOP, LabError
from lab.build.setup import need_lab
from lab.kept import files, form, page
from lab.kept import keep as keeping
from lab.kept.form import Kept
from lab.kept.keep import keep, kept_cells
from lab.kept.report import kept_results, report_kept
from lab.report.command import sections_of
from lab.run import result
from lab.sweep import command
from lab.sweep.progress import Estimate
from lab.sweep.store import Store
from tests.lab.kept.samples import COMMIT, TEXT, fill, planned, recorded, write

need_lab()


@pytest.fixture
def small(tmp_path):
    """(the experiment's file, the folder in which all four of its runs are kept)."""
    path, place = write(tmp_path), tmp_path / "kept"
    list(fill(tmp_path / "r", planned(path)))
    assert keep([str(path)], tmp_path / "r", place) == 0
    return path, place


def lines(place: Path) -> list[str]:
    return (place / "small.jsonl").read_text().splitlines()


def put(place: Path, text: list[str]) -> None:
    (place / "small.jsonl").write_text("".join(f"{line}\n" for line in text))


# ---- what is kept -------------------------------------------------------------------------------------------


def test_all_that_a_report_reads_comes_back(small):
    path, place = small
    cells = files.read("small", place)
    assert len(cells) == 4
    for cell in planned(path):
        use = cell.uses[0]
        kept, was = cells[use.kernel, use.workload, use.seed], recorded(cell)
        assert kept == replace(was, log="", cachesim={"page": {"lookups": 3}}, finished=kept.finished)
        assert kept.config["tools"].keys() == {"compiler", "busybox", "libc"} and kept.id == cell.id


def test_a_file_is_compact_and_the_same_however_it_came_about(small, tmp_path):
    path, place = small
    before = (place / "small.jsonl").read_bytes()
    kinds = [next(iter(sorted({"kept", "with", "kernel", "cell"} & set(json.loads(line))))) for line in lines(place)]
    assert kinds == ["kept", "with", "kernel", "kernel", "cell", "cell", "cell", "cell"]
    assert keep([str(path)], tmp_path / "r", place) == 0 and (place / "small.jsonl").read_bytes() == before
    files.write("small", [Kept(*one) for one in reversed(files.read("small", place).items())], place)
    assert (place / "small.jsonl").read_bytes() == before


def test_tools_are_named_by_version(small):
    _, place = small
    tools = next(iter(files.cells(place).values())).config["tools"]
    assert tools["compiler"].startswith("gcc ") and tools["busybox"].startswith("BusyBox v1.")
    assert tools["libc"].startswith("musl 1.") and "sha256" in tools["libc"]


def test_what_failed_or_is_in_no_commit_is_not_kept(tmp_path, monkeypatch, capsys):
    path, place = write(tmp_path), tmp_path / "kept"
    first, second, *others = planned(path)
    list(fill(tmp_path / "r", [first], status="failed", kind="panic", message="a test"))
    list(fill(tmp_path / "r", [second], revision=f"{COMMIT}-dirty", checked=True))
    list(fill(tmp_path / "r", others))
    monkeypatch.setattr(keeping, "revision", lambda: f"{COMMIT}-dirty")
    assert keep([str(path)], tmp_path / "r", place) == 1
    assert (
        "2 of 4 runs kept" in (said := capsys.readouterr().out)
        and "1 runs are of sources that are in no commit" in said
    )
    monkeypatch.setattr(keeping, "revision", lambda: "2" * 40)  # now they are, and its identity says: the same ones
    assert keep([str(path)], tmp_path / "r", place) == 0
    assert {cell.revision for cell in files.cells(place).values()} == {COMMIT, "2" * 40}


def test_of_a_checkout_with_changes_is_kept_what_was_looked_at(tmp_path, monkeypatch, capsys):
    """By its identity alone a run is not of a commit: its sources may have been others when it ran."""
    path, place = write(tmp_path), tmp_path / "kept"
    list(fill(tmp_path / "r", planned(path), revision=f"{COMMIT}-dirty"))
    monkeypatch.setattr(keeping, "revision", lambda: "2" * 40)
    assert keep([str(path)], tmp_path / "r", place) == 1 and not files.cells(place)
    assert "4 runs are of a checkout with changes, and were recorded without a look" in capsys.readouterr().out
    list(fill(tmp_path / "r", planned(path), revision=f"{COMMIT}-dirty", checked=True))
    assert keep([str(path)], tmp_path / "r", place) == 0
    kept = files.cells(place).values()
    assert {cell.revision for cell in kept} == {"2" * 40} and not any("checked" in cell.config for cell in kept)


def test_runs_of_other_sources_are_no_part_of_it_and_new_ones_take_their_place(small, tmp_path, capsys):
    path, place = small
    path.write_text(
        path.read_text().replace("find / -xdev", "find /bin -xdev").replace("full_seeds = [1, 2]", "full_seeds = [1]")
    )
    assert keep([str(path)], tmp_path / "r", place) == 0
    assert "0 new; 2 of 2 runs kept; gone" in capsys.readouterr().out, "an older run stays until there is a newer"
    list(fill(tmp_path / "r", planned(path)))
    assert keep([str(path)], tmp_path / "r", place) == 0
    assert "2 new, 2 in place of runs with other sources" in capsys.readouterr().out
    assert {cell.id for cell in files.cells(place).values()} == {cell.id for cell in planned(path)}


def test_a_page_of_results_makes_no_checkout_dirty():
    told = subprocess.run(["git", "status", "--porcelain", "--", ".", *result.OF_RESULTS], cwd=TOP, capture_output=True, text=True)  # fmt: skip
    assert told.returncode == 0 and "results/" not in told.stdout and "docs/results" not in told.stdout


# ---- what is wrong -------------------------------------------------------------------------------------------


def changed_counter(text: list[str]) -> list[str]:
    return [*text[:-1], text[-1].replace('"hit_rate_percent":75.0', '"hit_rate_percent":76.0', 1)]


def changed_version(text: list[str]) -> list[str]:
    return [line.replace("BusyBox v1.", "BusyBox v2.") for line in text]


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (changed_counter, "small.jsonl:8: the line was changed: its sum is another"),
        (changed_version, "small.jsonl:2: the line was changed: its hash is another"),
        (
            lambda text: [*text, text[-1]],
            "small.jsonl:9: reference, find, seed 2 stands in line 8, too: keep one of them",
        ),
        (lambda text: [*text[:-1], text[-1][:400]], "small.jsonl:8: that is no JSON"),
        (lambda text: [*text[:1], *text[2:]], "what it has in common with others stands in no line before it"),
        (lambda text: text[1:], "small.jsonl:1: that is no head"),
        (lambda text: [], "small.jsonl:1: that is no head"),
        (lambda text: [text[0].replace("small", "other"), *text[1:]], "small.jsonl:1: that is no head"),
    ],
)
def test_a_damaged_file_is_refused_by_all_and_left_as_it_is(small, tmp_path, damage, says):
    path, place = small
    text = damage(lines(place))
    assert text != lines(place)
    put(place, text)
    before = (place / "small.jsonl").read_bytes()
    request = command.Request([str(path)], full=True, results=tmp_path / "new", kept=lambda: kept_cells(place))
    for reader in (
        lambda: kept_results([str(path)], place), lambda: keep([str(path)], tmp_path / "r", place),
        lambda: command.sweep(request), lambda: page.page(place, names=[str(path)]),
    ):  # fmt: skip
        with pytest.raises(LabError) as caught:
            reader()
        assert says in str(caught.value) and "git checkout" in str(caught.value)
    assert (place / "small.jsonl").read_bytes() == before


def test_a_file_that_was_cut_off(small):
    _, place = small
    whole = (place / "small.jsonl").read_text()
    (place / "small.jsonl").write_text(whole[:-1])
    with pytest.raises(LabError, match="small.jsonl:8: the file ends in the middle of a line"):
        files.cells(place)


def test_an_identity_is_that_of_the_configuration(small):
    """A cell under the kernel of another: every line is as it was written, and yet it is wrong."""
    _, place = small
    text = lines(place)
    line = json.loads(text[-1])
    line.pop("sum")
    line["of"] = json.loads(text[4])["of"]
    assert line["of"] != json.loads(text[-1])["of"]
    put(place, [*text[:-1], form._text({**line, "sum": form._digest(line)})])
    with pytest.raises(LabError, match="its id is not that of its configuration"):
        files.cells(place)


def test_a_cell_of_two_experiments_has_the_same_counts_in_both(small, tmp_path):
    path, place = small
    other = write(tmp_path, name="other")
    assert keep([str(other)], tmp_path / "r", place) == 0
    assert len(files.cells(place)) == 4 and files.names(place) == ["other", "small"]
    cells = files.read("other", place)
    where = next(iter(cells))
    cells[where] = replace(cells[where], virtual_ns=5)
    files.write("other", [Kept(*one) for one in cells.items()], place)
    with pytest.raises(LabError, match="is another experiment's cell, too, and has other counts there"):
        files.cells(place)


# ---- a full run begins with it --------------------------------------------------------------------------------


def test_what_is_kept_is_not_run_again(small, tmp_path, capsys, monkeypatch):
    path, place = small
    cells = files.read("small", place)
    files.write("small", [Kept(*one) for one in list(cells.items())[:3]], place)
    ran = []

    def run(request, todo, display, jobs, known):
        ran.extend(todo)
        return iter([(cell, recorded(cell)) for cell in todo])

    def nothing(*_):
        raise AssertionError("this was to run nothing")

    request = command.Request([str(path)], full=True, jobs=2, results=tmp_path / "new", kept=lambda: kept_cells(place))
    monkeypatch.setattr(command, "_cells", nothing)
    assert command.sweep(replace(request, dry_run=True)) == 0
    with Store(tmp_path / "new") as store:
        assert not store.timings(), "a dry run records nothing"
    said = capsys.readouterr().out
    assert "4 cells: 3 recorded already (3 taken from results/), 1 to run, 2 at a time" in said
    assert "about 5 s; a guess: like no run that was timed on such a machine" in said
    monkeypatch.setattr(command, "_cells", run)
    monkeypatch.setattr(command, "closing", lambda cells: _Closing(cells))
    assert command.sweep(request) == 0 and [cell.id for cell in ran] == [next(reversed(cells.values())).id]
    assert "./cw keep" in capsys.readouterr().out
    with Store(tmp_path / "new") as store:
        found = [cell for _, cell in store.cells("small", "full")]
    assert len(found) == 4 and all(found)
    ran.clear()
    assert command.sweep(replace(request, again=True)) == 0 and len(ran) == 4, "unless it is asked for"
    ran.clear()
    assert command.sweep(replace(request, full=False, results=tmp_path / "reduced")) == 0 and len(ran) == 2


class _Closing:
    def __init__(self, cells):
        self.cells = cells

    def __enter__(self):
        return self.cells

    def __exit__(self, *_):
        pass


def test_an_estimate_says_when_it_is_a_guess(tmp_path):
    cells = planned(write(tmp_path))
    with Store(tmp_path / "r") as store:
        far = Estimate(store, [recorded(cells[0])])
        here = Estimate(store, [recorded(cells[0], host=result.host())])
    assert (far.rest(cells, 1), far.guessed(cells)) == (20.0, 4)
    assert here.guessed(cells) == 0, "they are of one kind: the same job on the same machine"
    far.learn(cells[1], 4.0)
    assert far.guessed(cells) == 0


# ---- nothing is lost ------------------------------------------------------------------------------------------


def test_an_interrupted_keep_goes_on(small, tmp_path, monkeypatch, capsys):
    path, place = small
    other = write(tmp_path, TEXT.replace("full_seeds = [1, 2]", "full_seeds = [1, 2, 3]"), name="other")
    list(fill(tmp_path / "r", planned(other)))
    before = (place / "small.jsonl").read_bytes()
    replace_file = Path.replace

    def interrupted(self, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        keep([str(path), str(other)], tmp_path / "r", place)
    assert "small: 0 new" in (said := capsys.readouterr().out) and "the same command goes on from there" in said
    assert [one.name for one in place.iterdir()] == ["small.jsonl"] and (place / "small.jsonl").read_bytes() == before
    monkeypatch.setattr(Path, "replace", replace_file)
    assert keep([str(path), str(other)], tmp_path / "r", place) == 0
    assert len(files.read("other", place)) == 6


def test_a_full_disk_leaves_what_is_kept(small, tmp_path):
    path, place = small
    inside = (
        f"mount -t tmpfs -o size=12k none {tmp_path}/disk || exit 77; cp {place}/* {tmp_path}/disk; cd {TOP};"
        f'.venv/bin/python3 -c "from pathlib import Path; from lab.kept.keep import keep; import sys\n'
        f"try: keep(['{path}'], Path('{tmp_path}/r'), Path('{tmp_path}/disk'))\n"
        f'except Exception as e: print(e)"; cp {tmp_path}/disk/* {tmp_path}/after; ls -A {tmp_path}/disk'
    )
    for name in ("disk", "after"):
        (tmp_path / name).mkdir()
    cells = files.read("small", place)
    files.write("small", [Kept(*one) for one in list(cells.items())[:1]], place)
    before = (place / "small.jsonl").read_bytes()
    assert len(before) < 12000
    done = subprocess.run(["unshare", "--mount", "sh", "-c", inside], capture_output=True, text=True, check=False)
    if done.returncode == 77 or "not permitted" in done.stderr:
        pytest.skip("mounting is not permitted here")
    assert (
        "cannot be written: the disk is full. It is as it was" in done.stdout and "same command again" in done.stdout
    ), done
    assert (tmp_path / "after/small.jsonl").read_bytes() == before and done.stdout.endswith("\nsmall.jsonl\n")


# ---- what is shown --------------------------------------------------------------------------------------------


def test_a_report_of_what_is_kept(small, tmp_path, capsys, monkeypatch):
    path, place = small
    monkeypatch.setenv("PATH", "/nonexistent")  # neither compiler nor QEMU
    report_kept([str(path)], output=tmp_path / "out", place=place)
    text = (tmp_path / "out/report.txt").read_text()
    assert (
        "(small; whole loads; all 4 runs)" in text
        and "all 4 runs of 1 experiments, the full size" in capsys.readouterr().out
    )
    assert "whole loads; all 4 runs ·" in (tmp_path / "out/report.html").read_text()


def test_what_is_asked_for_twice_is_shown_once(small, tmp_path):
    path, place = small
    names = [str(path), str(path), str(path.parent / "." / path.name)]
    assert len(sections_of(kept_results(names, place), names, False, True)) == 1
    report_kept(names, output=tmp_path / "out", place=place)
    assert (tmp_path / "out/report.txt").read_text().count("A small experiment (") == 1


def test_a_report_says_which_runs_are_of_an_earlier_form_of_the_experiment(small, tmp_path, capsys):
    """What is kept of a load that was edited is of another load: until it is run anew that has to be seen."""
    path, place = small
    report_kept([str(path)], output=tmp_path / "out", place=place)
    assert "by now" not in capsys.readouterr().out
    for old, new in (
        ("find / ", "find /bin "),
        ('"128M"', '"64M"'),
        ('"lever-inode-12bit"', '"lever-inode-12bit"\ncmdline = "maxcpus=1"'),
    ):
        path.write_text(TEXT.replace(old, new))
        report_kept([str(path)], output=tmp_path / "out", place=place)
        said, shown = capsys.readouterr().out, page.page(place, tmp_path, [str(path)])
        of = "2 of 4 runs: 12 bits, find: seeds 1, 2" if "cmdline" in new else "all of its 4 runs"
        assert f"ask for other runs by now:\n  small: {of}\n" in said and "Not kept yet" not in said
        assert f"**Of an earlier form of the experiment:** {of}." in shown


def test_a_report_says_what_is_missing_and_calls_nothing_full_that_is_not(small, tmp_path, capsys):
    path, place = small
    empty = write(tmp_path, TEXT.replace("find / ", "find /usr "), name="empty")
    cells = files.read("small", place)
    del cells["12 bits", "find", 2]
    files.write("small", [Kept(*one) for one in cells.items()], place)
    report_kept([str(path), str(empty)], output=tmp_path / "out", place=place)
    said = capsys.readouterr().out
    assert "small: 1 of 4 runs: 12 bits, find: seed 2\n" in said and "empty: all of its 4 runs" in said
    for name in ("report.txt", "report.html"):
        written = (tmp_path / "out" / name).read_text()
        assert "whole loads; 3 of 4 runs" in written and "all 4 runs" not in written
    assert "3 of 8 runs; nothing of empty (4 runs)" in (tmp_path / "out/report-small.html").read_text()
    shown = page.page(place, tmp_path, [str(path), str(empty)])
    assert "**Missing:** 1 of 4 runs: 12 bits, find: seed 2." in shown and "whole loads; 3 of 4 runs" in shown
    first_screen, heading, rest = shown.partition("\n## What it comes to\n")
    first_screen += rest.partition("\n## ")[0]
    assert heading and " verdicts** on what the papers say, from 3 of 8 runs:\n" in first_screen
    assert "\nNo full run is kept yet of A small experiment (`empty`, 4 runs).\n" in first_screen


def test_nothing_is_kept(tmp_path):
    path = write(tmp_path)
    with pytest.raises(LabError, match="keeps no runs of .*small.toml yet: ./cw sweep .*small.toml --full makes them, ./cw keep .*small.toml keeps"):  # fmt: skip
        report_kept([str(path)], place=tmp_path / "none")
    with pytest.raises(LabError, match="yet: ./cw sweep lever-word lever-miss --full makes them, ./cw keep lever-word lever-miss keeps"):  # fmt: skip
        kept_results(["lever-word", "lever-miss", "lever-word"], tmp_path / "none")
    with pytest.raises(LabError, match="yet: ./cw reproduce all --full makes them, ./cw keep all keeps"):
        kept_results([], tmp_path / "none")
    assert "**Nothing is kept yet.**" in page.page(tmp_path / "none", tmp_path, [str(path)])


def test_the_page_of_results(small, tmp_path):
    path, place = small
    assert "Nothing is written yet on what differs" in page.page(place, tmp_path, [str(path)])
    (tmp_path / "small.md").write_text("Measured: [so](../lab/claims.md).\n")
    shown = page.page(place, tmp_path, [str(path)])
    assert "Measured: [so](lab/claims.md).\n\n## What all was made with\n" in shown and "**Missing" not in shown
    assert "| find | 12 bits | 20 n=20 | 20.15 s=0.07071 n=2 | 2.000 | 1.985 [1.927, 2.051] | reproduced |" in shown
    assert f"| commit | {COMMIT} | 4 |" in shown and "| libc | musl 1." in shown and "[Table \\| 1](#" in shown


def test_a_text_by_hand_leaves_rows_to_be_counted(small, tmp_path):
    """By their verdicts; what cannot be counted is no text."""
    path, place = small
    by_hand = tmp_path / "small.md"
    by_hand.write_text("{n: reproduced} of {n: rows} is, {n: contradicted} are not.\n")
    assert "\n\n1 of 1 is, 0 are not.\n" in page.page(place, tmp_path, [str(path)])
    for wrong in ("steps: rows", "m: rows", "n: reproducible", "n: reproduced kept", "n: reproduced ratios"):
        by_hand.write_text(f"{{{wrong}}}\n")
        with pytest.raises(LabError, match=f"small.md: {{{wrong}}} counts nothing: "):
            page.page(place, tmp_path, [str(path)])


def test_the_table_of_paths_has_its_histogram():
    """That of direct lookup, which not every kernel has: an experiment may name it like the other four."""
    (section,) = sections_of(kept_results(["tsai-space"]), ["tsai-space"], False, True)
    (found,) = section.histograms
    assert sum(found.buckets) == found.report["buckets"] and found.report["objects"] > 1000, found.missing
    assert any(one.cache == "path" for one in section.chains), "and its steps stand beside the others'"


@pytest.mark.check
def test_the_page_is_as_results_make_it():
    assert page.page() == page.PAGE.read_text(encoding="utf-8"), "run `make docs`"


def test_by_hand_is_written_of_experiments_that_there_are():
    there = {path.stem for path in (TOP / "experiments").glob("*.toml")}
    assert {path.stem for path in page.BY_HAND.glob("*")} <= there and set(files.names()) <= there
