"""./cw report on made-up results: what is computed, what is not hidden, and its text, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace

import pytest

from lab.build.setup import need_lab
from lab.report import export, words
from lab.report.text import plain
from lab.sweep.store import Store, Use
from tests.lab.report.report_samples import CURVE, HOSTILE, TEXT, experiment, section

need_lab()


def table(found, name):
    return next(one for one in found.tables if one.measure.name == name)


def lines(found):
    return list(csv.DictReader(io.StringIO(export.as_csv([found]))))


def test_ratios_are_those_of_the_kept_means(tmp_path):
    found = section(tmp_path / "r")
    row = table(found, "throughput").row("16 scripts", "twice")
    assert row.ours.mean == 1020 + 3  # of seeds 2, 3, 4
    assert [run.seed for run in row.ours.dropped] == [1, 5]
    assert row.ours.s == 1.0
    assert row.ratio.value == 1023 / 1003
    assert not row.ratio.paired  # where runs are left out
    everything = table(section(tmp_path / "all", TEXT.replace('"middle"', '"all"')), "throughput").row(
        "16 scripts", "twice"
    )
    assert everything.ratio.paired and everything.ours.n == 5
    assert everything.ratio.high - everything.ratio.low < row.ratio.high - row.ratio.low
    assert row.paper_ratio.value == pytest.approx(4380.8 / 4282.8)
    assert row.paper.n == 7 and table(found, "throughput").row("16 scripts", "plain").paper.n == 3  # five less two
    assert row.verdict.word == "reproduced"


def test_s_in_a_papers_row_belongs_to_the_first_measure(tmp_path):
    row = table(section(tmp_path / "r"), "steps").row("16 scripts", "twice")
    assert (row.paper.s, row.paper.n) == (None, 7)  # its row says n
    assert table(section(tmp_path / "o"), "steps").row("16 scripts", "plain").paper.n is None
    named = TEXT.replace("steps = 0.242", "steps = 0.242, s_steps = 0.5, n_steps = 4")
    row = table(section(tmp_path / "n", named), "steps").row("16 scripts", "twice")
    assert (row.paper.s, row.paper.n) == (0.5, 4)


def test_what_did_not_test_it_is_not_judged(tmp_path):
    """The numbers stay; the verdict says why there is none. Of another kernel's row there is one."""
    untested = TEXT.replace("n = 7 }", 'n = 7 }\nuntested = { "16 scripts" = "nothing was looked up" }', 1)
    untested = untested.replace("at_least = 2.0", 'at_least = 2.0\nuntested = "no chains were walked"')
    found = section(tmp_path / "r", untested)
    row = table(found, "throughput").row("16 scripts", "twice")
    assert (row.verdict.word, row.verdict.reason) == ("not measured", "nothing was looked up")
    assert row.ours.mean == 1023 and row.ratio.value == 1023 / 1003
    assert table(found, "throughput").row("16 scripts", "four times").verdict.word == "left open"
    first, second, *_ = found.judgements
    assert (first.verdict.word, first.verdict.reason) == ("not measured", "no chains were walked")
    assert second.verdict.word != "not measured"


def test_a_papers_deviations_have_an_interval(tmp_path):
    """Of rows and of expectations alike; 30 to 12 of seven and three runs is noise."""
    text = TEXT.replace("s = 29.96,", "s = 29.96, deviation = 29.96, n = 3,").replace(
        "s = 12.09,", "s = 12.09, deviation = 12.09,"
    )
    text += """
[[measure]]
name = "deviation"
better = "lower"
paper = "deviation"
over = "deviation"
from = "metric:scripts_per_hour"

[[expect]]
text = "plain varies more"
measure = "deviation"
more = "plain"
than = "twice"
"""

    def twice(store):
        for _, cell in store.cells("sample", "reduced"):
            (line,) = cell.results
            store.record(replace(cell, results=[line, line | {"scripts_per_hour": line["scripts_per_hour"] + 5}]))

    found = section(tmp_path / "r", text, change=twice)
    row = table(found, "deviation").row("16 scripts", "twice")
    assert row.paper_ratio.low < 1 < row.paper_ratio.high
    paper = found.judgements[-1].paper_ratio
    assert paper.low < 1 < paper.high


def test_a_verdict_needs_the_papers_effect_above_its_noise(tmp_path):
    """4290.0 s=21.9 against 4282.8 s=29.96 is noise."""
    assert table(section(tmp_path / "r"), "throughput").row("16 scripts", "four times").verdict.word == "left open"


def test_verdicts(tmp_path):
    found = section(tmp_path / "r").judgements
    assert [one.word for one in found] == ["reproduced", "direction only", "direction only"]
    assert found[0].ratio.value == 2.0
    assert found[1].ratio.value == 4.0
    assert "0.75 times" in found[1].reason


def test_what_failed_is_shown_and_not_in_the_means(tmp_path):
    found = section(tmp_path / "r", failed=("twice",))
    row = table(found, "throughput").row("16 scripts", "twice")
    assert row.ours is None and row.ratio is None
    assert row.missing == "seeds 1, 2, 3, 4, 5: panic"
    assert [one.word for one in found.judgements] == ["not measured", "direction only", "not measured"]
    assert {(fault.kernel, fault.kind) for fault in found.faults} == {("twice", "panic")}
    text = plain([found])
    assert text.count("twice, 16 scripts, seed 3: panic: the kernel panicked: a test") == 1
    assert "5 of 15 runs gave no result" in text
    assert "| booted" in text


def test_what_has_not_been_run_is_shown(tmp_path):
    found = section(tmp_path / "r", absent=("plain",))
    text = plain([found])
    assert "plain, 16 scripts, seed 1: missing: it has not been run yet" in text
    assert all(row.ratio is None for row in table(found, "throughput").rows)
    assert "no run of plain has a report of the buffer cache" in text


def test_a_failed_seed_leaves_the_others_and_they_are_no_pairs(tmp_path):
    def fail(store):
        for use, cell in store.cells("sample", "reduced"):
            if (use.kernel, use.seed) == ("twice", 3):
                store.record(replace(cell, status="failed", kind="hang", message="no sign of life"))

    found = section(tmp_path / "r", TEXT.replace('"middle"', '"all"'), change=fail)
    rows = table(found, "throughput")
    row = rows.row("16 scripts", "twice")
    assert [run.seed for run in row.ours.kept] == [1, 2, 4, 5]
    assert not row.ratio.paired and rows.row("16 scripts", "four times").ratio.paired
    assert row.missing == "seed 3: hang"
    assert words.note(row, rows) == "not paired; seed 3: hang"
    assert len(found.faults) == 1


@pytest.mark.parametrize("bad", [None, "12", True, math.nan])
def test_a_number_that_is_none_is_missing(tmp_path, bad):
    def spoil(store):
        for use, cell in store.cells("sample", "reduced"):
            if (use.kernel, use.seed) == ("twice", 3):
                store.record(replace(cell, results=[cell.results[0] | {"scripts_per_hour": bad}]))

    row = table(section(tmp_path / "r", change=spoil), "throughput").row("16 scripts", "twice")
    assert row.missing == "seed 3: has no metric:scripts_per_hour"


def test_mixed_revisions_and_changed_checkouts_are_pointed_out(tmp_path):
    def mix(store):
        cells = store.cells("sample", "reduced")
        store.record(replace(cells[0][1], revision="1" * 40 + "-dirty", qemu="QEMU emulator version 7.2.0"))

    assert not section(tmp_path / "same").remarks
    text = plain([section(tmp_path / "r", change=mix)])
    assert "2 revisions" in text and "-dirty" in text and "2 versions of QEMU" in text


@pytest.mark.parametrize("other", [{}, {"sources": "others"}, {"add": {"program:/program": "another"}}])
def test_what_runs_is_the_same_only_with_the_same_programs(tmp_path, other):
    def mix(store):
        for number, (_, cell) in enumerate(store.cells("sample", "reduced")):
            config = {**cell.config, "sources": "these", "add": {"program:/program": "one"}}
            changed = replace(
                cell, revision=f"{min(number, 1)}" * 40, config={**config, **(other if not number else {})}
            )
            store.record(changed)

    (remark,) = (one for one in section(tmp_path / "r", change=mix).remarks if "2 revisions" in one)
    assert ("What runs is the same" in remark) == (not other), remark


def test_results_that_the_file_no_longer_asks_for_are_pointed_out(tmp_path):
    def more(store):
        (use, cell), *_ = store.cells("sample", "reduced")
        store.plan({replace(use, kernel="gone"): cell.id}, whole=False)

    assert any("gone, 16 scripts, seed 1" in remark for remark in section(tmp_path / "r", change=more).remarks)


def test_a_sweep_of_other_seeds_is_reported_as_it_is(tmp_path):
    def others(store):
        cells = store.cells("sample", "reduced")
        store.plan({use: cell.id for use, cell in cells if use.seed in (2, 4)})

    found = section(tmp_path / "r", change=others)
    assert found.seeds == [2, 4] and not found.faults
    assert words.sweep_command(found) == "./cw sweep experiments/sample.toml --seeds 2,4"
    assert "The sweep was of the seeds 2, 4; the file's are 1, 2, 3, 4, 5." in found.remarks
    assert table(found, "throughput").row("16 scripts", "twice").ours.n == 2


def test_no_sweep_is_no_section(tmp_path):
    from lab.report.collect import collect

    with Store(tmp_path / "r") as store:
        assert collect(store, experiment(), False) is None


def test_every_run_has_its_command(tmp_path):
    text = plain([section(tmp_path / "r")])
    loop = "for seed in 1 2 3 4 5; do ./cw run --icount --defconfig lever-a -- workload sdm --scripts 16 --seed $seed; done"
    assert loop in text
    assert "0" * 40 in text and "QEMU emulator version 10.0.0" in text
    assert "again: ./cw sweep experiments/sample.toml" in text


def test_commands_that_differ_in_more_than_the_seed_are_printed_each(tmp_path):
    def other(store):
        for use, cell in store.cells("sample", "reduced"):
            if (use.kernel, use.seed) == ("twice", 3):
                store.record(replace(cell, command=cell.command + " --more"))

    found = words.commands(section(tmp_path / "r", change=other))
    assert len([command for kernel, _, command in found if kernel == "twice"]) == 5
    assert len([command for kernel, _, command in found if kernel == "plain"]) == 1


def test_a_seed_in_quotes_is_not_left_to_the_shell(tmp_path):
    def quoted(store):
        for _, cell in store.cells("sample", "reduced"):
            command = cell.command.replace("./cw run", "./cw run --cmdline 'quiet a=1'")
            store.record(replace(cell, command=command))

    assert all("$seed" not in command for _, _, command in words.commands(section(tmp_path / "r", change=quoted)))


def test_the_histogram_is_that_of_one_run(tmp_path):
    (found,) = section(tmp_path / "r").histograms
    assert found.seed == 1
    assert sum(found.buckets) == 1024 and len(found.expected) == 17
    figures = {name.split(" (")[0]: (ours, paper) for name, ours, paper in words.figures(found)}
    assert figures["buckets"] == ("1024", "16384")
    assert figures["largest bucket"] == ("16", "116")


def test_counts_in_names_are_a_curve_and_santos_table(tmp_path):
    (found,) = section(tmp_path / "r", CURVE, "curve").curves  # of the metric; the time is one for all cases
    assert found.noun == "threads"
    assert [point.count for point in found.kernels["A"]] == [1, 2, 16]
    rows = words.tolerance_rows(found.kernels["A"], found.kernels["B"])
    # A is 50 and B 51, and the seeds' mean of 2 on top.
    assert rows[0] == ["1", "52.00", "53.00", "+1.92", "+1.00", "1.56", "", "+1.38"]
    assert rows[2][-1] == "+5.32"


@pytest.mark.parametrize(("factor", "mark"), [(1.0299, ""), (1.0301, "*"), (0.9701, ""), (0.9699, "*")])
def test_a_difference_above_the_tolerance_is_marked(factor, mark):
    from lab.report.collect import Point
    from lab.report.numbers import Sample

    (row,) = words.tolerance_rows(
        [Point(1, Sample(1000.0, 1.0, 3), None)], [Point(1, Sample(1000.0 * factor, 1, 3), None)]
    )
    assert row[6] == mark


def test_what_is_of_a_run_stands_there_once_whatever_its_cases(tmp_path):
    found = section(tmp_path / "r", CURVE, "curve")
    assert [place.name for place in table(found, "time").places] == ["sdet"]
    assert [place.name for place in table(found, "throughput").places] == ["1 thread", "2 threads", "16 threads"]


def test_an_expectation_of_a_case_finds_the_run(tmp_path):
    text = CURVE + '\n[[expect]]\ntext = "the same"\nmeasure = "time"\nworkload = "2 threads"\nmore = "A"\nthan = "B"\n'
    (found,) = section(tmp_path / "r", text, "curve").judgements
    assert (found.word, found.place) == ("demonstration", "sdet")  # the file does not say that it is whole


def test_one_expectation_of_several_places_and_kernels(tmp_path):
    """Each is judged by itself, and its text has their names; a limit stands in the place of a kernel."""
    whole = CURVE.replace("seeds =", "whole = true\nseeds =", 1)
    several = '\n[[expect]]\ntext = "{more} is ahead of A, {workload}"\nmeasure = "throughput"\nworkload = ["1 thread", "2 threads"]\nmore = "B"\nthan = "A"\ngoal = true\n'
    limit = '\n[[expect]]\ntext = "at most {n}"\nmeasure = "throughput"\nat_most = {n}\nthan = "A"\ngoal = true\n'
    text = whole + several + limit.replace("{n}", "53") + limit.replace("{n}", "51.5")
    found = section(tmp_path / "r", text, "curve").judgements
    assert [one.expect.text for one in found[:2]] == ["B is ahead of A, 1 thread", "B is ahead of A, 2 threads"]
    assert [one.place for one in found] == ["1 thread", "2 threads", "1 thread", "1 thread"]
    # A's mean is 52 [49.5, 54.5], B's 53 in the same seeds.
    assert found[0].word == "aim reached" and found[0].ratio.paired
    assert [one.word for one in found[2:]] == ["aim undecided", "aim undecided"]
    assert found[2].ratio.value == 53 / 52 and found[2].expect.above == "53"
    far = whole + limit.replace("{n}", "60") + limit.replace("{n}", "40")
    found = section(tmp_path / "far", far, "curve").judgements
    assert [one.word for one in found] == ["aim reached", "aim missed"]


def test_what_two_builds_differ_by_is_nothing_to_kernels_of_one_image(tmp_path):
    """The gain is 2 %: of two images as large as what layouts differed by, of one it is the parameter's."""
    text = TEXT.replace('from = "metric:', 'builds = 0.025\nfrom = "metric:')

    def images(*names):
        def change(store):
            for use, cell in store.cells("sample", "reduced"):
                image = dict(zip(("plain", "twice", "four times"), names, strict=True))[use.kernel]
                store.record(replace(cell, config={**cell.config, "kernel_sha256": image}))

        return change

    two = section(tmp_path / "two", text, change=images("a", "b", "a"))
    one = section(tmp_path / "one", text, change=images("a", "a", "b"))
    told = [[row.verdict.word for row in table(each, "throughput").rows if row.verdict] for each in (two, one)]
    unknown = section(tmp_path / "none", text)
    assert table(unknown, "throughput").row("16 scripts", "twice").verdict.word == "undecided"
    assert told[0][0] == "undecided" and told[1][0] == "reproduced"
    assert [each.judgements[2].word for each in (two, one)] == ["undecided", "direction only"]
    remark = "Layouts of one kernel were compared (lever-layout), which differed by up to: throughput 2.5%."
    assert any(said.startswith(remark) and "others may differ by more" in said for said in two.remarks)
    assert not any("Layouts" in said for said in section(tmp_path / "no", TEXT).remarks)


def test_a_workload_that_does_not_tell_a_measure_is_named_once(tmp_path):
    text = TEXT + '\n[[workload]]\nname = "silent"\nrun = ["workload", "lat"]\n'

    def silence(store):
        for use, cell in store.cells("sample", "reduced"):
            if use.workload == "silent":
                store.record(replace(cell, results=[{"workload": "lat", "ns_per_call": 1.0}]))

    found = table(section(tmp_path / "r", text, change=silence), "throughput")
    assert (found.without, [place.name for place in found.places]) == (["silent"], ["16 scripts"])
    assert words.interval_note(found).endswith("silent: the workload does not tell this.")


def test_nothing_to_divide_by(tmp_path):
    text = TEXT.replace("stats:buffer.steps_per_lookup", "stats:buffer.steps_per_miss")
    found = section(tmp_path / "r", text)
    assert found.judgements[0].word == "undecided"
    assert "both have 0" in found.judgements[0].reason


def test_csv(tmp_path):
    found = lines(section(tmp_path / "r"))
    assert len(found) == 2 * 3
    row = next(one for one in found if (one["kernel"], one["measure"]) == ("twice", "throughput"))
    assert (row["mean"], row["s"], row["n"]) == ("1023.0", "1.0", "3")
    assert (row["seeds"], row["dropped_seeds"]) == ("2 3 4", "1 5")
    assert float(row["ratio"]) == 1023 / 1003
    assert float(row["ratio_low"]) < 1023 / 1003 < float(row["ratio_high"])
    assert (row["paired"], row["verdict"], row["paper_n"]) == ("no", "reproduced", "7")
    assert len(row["cells"].split()) == 5
    assert row["revisions"] == "0" * 40


def test_csv_of_what_is_missing_has_the_row_with_the_reason(tmp_path):
    row = next(one for one in lines(section(tmp_path / "r", failed=("twice",))) if one["kernel"] == "twice")
    assert (row["mean"], row["ratio"]) == ("", "")
    assert "seeds 1, 2, 3, 4, 5: panic" in row["missing"]


def test_json_has_everything_and_is_the_same_again(tmp_path):
    found = section(tmp_path / "r", failed=("four times",))
    text = export.as_json([found], "results.sqlite")
    assert text == export.as_json([found], "results.sqlite")
    (one,) = json.loads(text)["experiments"]
    rows = {row["kernel"]: row for row in one["tables"][0]["rows"]}
    assert rows["twice"]["ratio"]["value"] == 1023 / 1003
    assert [run["value"] for run in rows["twice"]["ours"]["kept"]] == [1022, 1023, 1024]
    assert (rows["twice"]["verdict"], rows["twice"]["reason"]) == ("reproduced", "direction and size")
    assert rows["four times"]["verdict"] == "not measured" and "panic" in rows["four times"]["reason"]
    ids = {run["id"] for run in one["runs"]}
    assert {run["cell"] for run in rows["twice"]["ours"]["kept"]} <= ids
    assert [fault["kernel"] for fault in one["faults"]] == ["four times"] * 5
    assert one["faults"][0]["log"] == "booted\n"
    assert one["judgements"][0]["verdict"] == "reproduced"
    assert one["histograms"][0]["report"]["buckets"] == 1024


def test_hostile_names_stay_what_they_are(tmp_path):
    text = TEXT.replace('"twice"', json.dumps(HOSTILE)).replace('"16 scripts"', json.dumps("[bold]16[/bold]"))
    found = section(tmp_path / "r", text)
    said = plain([found], width=600)
    assert said.count("<script>alert(1)</script>") == said.count(HOSTILE) >= 6  # in tables, judgements, commands
    assert said.count("[bold]16[/bold]") >= 6
    assert HOSTILE in {row["kernel"] for row in lines(found)}
    assert HOSTILE in export.as_json([found], "r").encode().decode("unicode_escape") or json.loads(
        export.as_json([found], "r")
    )


def test_full_results_are_others(tmp_path):
    text = TEXT.replace("seeds = [1, 2, 3, 4, 5]", "seeds = [1, 2, 3, 4, 5]\nfull_seeds = [1, 2, 3, 4, 5, 6, 7]")
    found = section(tmp_path / "r", text, full=True)
    assert found.scale == "full"
    row = table(found, "throughput").row("16 scripts", "twice")
    assert row.ours.n == 5 and row.paper.n == 7
    assert table(found, "throughput").row("16 scripts", "plain").paper.n == 5


@pytest.fixture
def filled(tmp_path):
    """A file of results, and the experiment's file beside it."""
    (tmp_path / "sample.toml").write_text(TEXT)
    section(tmp_path / "r.sqlite")
    return tmp_path


def test_the_command_prints_and_writes(cw, filled):
    out = filled / "out"
    done = cw(
        "report", filled / "sample.toml", "--results", filled / "r.sqlite", "--csv", filled / "x.csv", "--output", out
    )
    assert done.returncode == 0, done.stderr
    assert "✓ reproduced: plain takes twice the steps" in done.stdout.decode()
    assert f"again: ./cw sweep {filled / 'sample.toml'}" in done.stdout.decode()
    assert (filled / "x.csv").read_bytes() == (out / "report.csv").read_bytes()
    assert json.loads((out / "report.json").read_text())["version"] == 1
    assert "✓ reproduced: plain takes twice the steps" in (out / "report.txt").read_text()
    assert not list(out.glob("*.new"))


def test_json_to_stdout_is_nothing_but_json(cw, filled):
    done = cw("report", filled / "sample.toml", "--results", filled / "r.sqlite", "--json", "-")
    assert json.loads(done.stdout)["experiments"][0]["name"] == "sample"


def test_errors_say_what_to_do(cw, filled):
    done = cw("report", filled / "sample.toml", "--results", filled / "none.sqlite")
    assert done.returncode == 125 and b"run ./cw sweep first" in done.stderr
    done = cw("report", filled / "sample.toml", "--results", filled / "r.sqlite", "--full")
    assert done.returncode == 125
    assert b"no results of sample at full size" in done.stderr
    assert b"there are results at reduced size: leave out --full" in done.stderr
    done = cw("report", "--results", filled / "r.sqlite")
    assert done.returncode == 125 and b"sample (reduced size)" in done.stderr
    done = cw("report", filled / "nothing.toml", "--results", filled / "r.sqlite")
    assert done.returncode == 125 and b"there is no file" in done.stderr
    blocked = filled / "file"
    blocked.write_text("")
    done = cw("report", filled / "sample.toml", "--results", filled / "r.sqlite", "--output", blocked)
    assert done.returncode == 125 and b"cannot be written" in done.stderr


def test_all_leaves_out_with_a_word_what_has_no_file(cw, filled):
    done = cw("report", "--all", "--results", filled / "r.sqlite")
    assert done.returncode == 125
    assert b"sample is left out" in done.stderr


def test_the_places_are_the_stores(tmp_path):
    found = section(tmp_path / "r")
    with Store(tmp_path / "r") as store:
        assert {Use("sample", *key, "reduced") for key in found.cells} == {
            use for use, _ in store.cells("sample", "reduced")
        }
