"""The charts of a report; drawing.py makes them.

A kernel has its colour and its mark by its place in the experiment's file, in all charts; the reference is ink. The
colours differ in lightness too, and no chart needs them to be read: rows are labelled, lines have marks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from lab.report import words
from lab.report.collect import Buckets, Chains, Curve, Section, Table, concerned
from lab.report.numbers import Ratio
from lab.report.web.drawing import (
    INK,
    KERNELS,
    MARKS,
    MUTED,
    PAPER,
    RULE,
    Chart,
    draw,
    file_name,
    half_interval,
    label,
    legend,
    legend_key,
    library,
    plain_numbers,
)  # fmt: skip
from lab.report.web.figures import figures
from lab.sweep.experiment import CACHES, ROWS, Experiment

ROW = 0.27  # inches


def colour(experiment: Experiment, kernel: str) -> str:
    return INK if kernel == experiment.reference else KERNELS[_rank(experiment, kernel) % len(KERNELS)]


def mark(experiment: Experiment, kernel: str) -> str:
    return "o" if kernel == experiment.reference else MARKS[_rank(experiment, kernel) % len(MARKS)]


def _rank(experiment: Experiment, kernel: str) -> int:
    """The number of a kernel that is not the reference."""
    return [one.name for one in experiment.kernel if one.name != experiment.reference].index(kernel)


def charts(section: Section, only: str = "") -> dict[str, list[Chart]]:
    """All charts of an experiment by the part of the page that they stand in, or those of the part @only; a measure's
    stand under its name."""
    makers: dict[str, Callable[[], Iterator[Chart]]] = {}
    for number, table in enumerate(section.tables, 1):
        makers[f"measure {table.measure.name}"] = partial(_ratios, section, table, number)
    makers["figures"] = partial(figures, section)
    makers["curves"] = lambda: (_curve(section, curve, number) for number, curve in enumerate(section.curves, 1))
    for number, histogram in enumerate(section.histograms):
        makers[f"histogram {number}"] = partial(_histograms, section, histogram, number + 1)
    makers |= {
        "steps": partial(_steps, section),
        "memory": partial(_memory, section),
        "misses": partial(_misses, section),
    }
    return {part: list(make()) for part, make in makers.items() if only in ("", part)}


@dataclass(frozen=True)
class Line:
    """A row of a chart: a kernel, or without one the name of the rows that follow."""

    kernel: str
    text: str


def _lines(section: Section, places: Sequence[str], without: str = "") -> list[tuple[str, Line]]:
    """(place, row) for all kernels but @without, under a heading for each place if there are several."""
    found = []
    for place in places:
        if len(places) > 1:
            found.append((place, Line("", label(place, 40))))
        kernels = [one.name for one in section.experiment.kernel if one.name != without]
        found += [(place, Line(kernel, label(kernel))) for kernel in kernels]
    return found


def _label_rows(axes: Any, lines: list[tuple[str, Line]]) -> None:
    axes.set_ylim(len(lines) - 0.5, -0.6)
    if axes.get_subplotspec().is_first_col():
        axes.set_yticks(range(len(lines)), [line.text for _, line in lines])
        for tick, (_, line) in zip(axes.get_yticklabels(), lines, strict=True):
            tick.set_fontweight("normal" if line.kernel else "bold")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")


def _height(lines: Sequence[Any]) -> float:
    return 0.95 + ROW * len(lines)


def _scale(axes: Any, values: list[float], log_above: float = 5.0) -> bool:
    """A logarithmic axis where the values are far apart."""
    positive = [value for value in values if value > 0]
    if len(positive) < len(values) or not positive or max(positive) / min(positive) < log_above:
        return False
    axes.set_xscale("log")
    if max(positive) / min(positive) < 100:
        axes.xaxis.set_major_locator(library()[0].ticker.LogLocator(subs=(1, 2, 5)))
    plain_numbers(axes.xaxis)
    return True


def _file(section: Section, *parts: str) -> str:
    return file_name(section.experiment.name, *parts)


def _ratios(section: Section, table: Table, number: int) -> Iterator[Chart]:
    """Each kernel's ratio with its interval, the paper's above ours."""
    experiment = section.experiment
    lines = _lines(section, [place.name for place in table.places], experiment.reference)
    rows = {(row.place.name, row.kernel): row for row in table.rows}
    shown = [rows[place, line.kernel] for place, line in lines if line.kernel]
    ours = [row.ratio for row in shown if row.ratio and not words.never(row.ours, table.measure)]
    points = [*ours, *(row.paper_ratio for row in shown if row.paper_ratio)]
    if not points or (not table.has_paper and all(one.value == 1 for one in points)):
        return  # nothing to see: there are no ratios, or all are the same

    def paint(all_axes: Any) -> None:
        axes = all_axes[0]
        _label_rows(axes, lines)
        axes.axvline(1, color=INK, linewidth=1)
        for height, (place, line) in enumerate(lines):
            if not line.kernel:
                continue
            row = rows[place, line.kernel]
            shift = 0.17 if row.paper_ratio and row.ratio else 0.0
            look = {"color": colour(experiment, line.kernel), "marker": mark(experiment, line.kernel)}
            _point(axes, row.paper_ratio, height - shift, color=MUTED, marker="D", hollow=True)
            if words.never(row.ours, table.measure):
                _never(axes, height + shift)
            else:
                _point(axes, row.ratio, height + shift, hollow=False, **look)
        if not _scale(axes, [one.value for one in points]):
            _limit(axes, points)
        axes.set_xlabel(f"{label(table.measure.name, 30)}, ratio to {label(experiment.reference)}")
        keys = [legend_key("here", marker="o")]
        if table.has_paper:
            keys.append(legend_key("paper", marker="D", markerfacecolor=PAPER, color=MUTED))
        legend(axes, keys)

    said = [
        f"{row.kernel} at {row.place.name}: {words.ratio_of(row, table.measure)}"
        + (f", paper {words.quotient(row.paper_ratio)}" if row.paper_ratio else "")
        for row in shown
    ]
    title = f"{table.measure.name}, ratios to {experiment.reference}"
    yield draw(_file(section, "ratio", str(number)), title, "; ".join(said), _height(lines), paint)


def _point(axes: Any, one: Ratio | None, height: float, color: str, marker: str, hollow: bool) -> None:
    if one is None:
        return
    if one.low is not None and one.high is not None and one.telling:
        axes.plot([one.low, one.high], [height, height], color=color, linewidth=1.8, solid_capstyle="butt")
    face = PAPER if hollow else color
    axes.plot(
        [one.value], [height], marker=marker, markersize=5.5, color=color, markerfacecolor=face, markeredgewidth=1.3
    )


def _never(axes: Any, height: float, text: str = words.NEVER) -> None:
    """In place of a bar or mark at 0: what is counted did not happen."""
    axes.annotate(text, (0, height), (3, 0), xycoords=("axes fraction", "data"), textcoords="offset points", va="center", fontsize=9, color=MUTED)  # fmt: skip


def _limit(axes: Any, points: list[Ratio]) -> None:
    """All points and 1, and of intervals as much as does not squeeze the points together."""
    low = min(1.0, *(one.value for one in points))
    high = max(1.0, *(one.value for one in points))
    room = max(1.2 * (high - low), 0.002)
    ends = [end for one in points if one.telling for end in (one.low, one.high) if end is not None]
    left, right = max(low - room, min([low, *ends])), min(high + room, max([high, *ends]))
    pad = 0.06 * (right - left) or 0.01
    axes.set_xlim(left - pad, right + pad)
    axes.locator_params(axis="x", nbins=6)


def _histograms(section: Section, histogram: Buckets, number: int) -> Iterator[Chart]:
    if histogram.buckets:
        yield _histogram(section, histogram, number)


def _histogram(section: Section, histogram: Buckets, number: int) -> Chart:
    """Shares of the buckets by size: ours as bars, what chance gives as a line, the paper's as outlines."""
    ours = [count / sum(histogram.buckets) * 100 for count in histogram.buckets]
    expected = [count / sum(histogram.buckets) * 100 for count in histogram.expected]
    paper = histogram.paper.buckets
    theirs = [count / sum(paper) * 100 for count in paper] if paper and sum(paper) else []
    kernel_colour = colour(section.experiment, histogram.wanted.kernel)
    floor = min([share for share in (*ours, *theirs) if share > 0], default=0.1)
    floor = min(floor / 2, 0.05)

    def paint(all_axes: Any) -> None:
        axes = all_axes[0]
        places = list(range(ROWS))
        width = 0.4 if theirs else 0.8
        shift = width / 2 if theirs else 0.0
        axes.bar([x - shift for x in places], ours, width, color=kernel_colour, linewidth=0)
        keys = [legend_key("here", marker="s", color=kernel_colour, markersize=8)]
        if theirs:
            axes.bar(
                [x + shift for x in places], theirs, width, facecolor="none", edgecolor=MUTED, hatch="////", linewidth=1
            )
            keys.append(legend_key("paper", marker="s", color=MUTED, markerfacecolor="none", markersize=8))
        if expected:
            halo = [library()[0].patheffects.withStroke(linewidth=3.2, foreground=PAPER)]
            axes.plot(places, expected, color=INK, marker=".", markersize=6, linewidth=1.3, path_effects=halo)
            keys.append(legend_key("binomial", marker=".", linestyle="-", linewidth=1.3))
        if theirs and histogram.paper.objects:
            chance = binomial(histogram.paper.objects, sum(paper or []))
            axes.plot(places, [100 * share for share in chance], color=MUTED, linestyle=":", linewidth=1.5)
            keys.append(legend_key("the paper's binomial", color=MUTED, linestyle=":", linewidth=1.5))
        axes.set_yscale("log")
        axes.set_ylim(floor, 100)
        plain_numbers(axes.yaxis)
        axes.set_xticks(places, [words.size_name(size) if size % 2 == 0 or size == ROWS - 1 else "" for size in places])
        axes.set_xlabel("objects in a bucket")
        axes.set_ylabel("% of buckets")
        axes.grid(axis="y")
        legend(axes, keys, 4)

    said = [f"{words.size_name(size)}: {histogram.buckets[size]}" for size in range(ROWS) if histogram.buckets[size]]
    alt = f"Buckets by the number of objects in them, of {sum(histogram.buckets)}: {', '.join(said)}"
    return draw(_file(section, "histogram", str(number)), words.histogram_title(histogram), alt, 2.9, paint)


def binomial(objects: int, buckets: int) -> list[float]:
    """The share of @buckets that chance gives 0, 1, … 15 and more of @objects."""
    from scipy.stats import binom

    shares = [float(binom.pmf(size, objects, 1 / buckets)) for size in range(ROWS - 1)]
    return [*shares, float(binom.sf(ROWS - 2, objects, 1 / buckets))]


def _curve(section: Section, curve: Curve, number: int) -> Chart:
    experiment = section.experiment
    has_paper = any(point.paper for points in curve.kernels.values() for point in points)

    def lines(axes: Any, which: str) -> None:
        for kernel, points in curve.kernels.items():
            there = [(point.count, sample) for point in points if (sample := getattr(point, which))]
            look = {"color": colour(experiment, kernel), "marker": mark(experiment, kernel)}
            axes.errorbar(
                [count for count, _ in there], [sample.mean for _, sample in there],
                yerr=[half_interval(sample) for _, sample in there], markersize=5, capsize=2, elinewidth=1, label=label(kernel), **look,
            )  # fmt: skip
        axes.set_xscale("log", base=2)
        counts = sorted({point.count for points in curve.kernels.values() for point in points})
        axes.set_xticks(counts, [str(count) for count in counts])
        axes.minorticks_off()
        means = [
            sample.mean for points in curve.kernels.values() for point in points if (sample := getattr(point, which))
        ]
        if means and min(means) < max(means) / 2:
            axes.set_ylim(bottom=0)
        axes.grid(axis="y")
        axes.set_ylabel(
            f"{'here' if which == 'ours' else 'paper'}: {label(curve.measure.unit or curve.measure.name, 24)}"
        )

    def paint(all_axes: Any) -> None:
        lines(all_axes[0], "ours")
        if has_paper:
            lines(all_axes[1], "paper")
        all_axes[-1].set_xlabel(label(curve.noun, 40))
        handles, names = all_axes[0].get_legend_handles_labels()
        all_axes[0].legend(handles, names, loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderpad=0)

    said = [
        f"{kernel}: " + ", ".join(f"{point.count}: {words.number(point.ours.mean)}" for point in points if point.ours)
        for kernel, points in curve.kernels.items()
    ]
    title = f"{curve.measure.name} against {curve.noun}"
    height = 5.2 if has_paper else 2.9
    return draw(_file(section, "curve", str(number)), title, "; ".join(said), height, paint, rows=1 + has_paper)


def _steps(section: Section) -> Iterator[Chart]:
    """Steps of hits and of misses beside what uniform hashing of the same table gives, a chart for each cache."""
    for cache_name in concerned(section.experiment):
        chains = {(one.place, one.kernel): one for one in section.chains if one.cache == cache_name}
        if not chains:
            continue
        lines = _lines(section, list(dict.fromkeys(place for place, _ in chains)))
        title = f"{cache_name} cache: steps of a hit and of a miss"
        said = [
            f"{one.kernel} at {one.place}: hit {words.steps(one.hit, one.hits)} (uniform {words.number(one.expected_hit)}),"
            f" miss {words.steps(one.miss, one.misses)} (uniform {words.number(one.expected_miss)})"
            for one in chains.values()
        ]
        paint = _steps_painter(section, lines, chains)
        yield draw(_file(section, "steps", cache_name), title, "; ".join(said), _height(lines), paint, columns=2)


def _steps_painter(
    section: Section, lines: list[tuple[str, Line]], chains: dict[tuple[str, str], Chains]
) -> Callable[[Any], None]:
    def paint(all_axes: Any) -> None:
        for axes, name in zip(all_axes, ("hit", "miss"), strict=True):
            _label_rows(axes, lines)
            values = []
            for height, (place, line) in enumerate(lines):
                one = chains.get((place, line.kernel))
                found, wanted = (getattr(one, name), getattr(one, f"expected_{name}")) if one else (None, None)
                if one and (one.hits if name == "hit" else one.misses) == 0:
                    _never(axes, height)
                    continue
                values += [value for value in (found, wanted) if value is not None]
                if found is not None and wanted is not None:
                    axes.plot(
                        [wanted, found], [height, height], color=RULE, linewidth=3, solid_capstyle="butt", zorder=1
                    )
                if wanted is not None:
                    axes.plot([wanted], [height], marker="|", markersize=11, markeredgewidth=1.8, color=MUTED, zorder=2)
                if found is not None:
                    look = {
                        "color": colour(section.experiment, line.kernel),
                        "marker": mark(section.experiment, line.kernel),
                    }
                    axes.plot([found], [height], markersize=6, zorder=3, clip_on=False, **look)
            if not _scale(axes, values):
                axes.set_xlim(left=0)
            axes.set_xlabel(f"steps a {name}")
        legend(
            all_axes[0], [legend_key("here", marker="o"), legend_key("uniform", marker="|", color=MUTED, markersize=10)]
        )

    return paint


def _memory(section: Section) -> Iterator[Chart]:
    """Bytes of the tables of buckets, of the caches that the experiment is about."""
    about = concerned(section.experiment)
    sizes: dict[tuple[str, str], float] = {}
    for one in section.chains:
        if one.cache in about:
            sizes[one.place, one.kernel] = sizes.get((one.place, one.kernel), 0.0) + one.bytes / 1024
    if not any(sizes.values()):
        return
    places = list(dict.fromkeys(place for place, _ in sizes))
    kernels = [one.name for one in section.experiment.kernel]
    if len({tuple(sizes.get((place, kernel)) for kernel in kernels) for place in places}) == 1:
        places = places[:1]  # the workload does not matter
    lines = _lines(section, places)
    named = ", ".join(about) if len(about) < len(CACHES) else "all caches"

    def paint(all_axes: Any) -> None:
        axes = all_axes[0]
        _label_rows(axes, lines)
        for height, key in enumerate((place, line.kernel) for place, line in lines):
            if key in sizes and not sizes[key]:
                _never(axes, height, "no table")
            elif key in sizes:
                axes.barh([height], [sizes[key]], 0.6, color=colour(section.experiment, key[1]), linewidth=0)
                axes.annotate(
                    f"{sizes[key]:g}", (sizes[key], height), (4, 0), textcoords="offset points", va="center", fontsize=9
                )  # fmt: skip
        axes.margins(x=0.12)
        axes.set_xlabel(f"KB of hash tables ({named})")

    said = [f"{kernel} at {place}: {size:g} KB" for (place, kernel), size in sizes.items() if place in places]
    yield draw(_file(section, "memory"), f"Memory of the tables ({named})", "; ".join(said), _height(lines), paint)


def _misses(section: Section) -> Iterator[Chart]:
    """Misses of the simulated memory caches for each lookup."""
    levels = ("l1_misses", "l2_misses")
    for cache_name in concerned(section.experiment):
        rates: dict[tuple[str, str], list[float | None]] = {}
        for one in section.misses:
            lookups = one.counts.get("lookups")
            if one.region == cache_name and lookups:
                rates[one.place, one.kernel] = [
                    one.counts[name] / lookups if name in one.counts else None for name in levels
                ]
        if rates:
            yield _miss_chart(section, cache_name, rates)


def _rate(one: float | None) -> str:
    return words.NEVER if one == 0 else words.number(one)


def _miss_chart(section: Section, cache_name: str, rates: dict[tuple[str, str], list[float | None]]) -> Chart:
    lines = _lines(section, list(dict.fromkeys(place for place, _ in rates)))

    def paint(all_axes: Any) -> None:
        for axes, level, name in zip(all_axes, (0, 1), ("L1", "L2"), strict=True):
            _label_rows(axes, lines)
            for height, key in enumerate((place, line.kernel) for place, line in lines):
                rate = rates[key][level] if key in rates else None
                if rate == 0:
                    _never(axes, height)
                elif rate is not None:
                    axes.barh([height], [rate], 0.6, color=colour(section.experiment, key[1]), linewidth=0)
            axes.set_xlim(left=0)
            axes.set_xlabel(f"{name} misses a lookup")
            if not any(rate[level] for rate in rates.values()):
                axes.set_xticks([])  # nothing to measure by

    said = [
        f"{kernel} at {place}: L1 {_rate(first)}, L2 {_rate(second)}"
        for (place, kernel), (first, second) in rates.items()
    ]
    title = f"{cache_name} cache: memory-cache misses for each lookup"
    return draw(_file(section, "misses", cache_name), title, "; ".join(said), _height(lines), paint, columns=2)
