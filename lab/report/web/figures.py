"""The text's figures, drawn of our runs, as an experiment's [[figure]] describes them.

Where the text has curves and no numbers, what can be compared is their shape: the axes are the text's, the values ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from lab.report import words
from lab.report.collect import Section
from lab.report.numbers import Sample
from lab.report.web.drawing import (
    KERNELS,
    MARKS,
    MUTED,
    Chart,
    draw,
    file_name,
    half_interval,
    label,
    legend,
    legend_key,
    plain_numbers,
)  # fmt: skip
from lab.sweep.experiment import Figure

UNITS = {"": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
FAR = 20  # between the least and the greatest of a measure's curves, from where on the axis is logarithmic
BARS = 0.8  # of the distance of two places: all bars of a place together


@dataclass(frozen=True)
class Series:
    """The values of one measure and one line, by their place on the axis."""

    measure: str
    line: str
    values: dict[str, Sample]

    @property
    def said(self) -> str:
        """In words, for who does not see the chart."""
        values = (f"{x}: {words.number(self.values[x].mean)}" for x in sorted(self.values, key=amount))
        return f"{self.line or self.measure}{f', {self.measure}' if self.line else ''}: {', '.join(values)}"


def figures(section: Section) -> Iterator[Chart]:
    """All that the experiment has; one of which no run has ended yet is left out."""
    for number, figure in enumerate(section.experiment.figure, 1):
        series = [one for measure in figure.measures for one in _series(section, figure, measure)]
        up_to = _series(section, figure, figure.up_to) if figure.up_to else []
        if not series:
            continue
        places = sorted({x for one in series for x in one.values}, key=amount)
        paint = _bars(figure, series, up_to, places) if figure.bars else _curves(figure, series, places)
        alt = "; ".join(one.said for one in (*series, *up_to))
        unit = next(one.unit for one in section.experiment.measure if one.name == figure.measures[0])
        name = file_name(section.experiment.name, "figure", str(number))
        yield draw(name, figure.title, alt, 3.6, _with_axes(figure, places, unit, paint))


def _series(section: Section, figure: Figure, measure: str) -> list[Series]:
    """The lines of a measure, in the order of the kernels."""
    table = next(table for table in section.tables if table.measure.name == measure)
    place = figure.workload or section.places[0].name
    found: dict[str, dict[str, Sample]] = {}
    for kernel in section.experiment.kernel:
        where, row = figure.place(kernel.name), table.row(place, kernel.name)
        if where and row and row.ours:
            found.setdefault(where[0], {})[where[1]] = row.ours
    return [Series(measure, line, values) for line, values in found.items()]


def amount(place: str) -> tuple[float, str]:
    """What places are sorted by: 8 before 16, 512 KB before 1 MB, numbers before words."""
    match = re.fullmatch(r"([\d.]+) ?([KMG]B)?", place)
    return (float(match[1]) * UNITS[match[2] or ""], place) if match else (float("inf"), place)


def _with_axes(
    figure: Figure, places: list[str], unit: str, paint: Callable[[Any], list[Any]]
) -> Callable[[Any], None]:
    """@paint, which returns the legend's entries, and axes: places stand at equal distances, as sizes do that double."""

    def whole(all_axes: Any) -> None:
        axes = all_axes[0]
        handles = paint(axes)
        axes.set_xticks(range(len(places)), places)
        axes.set_xlabel(label(figure.x, 56))
        about = figure.measures[0] if len(figure.measures) == 1 else "time" if unit == "s" else ""
        axes.set_ylabel(label(", ".join(word for word in (about, unit) if word), 40))
        axes.grid(axis="y")
        legend(axes, handles, 3)

    return whole


def _curves(figure: Figure, series: list[Series], places: list[str]) -> Callable[[Any], list[Any]]:
    def paint(axes: Any) -> list[Any]:
        for number, one in enumerate(series):
            there = [(at, one.values[place]) for at, place in enumerate(places) if place in one.values]
            name = one.measure if len(figure.measures) > 1 or not one.line else one.line
            axes.errorbar(
                [at for at, _ in there], [value.mean for _, value in there],
                yerr=[half_interval(value) for _, value in there], markersize=5, capsize=2, elinewidth=1,
                color=KERNELS[number % len(KERNELS)], marker=MARKS[number % len(MARKS)], label=label(name),
            )  # fmt: skip
        means = [value.mean for one in series for value in one.values.values()]
        if len(figure.measures) == 1 and 0 < FAR * min(means) < max(means):
            axes.set_yscale("log")
            plain_numbers(axes.yaxis)
        elif min(means) < max(means) / 2:
            axes.set_ylim(bottom=0)
        return list(axes.get_legend_handles_labels()[0])

    return paint


def _bars(figure: Figure, series: list[Series], up_to: list[Series], places: list[str]) -> Callable[[Any], list[Any]]:
    """At each place a bar for each line, whose parts are the measures; what is left up to the whole is hatched."""
    lines = list(dict.fromkeys(one.line for one in series))
    width = BARS / len(lines)

    def at(one: Series, place: str) -> float:
        return places.index(place) + (lines.index(one.line) + 0.5) * width - BARS / 2

    def paint(axes: Any) -> list[Any]:
        below: dict[tuple[str, str], float] = {}
        for one in series:
            colour = KERNELS[figure.measures.index(one.measure) % len(KERNELS)]
            for place, value in one.values.items():
                start = below.get((one.line, place), 0.0)
                axes.bar([at(one, place)], [value.mean], 0.9 * width, bottom=[start], color=colour, linewidth=0)
                below[one.line, place] = start + value.mean
        for one in up_to:
            for place, value in one.values.items():
                start = below.get((one.line, place), 0.0)
                look = {"facecolor": "none", "edgecolor": MUTED, "hatch": "////", "linewidth": 1}
                axes.bar([at(one, place)], [max(value.mean - start, 0.0)], 0.9 * width, bottom=[start], **look)
        keys = [
            legend_key(measure, marker="s", color=KERNELS[number % len(KERNELS)], markersize=8)
            for number, measure in enumerate(figure.measures)
        ]
        hatched = legend_key(figure.up_to, marker="s", color=MUTED, markerfacecolor="none", markersize=8)
        return [*keys, hatched] if figure.up_to else keys

    return paint
