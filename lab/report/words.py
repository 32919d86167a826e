"""What all forms of a report say alike: numbers, intervals, verdicts, the method in words, the commands of runs."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping

from lab.report.collect import TOLERANCE, Row, Section, Table
from lab.report.figures import Buckets, Outcome, Point, Sensitivity, Standing
from lab.report.numbers import WIDE, Ratio, Sample
from lab.report.verdicts import NOT_MEASURED, Word
from lab.sweep.experiment import ROWS, Measure
from lab.sweep.store import Cell

SIGNS = {
    "reproduced": "✓", "direction only": "↗", "no worse": "≥", "no effect here": "=", "contradicted": "✗", "answered": "◆",
    "undecided": "?", "left open": "○", "not measured": "–", "demonstration": "·",
    "aim reached": "▲", "aim missed": "▼", "aim undecided": "△", "aim not measured": "▽",
}  # fmt: skip
NONE = "–"
NEVER = "never"  # in place of a 0 that is a count of nothing
TOO_WIDE = "too wide"  # in place of an interval that says nothing
DEMONSTRATION = "demonstration: figures, no verdicts"
LOADED = 0.9  # of the paper's objects, from which on a cache of ours may be called full as its

METHOD = (
    "A ratio is the quotient of two means: the kernel's by the reference kernel's. In brackets is its 95 % interval by "
    "Fieller's theorem: all quotients that a t test of the two means does not exclude. Runs of two kernels with the same "
    "seeds, none of which was left out, are pairs, and what the seed does to both is taken out (“paired”, it says below a "
    "table); otherwise, and for the paper, the runs are independent, with Welch's degrees of freedom. The paper's interval is from its s and number of runs.",
    "reproduced: the direction and the size are the paper's. direction only: the direction is; the size is another, or the paper "
    "gives none, or ours is too wide to say. no worse: the paper says that nothing is lost, or no more than so much, and so it is; "
    "two identical kernels would have this word as well. no effect here: our interval has 1 in it and is narrower than the paper's effect, "
    "so it would have been seen. contradicted: the other direction. answered: the paper asks whether it is so, and has no finding. undecided: too wide to tell the paper's effect from none; "
    "the number of seeds that it would take is told. left open: the paper's own interval has 1 in it.",
    "Aims are our own: the paper says nothing of them, and they count among no verdicts on it. aim reached: the whole interval is at least "
    "what was aimed at. aim missed: the whole interval is below it. aim undecided: it lies in the interval.",
    "A direction counts where a t test excludes equal means, by Holm's method over all comparisons of the table, and where the "
    "ratio is farther from 1 than that of two kernels like the reference would be, run with other seeds. A size counts where both "
    "intervals meet and ours is no wider than the paper's effect. Where layouts of one kernel were compared, kernels of different images "
    "are held to what these differed by; others may differ by more. Rows whose runs are equal to a hundred-thousandth are one comparison. "
    "Figures that do not vary with the seed are exact and have no interval.",
    "Only whole loads are judged. What runs a part of one is a demonstration: it has figures and no verdicts.",
    "What rests on cycles is judged again under other settings: all costs of memory halved and doubled, the other memory "
    "presets, instruction cache and TLBs counted or not, and all of these together. Kept is a conclusion whose verdict, or without "
    "verdicts whose direction, is the same. The costs are scaled after the runs: they are factors of counts.",
    "Where the least and the greatest run are left out (keep = middle), mean and s are of the kept ones, as in the "
    "paper; such an s is smaller than that of all runs, so these intervals are somewhat too narrow, theirs as ours.",
)


def kept(one: Sensitivity) -> str:
    """Under how many settings the word is the same."""
    if one.missing or one.measured.word in NOT_MEASURED:
        return NONE
    return f"{len(one.others) - len(one.changed)} of {len(one.others)}"


def range_of(one: Sensitivity) -> str:
    """From the least ratio to the greatest, over all settings."""
    return " to ".join(factor(end.ratio.value) for end in one.ends or () if end.ratio) or NONE


def standing(one: Standing) -> str:
    """How far the conclusions by cycles depend on the simulated processor, in a sentence."""
    alone = f"; {one.alone} were not simulated so" if one.alone else ""
    return (
        f"Of {one.told} directions that rest on simulated cycles {one.direction} stay under all other settings of the memory, "
        f"{one.word} with their word{alone}."
    )


def aims(counts: Mapping[Word, int]) -> str:
    """What came of our own aims, in a sentence; "": there are none."""
    if not any(counts.values()):
        return ""
    said = ", ".join(f"{SIGNS[word]} {count} {word.removeprefix('aim ')}" for word, count in counts.items())
    return f"Aims of our own, of which the papers say nothing, are not among these verdicts: {said}."


def changed(one: Sensitivity) -> str:
    """The settings that have another word, each word with the settings that lead to it."""
    if one.missing:
        return one.missing
    by_word: dict[str, list[str]] = {}
    for outcome in one.changed:
        by_word.setdefault(outcome.word, []).append(outcome.setting)
    return "; ".join(f"{word}: {' | '.join(names)}" for word, names in by_word.items()) or "none"


def of_setting(one: Outcome) -> str:
    """A ratio and the setting that it is of."""
    return f"{factor(one.ratio.value)} ({one.setting})" if one.ratio else NONE


def number(value: float | None) -> str:
    """A mean as tables show it: at least four digits, without a tail of zeros nobody measured."""
    if value is None:
        return NONE
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value)}"
    return f"{value:.1f}" if abs(value) >= 1000 else f"{value:.4g}"


def factor(value: float | None, decimals: int = 3) -> str:
    """A ratio: three decimals or as many as are said, or three digits where it is far from 1."""
    if value is None:
        return NONE
    if value == 0 or 0.1 <= abs(value) < 20:
        return f"{value:.{decimals}f}"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def decimals(one: Ratio) -> int:
    """As many as tell the ends of a narrow interval apart."""
    if one.low is None or one.high is None or one.low >= one.high:
        return 3
    return min(max(3, math.ceil(-math.log10(one.high - one.low)) + 1), 6)


def interval(one: Ratio | None) -> str:
    """[0.998, 1.004]; what does not vary with the seed is exact; or nothing. A quotient cannot be below 0."""
    if one is None or one.low is None or one.high is None:
        return ""
    if one.exact:
        return "exact"
    if not one.telling:
        return TOO_WIDE
    return f"[{factor(max(one.low, 0.0), decimals(one))}, {factor(one.high, decimals(one))}]"


def quotient(one: Ratio | None) -> str:
    return NONE if one is None else f"{factor(one.value, decimals(one))} {interval(one)}".strip()


def never(one: Sample | None, measure: Measure) -> bool:
    """Whether what @measure counts did not happen in any run. A deviation or a z of 0 is a figure like another."""
    if one is None or one.mean != 0 or any(run.value for run in one.kept):
        return False
    return measure.over != "deviation" and not measure.source.endswith(".z")


def ratio_of(row: Row, measure: Measure) -> str:
    """Our ratio of a row."""
    if never(row.ours, measure):
        return NEVER
    return "1" if row.is_reference and row.ratio else quotient(row.ratio)


def mean_of(row: Row, measure: Measure) -> str:
    """Our mean of a row."""
    return NEVER if never(row.ours, measure) else mean_s_n(row.ours)


def mean_s_n(one: Sample | None) -> str:
    """4282.8 s=29.96 n=5, in the papers' form."""
    if one is None:
        return NONE
    s = "" if one.s is None else f" s={number(one.s)}"
    return f"{number(one.mean)}{s}" + ("" if one.n is None else f" n={one.n}")


def _origin(row: Row) -> str:
    """How our interval came about, or why there is none."""
    if not row.ratio or row.is_reference:
        return ""
    return row.ratio.why or ("paired" if row.ratio.paired else "not paired")


def common_note(table: Table) -> str:
    """What all rows of a table would have as a note, if they are of one kind."""
    origins = {origin for row in table.rows if (origin := _origin(row))}
    return origins.pop() if len(origins) == 1 else ""


def note(row: Row, table: Table) -> str:
    """What is to be said of a row: its interval's origin, unless that of all rows is the same; what is missing."""
    origin = "" if common_note(table) else _origin(row)
    return "; ".join(part for part in (origin, row.missing) if part)


def interval_note(table: Table) -> str:
    """Below a table: what the brackets are."""
    common = common_note(table)
    said = ["In brackets: 95 % intervals."]
    if any(row.ratio and row.ratio.why for row in table.rows) and common:
        said = [f"There is no interval of ours: {common}."]
    elif common:
        said = [f"In brackets: 95 % intervals; ours: {common}."]
    if any(
        one and one.low is not None and not one.telling for row in table.rows for one in (row.ratio, row.paper_ratio)
    ):
        said.append(
            f"{TOO_WIDE}: around 1 by a factor of {WIDE:g} or down to 0, which says neither direction nor size."
        )
    if table.without:
        said.append(f"{', '.join(table.without)}: the workload does not tell this.")
    return " ".join(said)


def seeds(row: Row) -> str:
    """Which runs are in the mean, and which were left out."""
    if row.ours is None:
        return NONE
    kept = " ".join(str(run.seed) for run in row.ours.kept)
    dropped = " ".join(str(run.seed) for run in row.ours.dropped)
    return f"{kept} (without {dropped})" if dropped else kept


def heading(measure: Measure, reference: str) -> str:
    """Above the table of a measure."""
    about = [measure.unit, f"{measure.better} is better" if measure.better else ""]
    said = "; ".join(word for word in about if word)
    return f"{measure.name}{f' ({said})' if said else ''}: ratios to {reference}"


def title(section: Section) -> str:
    return f"{section.experiment.title} ({section.experiment.name}; {extent(section)})"


def extent(section: Section) -> str:
    """How much there is of what the paper ran; whole is what has all of its runs."""
    asked = runs_asked(section)
    there = asked - len(section.faults)
    runs = f"all {asked} runs" if there == asked else f"{there} of {asked} runs"
    wanted = len(section.experiment.seeds_at(section.full))
    few = f" of {len(section.seeds)} of {wanted} seeds" if len(section.seeds) < wanted else ""
    return f"{'whole loads' if section.judged else DEMONSTRATION}; {runs}{few}"


def runs_asked(section: Section) -> int:
    return len(section.experiment.kernel) * len(section.variants) * len(section.seeds)


def histogram_title(histogram: Buckets) -> str:
    """As the experiment has it. A cache that is emptier than the paper's full one is not called full."""
    paper = histogram.paper.objects
    if histogram.report and paper and histogram.report.get("objects", 0) < LOADED * paper:
        return re.sub(r"\bfull ", "", histogram.title)
    return histogram.title


def steps(value: float | None, looked_up: float | None) -> str:
    """Steps of a hit or a miss, of which there were so many."""
    return NEVER if looked_up == 0 else number(value)


def commands(section: Section) -> list[tuple[str, str, str]]:
    """(kernel, workload, command) of the runs; runs that differ in nothing but the seed are one loop of the shell."""
    found = []
    for kernel in section.experiment.kernel:
        for variant in section.variants:
            cells = [(seed, cell) for seed, cell in section.runs(kernel.name, variant.name) if cell]
            found += [(kernel.name, variant.name, command) for command in _loop(cells)]
    return found


def _loop(cells: list[tuple[int, Cell]]) -> list[str]:
    if len({cell.command for _, cell in cells}) == 1:  # one run, or one for all seeds: none is in it
        return [cells[0][1].command]
    general = {re.sub(rf"(--seed[ =]|\bseed=){seed}\b", r"\1$seed", cell.command) for seed, cell in cells}
    if len(general) != 1 or "'" in next(iter(general)):  # the shell sets nothing in between quotes
        return [cell.command for _, cell in cells]
    one = general.pop().replace(
        "--result result.json", "--result result-$seed.json"
    )  # or each would overwrite the last
    return [f"for seed in {' '.join(str(seed) for seed, _ in cells)}; do {one}; done"]


def sweep_command(section: Section) -> str:
    """What makes all of an experiment's results anew."""
    command = ["./cw", "sweep", section.file or f"experiments/{section.experiment.name}.toml"]
    if section.full:
        command.append("--full")
    if section.seeds != sorted(section.experiment.seeds_at(section.full)):
        command += ["--seeds", ",".join(map(str, section.seeds))]
    return shlex.join(command)


def tolerance_rows(reference: list[Point], points: list[Point]) -> list[list[str]]:
    """Lines of Santos's table: count, A, B, % diff, diff, tolerance, *, the paper's % diff."""
    rows = []
    for a, b in zip(reference, points, strict=True):
        theirs = f"{100 * (b.paper.mean / a.paper.mean - 1):+.2f}" if a.paper and b.paper and a.paper.mean else ""
        if not a.ours or not b.ours or not a.ours.mean:
            rows.append([str(a.count), *[NONE] * 5, "", theirs])
            continue
        difference, tolerance = b.ours.mean - a.ours.mean, TOLERANCE * a.ours.mean
        mark = "*" if abs(difference) > tolerance else ""
        percent = f"{100 * difference / a.ours.mean:+.2f}"
        shown = [f"{one:.2f}" for one in (a.ours.mean, b.ours.mean)]
        rows.append([str(a.count), *shown, percent, f"{difference:+.2f}", f"{tolerance:.2f}", mark, theirs])
    return rows


def size_name(size: int) -> str:
    return str(size) if size < ROWS - 1 else f">{ROWS - 2}"


def figures(histogram: Buckets) -> list[tuple[str, str, str]]:
    """(name, ours, the paper's or nothing) of what stands above a histogram."""
    report, paper = histogram.report, histogram.paper
    largest = report.get("expected_largest")
    found = [
        ("buckets", report.get("buckets", report.get("trees")), None if paper.buckets is None else sum(paper.buckets)),
        ("objects", report.get("objects"), paper.objects),
        (
            "largest bucket" + ("" if largest is None else f" (expected {largest})"),
            report.get("largest"),
            paper.largest,
        ),
        ("lookups", report.get("lookups"), paper.lookups),
        ("hit rate in %", report.get("hit_rate_percent"), paper.hit_rate),
        ("steps per lookup", report.get("steps_per_lookup"), paper.steps_per_lookup),
        ("z of the buckets against uniform", report.get("bucket_fit", {}).get("z"), None),
    ]
    return [
        (name, number(ours), "" if theirs is None else number(theirs))
        for name, ours, theirs in found
        if isinstance(ours, (int, float))
    ]
