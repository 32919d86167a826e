"""What ./cw report says first: how many verdicts of each word by text and table, in which order, in which words."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from lab.build.setup import need_lab
from lab.report import summary, words
from lab.report.export import as_json
from lab.report.numbers import Ratio, Run, sample
from lab.report.text import STYLES, plain
from lab.report.verdicts import AIMS, WORDS, Verdict
from lab.report.web.page import alone
from lab.sweep.experiment import load
from lab.sweep.toml.files import FOLDER, find
from tests.lab.report import plausible_results
from tests.lab.report.report_samples import CURVE, TEXT, section

need_lab()

ALL = [path.stem for path in sorted(FOLDER.glob("*.toml"))]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Lever's tables with results of all their runs at full size."""
    return plausible_results.sections(tmp_path_factory.mktemp("summary") / "r", plausible_results.TABLES)


def test_the_results_are_those_of_the_whole_tables(tables):
    assert [len(one.cells) for one in tables] == [49, 9, 54, 21, 24, 30]
    assert len({word for one in tables for word in summary.counts(one)}) >= 6, "too few words to test with"


def test_each_verdict_counts(tables):
    """Those of rows and of findings; of runs equal to a hundred-thousandth the later one, where it says the same, does not."""
    for one in tables:
        found = Counter(row.verdict.word for table in one.tables for row in table.rows if row.verdict)
        rows = {
            (table.measure.name, summary._which(row.verdict))
            for table in one.tables
            for row in table.rows
            if row.verdict
        }
        for judgement in one.judgements:
            verdict = judgement.verdict
            again = verdict and verdict.ratio and (judgement.expect.measure, summary._which(verdict)) in rows
            found.update([verdict.word] if verdict and not again else [])
        assert not any(row.verdict and row.verdict.same_as for table in one.tables for row in table.rows)
        assert summary.counts(one) == found
    total = summary.total(tables)
    assert list(total) == list(WORDS), "a word without verdicts is not left out"
    assert sum(total.values()) == sum(sum(summary.counts(one).values()) for one in tables)


def test_aims_of_our_own_are_no_verdicts_on_the_paper(tmp_path):
    """They are told apart as reached and missed, in a line of their own, in every form."""
    aim = '\n[[expect]]\ntext = "{{more}} is ahead by the factor {0}"\nmeasure = "throughput"\nmore = ["twice", "four times"]\nthan = "plain"\ngoal = true\nat_least = {0}\n'
    plain_one = section(tmp_path / "p", TEXT)
    found = section(tmp_path / "r", TEXT + aim.format(1.01) + aim.format(1.03))
    assert summary.total([found]) == summary.total([plain_one])
    assert list(summary.aims([found]).values()) == [2, 1, 0, 0] and sum(summary.aims([plain_one]).values()) == 0
    line = "Aims of our own, of which the papers say nothing, are not among these verdicts: ▲ 2 reached, ▼ 1 missed, △ 0 undecided, ▽ 0 not measured."
    assert words.aims(summary.aims([found])) == line and words.aims(summary.aims([plain_one])) == ""
    assert line in " ".join(plain([found, plain_one]).split())
    told = json.loads(as_json([found], "r"))
    assert told["aims"] == summary.aims([found]) and told["verdicts"] == summary.total([found])
    words_told = [one["verdict"] for one in told["experiments"][0]["judgements"] if one["goal"]]
    assert words_told == ["aim reached", "aim reached", "aim missed", "aim reached"]
    page = alone([found])
    assert line in page and "and what we aim at" in page and line not in alone([plain_one])
    assert 'title="aim reached: 2"' in page and 'title="aim missed: 1"' in page
    tally = page[page.index('<ul class="tally"') : page.index("</ul>")]
    assert "aim" not in tally and "answered" in tally


def test_an_aim_of_a_case_that_no_run_has_is_an_aim_still(tmp_path):
    """A case that came to an experiment after its runs were kept: they ended well, and have no number for it."""
    aim = '\n[[expect]]\ntext = "an aim"\nmeasure = "throughput"\nworkload = "2 threads"\nmore = "B"\nthan = "A"\ngoal = true\n'

    def without(store):
        for _, cell in store.cells("curve", "reduced"):
            store.record(replace(cell, results=[one for one in cell.results if one["case"] != "2 threads"]))

    found = section(tmp_path / "r", CURVE.replace("seeds =", "whole = true\nseeds =", 1) + aim, "curve", change=without)
    assert list(summary.aims([found]).values()) == [0, 0, 0, 1]
    assert summary.total([found])["not measured"] == 0
    assert found.judgements[0].reason == "the runs say nothing of '2 threads'"


def test_every_word_has_a_sign_a_style_and_a_line():
    assert set(words.SIGNS) == set(STYLES) == {*WORDS, *AIMS, "demonstration"} and set(summary.MEANINGS) == set(WORDS)
    assert len(set(words.SIGNS.values())) == len(words.SIGNS)


def test_what_says_the_same_of_the_same_runs_counts_once(tmp_path):
    again = Verdict("reproduced", "", same_as="first")
    found = summary._once(
        [("first", Verdict("reproduced", "")), ("second", again), ("third", replace(again, word="contradicted"))]
    )
    assert list(found) == ["reproduced", "contradicted"]


def test_a_finding_of_a_rows_two_kernels_counts_once(tables):
    """Also where it names them the other way round; of other kernels, or with another word, it counts."""
    ratio = Ratio(1.25, 1.2, 1.3)
    row, swapped = Verdict("reproduced", "", ratio), Verdict("reproduced", "", Ratio(1 / 1.25, 1 / 1.3, 1 / 1.2))
    assert summary._which(row) == summary._which(swapped)
    assert summary._which(row) != summary._which(replace(row, word="direction only"))
    assert summary._which(row) != summary._which(replace(row, ratio=Ratio(1.25, 1.2, 1.31)))


def test_the_order_is_the_papers_and_hash_costs_are_last():
    experiments = [load(find(name)) for name in ALL]
    sections = [_Only(one) for one in experiments]
    found = [one.experiment.name for one in summary.in_order(reversed(sections))]
    oldest = sum(name.startswith("seltzer-") for name in found)
    assert {name.partition("-")[0] for name in found[:oldest]} == {"seltzer"}, "the oldest text first"
    assert {*found[:2]} == {"seltzer-buckets", "seltzer-reread"} and {name.partition("-")[2] for name in found[oldest - 4 : oldest]} == {"today", "today-memory", "today-text", "ycsb"}  # fmt: skip
    alike = [one.experiment.name for one in sections if one.experiment.like]
    assert all(found.index(name) == found.index(name.removesuffix("-4")) + 1 for name in alike)
    found = [name for name in found if name not in alike]
    assert found[oldest : oldest + 7] == [*plausible_results.TABLES, "lever-histograms"]
    assert found[-1] == "lever-hashcost"
    assert found.index("lever-profile") < found.index("lever-shrink") < found.index("lever-inline")
    assert found[-2] == "ladder", "questions of no text stand behind those of the texts"
    newest = [name for name in found if name.startswith("tsai")]
    assert newest == found[-2 - len(newest) : -2] and newest[:4] == ["tsai-table1", "tsai-table2", "tsai-table3", "tsai-figure2"]  # fmt: skip
    found = found[: -2 - len(newest)]
    assert [name for name in found if name.startswith("santos")] == found[-4:]
    assert found[-4:-2] == ["santos-sdet", "santos-sdet-8"]


class _Only:
    """As much of a section as the order asks for."""

    def __init__(self, experiment):
        self.experiment = experiment


def test_texts_are_named_by_author_and_years(tables):
    (text,) = summary.texts(tables)
    assert text.name == "Lever 1999"
    assert [line.name for line in text.lines] == [f"Table {number}" for number in range(1, 7)]
    assert summary.name_of(load(find("lever-sizing"))) == "Section 3.1"
    assert summary.name_of(load(find("lever-shrink"))) == "Section 3.3 and 6"
    assert summary.name_of(load(find("santos-sdet"))) == "Table of SDET results"


def test_the_finding_is_the_papers_greatest_effect(tables):
    row = summary.finding(tables[5])
    assert row.said.startswith("C, scripts: throughput ")  # 4596.2 to 4300.7
    assert row.said.endswith("; paper +6.9\N{NO-BREAK SPACE}%")
    assert row.word in WORDS


def test_a_demonstration_has_no_verdicts(tmp_path):
    found = section(tmp_path / "r", TEXT.replace("whole = true", "whole = false"))
    assert summary.counts(found) == {} and summary.finding(found).word == ""
    assert words.title(found).startswith(
        "A sample of a table (sample; demonstration: figures, no verdicts; all 15 runs"
    )


def test_nothing_is_called_whole_or_full_that_is_not(tmp_path):
    few = plausible_results.sections(tmp_path / "r", ["lever-table2"], seeds=1)[0]
    assert words.extent(few) == "whole loads; 3 of 9 runs"
    part = plausible_results.sections(tmp_path / "p", ["lever-table2"], full=False)[0]
    assert words.extent(part) == "demonstration: figures, no verdicts; all 3 runs"
    for one in (few, part):
        assert "full size" not in plain([one])
    some = section(tmp_path / "s", change=lambda store: store.plan({use: cell.id for use, cell in store.cells("sample", "reduced") if use.seed in (2, 4)}))  # fmt: skip
    assert words.extent(some) == "whole loads; all 6 runs of 2 of 5 seeds"


def test_a_cache_emptier_than_the_papers_is_not_called_full(tmp_path):
    """The sample's has 1024 objects or so, the paper's 37256."""
    text = TEXT.replace('"A full cache"', '"Histogram 9: full cache"')
    (found,) = section(tmp_path / "r", text).histograms
    assert words.histogram_title(found) == "Histogram 9: cache"
    fuller = replace(found, report={**found.report, "objects": 36000})
    assert words.histogram_title(fuller) == "Histogram 9: full cache"


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (-23.7, 24.7, "1.200 too wide"), (0.2, 2.1, "1.200 too wide"), (0.5, 2.1, "1.200 [0.500, 2.100]"),
        (1.1, 1.3, "1.200 [1.100, 1.300]"),
    ],
)  # fmt: skip
def test_an_interval_that_says_nothing_is_not_printed(low, high, shown):
    assert words.quotient(Ratio(1.2, low, high)) == shown
    assert ("too wide" in summary.change(Ratio(1.2, low, high))) == ("too wide" in shown)


def test_an_interval_does_not_reach_below_nothing():
    assert words.interval(Ratio(0.2, -0.1, 0.5)) == "[0.000, 0.500]"
    assert "−1" not in summary.change(Ratio(0.2, -0.1, 0.5))


def test_below_the_table_stands_what_too_wide_is(tmp_path):
    wide = section(tmp_path / "r", TEXT.replace('keep = "middle"', 'keep = "all"'))
    table = wide.tables[0]
    assert "too wide:" not in words.interval_note(table)
    rows = [row if row.is_reference else replace(row, ratio=Ratio(1.0, -23.7, 24.7)) for row in table.rows]
    assert "too wide:" in words.interval_note(replace(table, rows=rows))


def test_changes_are_percents_or_factors():
    assert summary.change(Ratio(1.0188, 1.012, 1.026)) == "+1.9\N{NO-BREAK SPACE}% [+1.2, +2.6]"
    assert summary.change(Ratio(0.9966)) == "−0.34\N{NO-BREAK SPACE}%"
    assert summary.change(Ratio(3.82, 3.7, 3.94)) == "×\N{NO-BREAK SPACE}3.82 [3.70, 3.94]"
    assert summary.change(Ratio(1.64, 1.14, 12.5)) == "×\N{NO-BREAK SPACE}1.64 [1.14, 12.50]"
    assert summary.change(Ratio(1.0, 1.0, 1.0, exact=True)) == "the same"


def test_what_did_not_happen_is_never(tmp_path):
    """The sample's caches have misses without a step; of a deviation, 0 is a figure."""
    found = section(tmp_path / "r", TEXT.replace("stats:buffer.steps_per_lookup", "stats:buffer.removes"))
    table = found.tables[1]
    assert {words.mean_of(row, table.measure) for row in table.rows} == {"never"}
    assert {words.ratio_of(row, table.measure) for row in table.rows} == {"never"}
    assert not words.never(sample([Run(1, 0.0, "a")]), table.measure.model_copy(update={"over": "deviation"}))
    assert not words.never(sample([Run(1, 0.0, "a"), Run(2, 1.0, "b"), Run(3, -1.0, "c")]), table.measure)
    assert (words.steps(0.0, 0), words.steps(0.0, 5), words.steps(1.5, None)) == ("never", "0", "1.5")


def test_the_text_begins_with_the_summary(tables):
    said = plain(list(reversed(tables)))
    first, *rest = said.split("\nagain: ")
    assert len(rest) == len(tables) and first.startswith("All verdicts\n")
    for word, count in summary.total(tables).items():
        assert f"{count:6} {words.SIGNS[word]} {word}: {summary.MEANINGS[word]}\n" in first
    titles = [first.index(f"Table {number}: ") for number in range(1, 7)]
    assert titles == sorted(titles)
    (line,) = (line for text in summary.texts(tables) for line in text.lines if line.name == "Table 2")
    counts = " ".join(f"{words.SIGNS[word]} {count}" for word, count in line.counts.items())
    (row,) = (row for row in first.splitlines() if "Table 2: " in row)
    assert f" {counts} " in row and line.finding.said.split(":")[0][:20] in row


def test_the_text_of_one_experiment_has_no_summary(tables):
    assert "All verdicts" not in plain(tables[:1])
    assert [one.split(" (lever-")[0] for one in plain(tables[:1]).splitlines()[:1]] == [tables[0].experiment.title]
