"""How a chart of a report is made by matplotlib: as SVG inside a page, as SVG and PNG files beside it.

Inside a page each colour is a variable of the style sheet, so that charts follow the page from light to dark.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from lab.report.numbers import Sample, student

INK, MUTED, RULE, PAPER = "#1b2026", "#5a6470", "#d5dbe1", "#ffffff"
KERNELS = ("#0b62a8", "#b4540a", "#00755c", "#9c2f7d", "#6b5b00", "#0d7f94", "#6d4fc4", "#a8324a")
VARIABLES = {INK: "ink", MUTED: "muted", RULE: "rule", PAPER: "paper"} | {
    colour: f"kernel-{number}" for number, colour in enumerate(KERNELS, 1)
}
MARKS = "osD^vPXh"
WIDTH = 5.0  # inches, which is 480 pixels of a page: readable when a phone shrinks it to its width

STYLE = {
    "font.size": 10, "axes.titlesize": 10, "axes.labelsize": 10, "legend.fontsize": 9.5, "xtick.labelsize": 9.5,
    "ytick.labelsize": 9.5, "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": MUTED, "xtick.color": MUTED,
    "ytick.color": MUTED, "xtick.labelcolor": INK, "ytick.labelcolor": INK, "grid.color": RULE, "grid.linewidth": 0.8,
    "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True, "axes.linewidth": 0.8,
    "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none", "legend.frameon": False,
    "text.parse_math": False, "lines.linewidth": 1.6, "hatch.linewidth": 0.7,
}  # fmt: skip


def variable(hex_colour: str) -> str:
    """The style sheet's name of a colour."""
    return f"var(--{VARIABLES[hex_colour]})"


@dataclass(frozen=True)
class Chart:
    """A drawn chart. `inline` is the SVG for the page, `files` those beside it by their ending."""

    name: str  # of the files
    title: str
    alt: str  # the same in words, for who does not see it
    inline: str
    files: dict[str, bytes]


@cache
def library() -> tuple[Any, Any]:
    import matplotlib.patheffects
    import matplotlib.ticker
    from matplotlib.figure import Figure

    return matplotlib, Figure


def draw(
    name: str, title: str, alt: str, height: float, paint: Callable[[Any], None], columns: int = 1, rows: int = 1
) -> Chart:
    """A chart of @columns × @rows axes which @paint fills."""
    matplotlib, figure_of = library()
    settings = STYLE | {"svg.hashsalt": name}  # the same file every time
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that the font does not have are boxes
        figure = figure_of(figsize=(WIDTH, height), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False, sharey="row" if columns > 1 else False)
        paint(axes[0] if rows == 1 else [line[0] for line in axes])
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # what was laid out stays so, three times
        inline = _saved(figure, "svg", {"svg.fonttype": "none"}).decode()
        files = {"svg": _saved(figure, "svg", {"svg.fonttype": "path"}, PAPER), "png": _saved(figure, "png", {}, PAPER)}
    return Chart(name, title, alt, _for_page(inline, name, title, alt), files)


def _saved(figure: Any, form: str, settings: dict[str, str], background: str = "none") -> bytes:
    matplotlib, _ = library()
    data = io.BytesIO()
    metadata = {"Date": None, "Creator": None} if form == "svg" else {"Software": None}
    with matplotlib.rc_context(settings):
        figure.savefig(data, format=form, dpi=200, metadata=metadata, facecolor=background)
    return data.getvalue()


def _for_page(svg: str, name: str, title: str, alt: str) -> str:
    """An SVG file as a part of a page: ids of its own, colours by name, words for who does not see it."""
    from markupsafe import escape

    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r"url\(#", f"url(#{name}-", svg)
    svg = re.sub(r'xlink:href="#', f'xlink:href="#{name}-', svg)
    for hex_colour in VARIABLES:
        svg = svg.replace(hex_colour, variable(hex_colour))
    svg = re.sub(r'font: ([\d.]+px) [^;"]*', r"font-size: \1", svg)
    head, _, rest = svg.partition(">")
    size = re.search(r'viewBox="0 0 ([\d.]+)', head)
    wide = f"{float(size[1]) * 4 / 3:.0f}" if size else "480"
    head = re.sub(r' (width|height)="[^"]*"', "", head)
    said = f'<title id="{name}-title">{escape(title)}</title><desc id="{name}-alt">{escape(alt)}</desc>'
    return f'{head} width="{wide}" role="img" aria-labelledby="{name}-title {name}-alt">{said}{rest}'


def label(name: str, longest: int = 26) -> str:
    """A name as charts can draw it."""
    shown = "".join(letter if letter.isprintable() else "?" for letter in name)
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def file_name(*parts: str) -> str:
    """The name of a chart's files, letters that any file system and any page takes."""
    return "-".join(re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") or "x" for part in parts)


def half_interval(one: Sample) -> float:
    """Half the interval of a mean."""
    return 0.0 if one.error2 is None or not one.n else student(one.n - 1) * one.error2**0.5


def legend(axes: Any, handles: list[Any], columns: int = 3) -> None:
    """Above the chart, in so many columns."""
    axes.legend(
        handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, borderaxespad=0.2, handlelength=1.3,
        handletextpad=0.5, columnspacing=1.4, borderpad=0,
    )  # fmt: skip


def legend_key(text: str, **style: Any) -> Any:
    """One entry of a legend that is not a line of the chart."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=text, linestyle=style.pop("linestyle", "none"), color=style.pop("color", INK), **style)


def plain_numbers(axis: Any) -> None:
    """0.1, 1, 10 on a logarithmic axis, and nothing between them."""
    matplotlib, _ = library()
    axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(matplotlib.ticker.NullFormatter())
