"""What the papers' chapters say of our results is no stronger than the rows of docs/results.md: verdicts, and how many rows there are of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from lab.base.paths import TOP
from lab.report.verdicts import WORDS

RESULTS = (TOP / "docs/results.md").read_text(encoding="utf-8")
PAPERS = sorted((TOP / "docs/papers").glob("*.md"))
NUMBER = re.compile(r"\d+(?:\.\d+)?")
WEAKER = {"reproduced": {"direction only"}}  # what a chapter may say of a row with this word, besides the word itself


def cells(line: str) -> list[str]:
    return [cell.strip().replace("*", "") for cell in line.strip().strip("|").split("|")]


def tables(text: str) -> Iterator[tuple[list[str], list[list[str]]]]:
    """(heads, rows) of each table."""
    for found in re.findall(r"((?:^\|.*\n)+)", text, re.MULTILINE):
        first, _, *rows = found.splitlines()
        yield cells(first), [cells(row) for row in rows]


def judged() -> Iterator[tuple[float, int, str]]:
    """(ratio, its decimals, word) of every verdict of docs/results.md."""
    for heads, rows in tables(RESULTS):
        ratio = next((heads.index(one) for one in ("our ratio", "ours") if one in heads), None)
        if "verdict" not in heads or ratio is None:
            continue
        for row in rows:
            number = re.match(r"(?:.* = )?(\d+(?:\.\d+)?)(?: |$)", row[ratio])
            if number and row[heads.index("verdict")]:
                yield float(number[1]), len(number[1].partition(".")[2]), row[heads.index("verdict")]


JUDGED = list(judged())


def word_of(cell: str) -> str | None:
    return next((word for word in sorted(WORDS, key=len, reverse=True) if cell.startswith(word)), None)


def told(text: str) -> Iterator[tuple[str, str]]:
    """(ratio, word) of each row of a chapter's table with verdicts."""
    for heads, rows in tables(text):
        for row in rows if heads[-1] == "verdict" and "ours" in heads else ():
            word = word_of(row[-1])
            for ratio in NUMBER.findall(re.sub(r"\[[^]]*\]|;.*", "", row[heads.index("ours")])) if word else ():
                yield ratio, word or ""


def has(ratio: str, word: str) -> bool:
    """Whether a row with this ratio, or its inverse, has the word, or a stronger one."""
    half = 0.51 * 10 ** -len(ratio.partition(".")[2])
    words = {
        one for value, _, one in JUDGED if value and min(abs(value - float(ratio)), abs(1 / value - float(ratio))) <= half
    }  # fmt: skip
    return any(word == one or word in WEAKER.get(one, ()) for one in words)


@pytest.mark.parametrize("path", PAPERS, ids=[path.stem for path in PAPERS])
def test_a_verdict_in_a_chapter_is_that_of_its_row(path):
    assert not [(ratio, word) for ratio, word in told(path.read_text(encoding="utf-8")) if not has(ratio, word)]


def test_chapters_have_verdicts():
    found = [one for path in PAPERS for one in told(path.read_text(encoding="utf-8"))]
    assert len(found) >= 20 and {"reproduced", "direction only", "contradicted", "undecided"} <= {
        word for _, word in found
    }
    assert len(JUDGED) > 400


def test_a_stronger_verdict_is_noticed():
    table = "| | the paper | ours | verdict |\n| --- | --- | --- | --- |\n| open, 8 | 0.88 | 0.7619 [0.7603, 0.7637] | {} |\n"
    assert list(told(table.format("direction only: more"))) == [("0.7619", "direction only")]
    assert has("0.7619", "direction only") and not has("0.7619", "reproduced") and not has("0.7777", "direction only")
    assert list(told(table.format("the same"))) == []


def rows_of(experiment: str, measure: str) -> list[dict[str, str]]:
    """The rows of a measure's table with a number of the paper's."""
    section = re.split(r"^### ", next(one for one in re.split(r"^(?=### )", RESULTS, flags=re.MULTILINE) if one.partition("\n")[0].endswith(f"({experiment})")), flags=re.MULTILINE)[1]  # fmt: skip
    text = re.split(rf"^{re.escape(measure)}\b(?!,)[^\n]*ratios to ", section, flags=re.MULTILINE)[1]
    heads, rows = next(tables(text))
    return [dict(zip(heads, row, strict=True)) for row in rows]


def said(path: str, pattern: str) -> list[float]:
    found = re.search(pattern.replace(" ", r"\s+"), (TOP / path).read_text(encoding="utf-8"))
    assert found, pattern
    return [float(one) for one in found.groups()]


def test_counts_of_table_6_are_those_of_its_rows():
    """Under how many settings it is reproduced, and between which gains."""
    rows = [row for row in rows_of("lever-table6", "throughput") if row["verdict"]]
    assert len(rows) == 4
    kept = [row["under other settings"].split(" of ") for row in rows if row["verdict"] == "reproduced"]
    least, most, of = said(
        "docs/papers/lever-1999.md", r'"reproduced" stays in (\d+) to (\d+) of the (\d+), of the best'
    )
    assert (least, most) == (min(int(one) for one, _ in kept), max(int(one) for one, _ in kept))
    assert f"Of the {of:.0f} other settings {least:.0f} to {most:.0f} keep the word" in RESULTS
    assert all(rest.startswith(f"{of:.0f}: ") for _, rest in kept)
    ends = [float(end) for row in rows for end in row["under other settings"].partition(": ")[2].split(" to ")]
    gains = said("docs/papers/lever-1999.md", r"kernels A to D gain ([\d.]+) to ([\d.]+) %")
    assert gains == pytest.approx([100 * (min(ends) - 1), 100 * (max(ends) - 1)], abs=0.5)


def test_counts_of_table_1_are_those_of_its_rows():
    words = [row["verdict"] for row in rows_of("lever-table1", "throughput") if row["verdict"]]
    pattern = r"Of table 1's (\d+) rows three are reproduced \(.*\), (\d+) are undecided\."
    assert said("docs/papers/lever-1999.md", pattern) == [len(words), words.count("undecided")]
    assert words.count("reproduced") == 3


def test_how_much_runs_of_a_boot_vary():
    ours, theirs = [], []
    for table in range(2, 7):
        for row in rows_of(f"lever-table{table}", "deviation of the runs of a boot"):
            ours += [float(row["ours"].split()[0])]
            theirs += [float(row["paper"].split()[0])] if row["paper"][:1].isdigit() else []
    pattern = (
        r"Runs of one boot vary\*\* by (\d+) to (\d+) scripts an hour in tables 2 to 6, the paper's by (\d+) to (\d+)"
    )
    assert said("docs/papers/lever-1999.md", pattern) == [round(one) for one in (min(ours), max(ours), min(theirs), max(theirs))]  # fmt: skip
