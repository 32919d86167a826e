"""What a report says of an experiment, computed from the file and its results; how it looks is for others.

Everything here can be traced: each number has the ids of the cells that it comes from, and a place whose cell
failed or is not there is a fault with its reason, not a hole.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol

from lab.report.figures import Buckets, Chains, Curve, Fault, Misses, Point, Sensitivity
from lab.report.numbers import Ratio, Run, Sample, as_printed, finite, known_mean, limit, of_deviations, ratio, sample
from lab.report.verdicts import Claim, Verdict, Word, judge
from lab.sweep.experiment import CACHES, Expect, Experiment, Histogram, Kernel, Measure, Variant
from lab.sweep.measures import value
from lab.sweep.store import Cell, Use, of_one_source

TOLERANCE = 0.03  # of the reference, below which Santos 2004 takes a difference for chance
REGIONS = (*CACHES, "rest", "total")  # of the memory-cache simulation, and what is shown of each
REGION_COUNTS = (
    "lookups", "instructions", "accesses", "l1_misses", "l2_misses", "l3_misses", "cycles", "l1_misses_per_lookup",
    "cycles_per_lookup",
)  # fmt: skip


class Results(Protocol):
    """Where cells come from: a sweep's file (lab/sweep/store.py), or what is kept of full runs (lab/kept)."""

    path: Path

    def experiments(self) -> list[tuple[str, str]]:
        """Every (experiment, scale) of which there is something."""
        ...

    def cells(self, experiment: str, scale: str) -> list[tuple[Use, Cell | None]]:
        """The places of an experiment with what fills them."""
        ...


@dataclass(frozen=True)
class Place:
    """Where a result stands: a workload on a machine, or a case of it."""

    name: str
    variant: str
    case: str


@dataclass(frozen=True)
class Row:
    """A kernel at a place, in the table of a measure."""

    place: Place
    kernel: str
    is_reference: bool
    ours: Sample | None
    ratio: Ratio | None
    paper: Sample | None
    paper_ratio: Ratio | None
    paper_row: dict[str, Any]  # all that the paper printed, for the fold-out
    missing: str  # what is not there of the runs that were asked for, in words
    verdict: Verdict | None = None  # None: of the reference, without the paper's number, of a demonstration


@dataclass(frozen=True)
class Table:
    """The rows of a measure; `without`: the workloads that do not print it, none of whose runs has it."""

    measure: Measure
    rows: list[Row]
    without: list[str]

    @property
    def places(self) -> list[Place]:
        return list(dict.fromkeys(row.place for row in self.rows))

    @property
    def has_paper(self) -> bool:
        return any(row.paper for row in self.rows)

    def at(self, place: Place) -> list[Row]:
        return [row for row in self.rows if row.place == place]

    def row(self, place: str, kernel: str) -> Row | None:
        """The row of @kernel where @place is the name of the row's place or of a case of its run."""
        return next((row for row in self.rows if row.kernel == kernel and place == row.place.name), None)


@dataclass(frozen=True)
class Judgement:
    """What the paper found, and whether it was found here."""

    expect: Expect
    unit: str
    place: str
    verdict: Verdict | None  # None: of a demonstration
    ratio: Ratio | None
    paper_ratio: Ratio | None

    @property
    def word(self) -> Word | Literal["demonstration"]:
        return self.verdict.word if self.verdict else "demonstration"

    @property
    def reason(self) -> str:
        return self.verdict.said if self.verdict else "figures of a part of the load: only whole runs are judged"


@dataclass
class Section:
    """An experiment's part of a report."""

    experiment: Experiment
    scale: str
    cells: dict[tuple[str, str, int], Cell | None]  # by kernel, variant, seed
    remarks: list[str] = field(default_factory=list)
    file: str = ""  # the experiment's, where it was given by its path
    sensitivities: list[Sensitivity] = field(default_factory=list)  # lab/report/sensitivity.py, once it is whole

    @property
    def full(self) -> bool:
        return self.scale == "full"

    @property
    def judged(self) -> bool:
        """Only whole loads are: what runs a part of one is a demonstration, and has figures but no verdicts."""
        return self.full or self.experiment.whole

    @cached_property
    def variants(self) -> list[Variant]:
        return self.experiment.variants(self.full)

    @cached_property
    def seeds(self) -> list[int]:
        """Those that were swept: ./cw sweep may have been told others than the file's."""
        variants = {variant.name for variant in self.variants}
        kernels = {kernel.name for kernel in self.experiment.kernel}
        swept = {seed for kernel, variant, seed in self.cells if kernel in kernels and variant in variants}
        return sorted(swept) or self.experiment.seeds_at(self.full)

    @cached_property
    def places(self) -> list[Place]:
        return [Place(case, variant.name, case) for variant in self.variants for case in variant.cases]

    @cached_property
    def tables(self) -> list[Table]:
        return [_table(self, measure) for measure in self.experiment.measure]

    @cached_property
    def judgements(self) -> list[Judgement]:
        return list(_judgements(self))

    @cached_property
    def histograms(self) -> list[Buckets]:
        return [_buckets(self, wanted) for wanted in self.experiment.histogram]

    @cached_property
    def chains(self) -> list[Chains]:
        return list(_chains(self))

    @cached_property
    def misses(self) -> list[Misses]:
        return list(_misses(self))

    @cached_property
    def curves(self) -> list[Curve]:
        return list(_curves(self))

    @cached_property
    def faults(self) -> list[Fault]:
        return list(_faults(self))

    @property
    def revisions(self) -> list[str]:
        return sorted({cell.revision for cell in self.cells.values() if cell})

    @property
    def qemus(self) -> list[str]:
        return sorted({cell.qemu for cell in self.cells.values() if cell and cell.qemu})

    def runs(self, kernel: str, variant: str) -> list[tuple[int, Cell | None]]:
        """What was asked for of @kernel on @variant."""
        return [(seed, self.cells.get((kernel, variant, seed))) for seed in self.seeds]

    def good(self, kernel: str, variant: str) -> list[tuple[int, Cell]]:
        return [(seed, cell) for seed, cell in self.runs(kernel, variant) if cell and cell.ok]


def collect(store: Results, experiment: Experiment, full: bool) -> Section | None:
    """What @store has of @experiment; None if no sweep of it began."""
    scale = "full" if full else "reduced"
    found: list[tuple[Use, Cell | None]] = store.cells(experiment.name, scale)
    if not found:
        return None
    section = Section(experiment, scale, {(use.kernel, use.workload, use.seed): cell for use, cell in found})
    section.remarks = list(_remarks(section))
    return section


def _remarks(section: Section) -> Iterator[str]:
    """What a reader must know of the results as a whole."""
    if len(section.revisions) > 1:
        shown = ", ".join(f"{short_revision(one)} ({count} runs)" for one, count in sorted(_counted(section).items()))
        mixed = (
            "What runs is the same in all of them."
            if of_one_source(section.cells)
            else "Differences between kernels may be differences between revisions."
        )
        yield f"The runs are of {len(section.revisions)} revisions: {shown}. {mixed}"
    if any(revision.endswith("-dirty") for revision in section.revisions):
        yield "Some runs are of a checkout with changes that are in no commit (-dirty): the revision alone does not repeat them."
    if len(section.qemus) > 1:
        yield f"The runs are of {len(section.qemus)} versions of QEMU: {', '.join(section.qemus)}."
    kernels = {kernel.name for kernel in section.experiment.kernel}
    known = {(k, variant.name, seed) for k in kernels for variant in section.variants for seed in section.seeds}
    strange = [key for key in section.cells if key not in known]
    if strange:
        names = "; ".join(sorted({f"{kernel}, {variant}, seed {seed}" for kernel, variant, seed in strange}))
        yield f"The results have {len(strange)} runs that the experiment's file does not ask for (it was changed since): {names}."
    asked = sorted(section.experiment.seeds_at(section.full))
    if section.seeds != asked:
        yield f"The sweep was of the seeds {_listed(section.seeds)}; the file's are {_listed(asked)}."
    pairs = [f"{one.name} {one.builds:.1%}" for one in section.experiment.measure if one.builds and section.judged]
    if pairs:
        yield f"Layouts of one kernel were compared (lever-layout), which differed by up to: {', '.join(pairs)}. Kernels of different images are held to that; others may differ by more."
    if section.experiment.keep_at(section.full) == "middle" and len(section.seeds) < 4:
        yield "The least and the greatest of the runs are to be left out, and there are few."
    if section.faults:
        yield f"{len(section.faults)} of {len(section.seeds) * len(section.variants) * len(section.experiment.kernel)} runs gave no result; the list of them says why."


def _listed(seeds: list[int]) -> str:
    return ", ".join(map(str, seeds))


def _counted(section: Section) -> Counter[str]:
    return Counter(cell.revision for cell in section.cells.values() if cell)


def short_revision(revision: str) -> str:
    """Ten digits, and whether there were changes."""
    return revision[:10] + ("-dirty" if revision.endswith("-dirty") and len(revision) > 10 else "")


def _table(section: Section, measure: Measure) -> Table:
    experiment = section.experiment
    places = section.places
    if not measure.of_case:
        places = list(dict.fromkeys(Place(place.variant, place.variant, "") for place in places))
    rows: list[Row] = []
    without = [place for place in places if _is_without(section, measure, place)]
    for place in [one for one in places if one not in without]:
        reference = _ours(section, measure, experiment.reference, place)[0]
        paper_reference = _paper(section, measure, experiment.find_kernel(experiment.reference), place)
        for kernel in experiment.kernel:
            ours, missing = _ours(section, measure, kernel.name, place)
            paper = _paper(section, measure, kernel, place)
            is_reference = kernel.name == experiment.reference
            paper_ratio = as_printed(paper, paper_reference, measure.digit, experiment.smallest)
            if measure.over == "deviation":
                paper_ratio = of_deviations(paper, paper_reference)
            if is_reference and paper_ratio:
                paper_ratio = Ratio(1.0, 1.0, 1.0)
            rows.append(
                Row(
                    place,
                    kernel.name,
                    is_reference,
                    ours,
                    ratio(ours, reference),
                    paper,
                    paper_ratio,
                    kernel.paper_row(place.name),
                    missing,
                )  # fmt: skip
            )
    if section.judged:
        rows = _with_verdicts(rows, section, measure)
    return Table(measure, rows, [place.name for place in without])


def _name(row: Row) -> str:
    return f"{row.kernel}, {row.place.name}"


def _with_verdicts(rows: list[Row], section: Section, measure: Measure) -> list[Row]:
    """Those with a number of the paper's, judged together: they are the comparisons of one table."""
    experiment = section.experiment
    references = {row.place: row.ours for row in rows if row.is_reference}
    compared = [row for row in rows if row.paper_ratio and not row.is_reference]
    claims = [
        Claim(
            row.ours,
            references.get(row.place),
            row.paper_ratio,
            resolution=measure.resolution,
            noise=experiment.noise_at(row.place.name, row.paper_ratio.value if row.paper_ratio else None),
            missing=row.missing,
            untested=experiment.find_kernel(row.kernel).untested.get(row.place.name, ""),
            one_image=_one_image(section, row.place.variant, row.kernel, experiment.reference),
            name=_name(row),
        )
        for row in compared
    ]
    found = dict(zip(map(id, compared), judge(claims, experiment.smallest, measure.builds), strict=True))
    return [replace(row, verdict=found.get(id(row))) for row in rows]


def _one_image(section: Section, variant: str, *kernels: str) -> bool:
    """Whether @kernels are told apart by what they are booted with alone: one image, to the byte."""
    images = {cell.config.get("kernel_sha256") for kernel in kernels for _, cell in section.good(kernel, variant)}
    return len(images) == 1 and None not in images


def _is_without(section: Section, measure: Measure, place: Place) -> bool:
    """Whether runs of @place ended well, and not one of any kernel has the number."""
    cells = [
        (cell, kernel.words)
        for kernel in section.experiment.kernel
        for _, cell in section.good(kernel.name, place.variant)
    ]
    return bool(cells) and all(
        value(measure.source, cell, place.case, measure.over, words) is None for cell, words in cells
    )


def _ours(section: Section, measure: Measure, kernel: str, place: Place) -> tuple[Sample | None, str]:
    """The runs' numbers, and in words what is missing."""
    runs: list[Run] = []
    words = section.experiment.find_kernel(kernel).words
    without: dict[str, list[str]] = {}
    for seed, cell in section.runs(kernel, place.variant):
        found = value(measure.source, cell, place.case, measure.over, words) if cell and cell.ok else None
        number = finite(found)
        if cell and number is not None:
            runs.append(Run(seed, number, cell.id))
        else:
            why = "not run yet" if not cell else f"has no {measure.source}" if cell.ok else cell.kind
            without.setdefault(why, []).append(str(seed))
    missing = (f"seed{'s' if len(seeds) > 1 else ''} {', '.join(seeds)}: {why}" for why, seeds in without.items())
    return sample(runs, section.experiment.keep_at(section.full)), "; ".join(missing)


def _paper(section: Section, measure: Measure, kernel: Kernel, place: Place) -> Sample | None:
    """The paper's mean; its s and n are `s_KEY` and `n_KEY`, for the first measure also `s`, for all also `n`."""
    row = kernel.paper_row(place.name)
    mean = finite(row.get(measure.paper)) if measure.paper else None
    if mean is None:
        return None
    first = measure.paper == section.experiment.measure[0].paper
    s = finite(row.get(f"s_{measure.paper}", row.get("s") if first else None))
    told = row.get(f"n_{measure.paper}", row.get("n"))
    n = finite(told if told is not None or s is None else paper_runs(section.experiment))
    return Sample(mean, s, None if n is None else int(n))


def paper_runs(experiment: Experiment) -> int:
    """How many runs the paper's means are of where its rows do not say: those of --full, which are as the paper's."""
    return len(experiment.seeds_at(True)) - (2 if experiment.keep_at(True) == "middle" else 0)


def _judgements(section: Section) -> Iterator[Judgement]:
    """In the file's order; those of one measure are judged together."""
    prepared = [_claim(section, expect) for expect in section.experiment.expect]
    verdicts: dict[int, Verdict] = {}  # by the claim's place in the file
    for table in section.tables if section.judged else ():
        of_table = {at: one.claim for at, one in enumerate(prepared) if one.table is table}
        found = judge(list(of_table.values()), section.experiment.smallest, table.measure.builds)
        verdicts.update(zip(of_table, found, strict=True))
    for at, one in enumerate(prepared):
        ours = ratio(one.claim.more, one.claim.than)
        yield Judgement(one.expect, one.table.measure.unit, one.place, verdicts.get(at), ours, one.claim.paper)


@dataclass(frozen=True)
class _Prepared:
    expect: Expect
    table: Table
    place: str
    claim: Claim


def _claim(section: Section, expect: Expect) -> _Prepared:
    table = next(table for table in section.tables if table.measure.name == expect.measure)
    place = expect.workload or section.places[0].name
    untold = place in table.without
    if not untold and not any(row.place.name == place for row in table.rows):  # a case, of a measure of the whole run
        place = next((one.variant for one in section.places if one.name == place), place)
    more, than = table.row(place, expect.more), table.row(place, expect.than)
    lacking = [f"{row.kernel}: {row.missing or 'no number'}" for row in (more, than) if row and not row.ours]
    nowhere = f"the runs say nothing of '{place}'" if untold else f"there is no '{place}' at this scale"
    missing = "; ".join(lacking) or nowhere
    if not than or (not more and expect.at_most is None):
        nothing = Claim(None, None, missing=missing, asked=expect.asked, goal=expect.goal, name=expect.text)
        return _Prepared(expect, table, place, nothing)
    ours = more.ours if more else limit(expect.at_most, than.ours)
    theirs = of_deviations if table.measure.over == "deviation" else ratio
    paper = theirs(more.paper if more else None, than.paper)
    largest = math.inf if expect.largest is None else expect.largest
    claim = Claim(
        ours, than.ours, paper, expect.at_least, largest, table.measure.resolution, missing=missing, untested=expect.untested,
        asked=expect.asked, goal=expect.goal, limit=more is None, name=expect.text,
        one_image=more is not None and _one_image(section, than.place.variant, expect.more, expect.than),
    )  # fmt: skip
    return _Prepared(expect, table, place, claim)


def _buckets(section: Section, wanted: Histogram) -> Buckets:
    name = wanted.workload or section.places[0].name
    variant = next((place.variant for place in section.places if place.name == name), "")
    title = wanted.title or f"{wanted.cache.capitalize()} cache of {wanted.kernel}"
    for seed, cell in section.good(wanted.kernel, variant):
        report = cell.stats.get(wanted.cache)
        if isinstance(report, dict) and report.get("histogram"):
            return Buckets(wanted, title, name, cell, seed, report, "")
    return Buckets(
        wanted, title, name, None, None, {}, f"no run of {wanted.kernel} has a report of the {wanted.cache} cache"
    )


def concerned(experiment: Experiment) -> list[str]:
    """The caches that an experiment is about, as its measures and histograms tell; or else all."""
    named: set[str] = {histogram.cache for histogram in experiment.histogram}
    named |= {cache for cache in CACHES for one in experiment.measure if one.source.split(".")[0].endswith(f":{cache}")}
    return [cache for cache in CACHES if cache in named] or list(CACHES)


def _chains(section: Section) -> Iterator[Chains]:
    for variant in section.variants:
        for kernel in section.experiment.kernel:
            good = section.good(kernel.name, variant.name)
            for cache in CACHES:
                reports = [cell.stats[cache] for _, cell in good if isinstance(cell.stats.get(cache), dict)]
                if not reports:
                    continue
                fields = "steps_per_hit expected_steps_per_hit steps_per_miss expected_steps_per_miss lookups hits misses bytes"
                hit, expected_hit, miss, expected_miss, lookups, hits, misses, size = (
                    known_mean([report.get(name) for report in reports]) for name in fields.split()
                )
                structure = str(reports[0].get("structure", ""))
                function = str(reports[0].get("function", ""))
                if function and function != "none":
                    structure = f"{function}, {structure}"
                yield Chains(
                    kernel.name, variant.name, cache, hit, expected_hit, miss, expected_miss, lookups or 0, hits, misses,
                    size or 0, structure, len(reports),
                )  # fmt: skip


def _misses(section: Section) -> Iterator[Misses]:
    for variant in section.variants:
        for kernel in section.experiment.kernel:
            found = [cell.cachesim for _, cell in section.good(kernel.name, variant.name) if cell.cachesim]
            for region in REGIONS:
                regions = [one[region] for one in found if isinstance(one.get(region), dict)]
                names = [name for name in REGION_COUNTS if any(finite(one.get(name)) is not None for one in regions)]
                counts = {name: known_mean([one.get(name) for one in regions]) or 0.0 for name in names}
                if counts:
                    yield Misses(kernel.name, variant.name, region, counts, len(regions))


def _curves(section: Section) -> Iterator[Curve]:
    """Of every measure of results: the places that differ in one number, three or more of them."""
    groups: dict[str, dict[int, Place]] = {}
    for place in section.places:
        match = re.fullmatch(r"(\d+) (\w+)(.*)", place.name)
        if match:
            noun = match[2].removesuffix("s") + "s" + match[3]
            groups.setdefault(noun, {})[int(match[1])] = place
    for noun, places in groups.items():
        for table in section.tables if len(places) >= 3 else ():
            if not table.measure.of_result:
                continue
            kernels = {}
            for kernel in section.experiment.kernel:
                rows = [(count, table.row(place.name, kernel.name)) for count, place in sorted(places.items())]
                kernels[kernel.name] = [Point(count, row.ours, row.paper) for count, row in rows if row]
            yield Curve(table.measure, noun, kernels)


def _faults(section: Section) -> Iterator[Fault]:
    for kernel in section.experiment.kernel:
        for variant in section.variants:
            for seed, cell in section.runs(kernel.name, variant.name):
                if cell is None:
                    yield Fault(kernel.name, variant.name, seed, "missing", "it has not been run yet: ./cw sweep goes on where it was", None)  # fmt: skip
                elif not cell.ok:
                    yield Fault(kernel.name, variant.name, seed, cell.kind, cell.message, cell)
