"""Points: of each part, and how they are written: as text, as JSON in Gradescope's form, as a row of a class's CSV."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lab.course.labs import Lab
from lab.grade.work import Judged


@dataclass(frozen=True)
class Line:
    """A part's name, its points, and what is said of it."""

    name: str
    points: Fraction  # a multiple of 1/100
    out_of: int
    said: tuple[str, ...]


@dataclass(frozen=True)
class Score:
    lab: str
    title: str
    lines: tuple[Line, ...]
    streams: str  # where the held-out streams came from
    refused: str = ""  # why nothing was judged at all

    @property
    def points(self) -> Fraction:
        return sum((line.points for line in self.lines), Fraction(0))

    @property
    def out_of(self) -> int:
        return sum(line.out_of for line in self.lines)


def score(lab: Lab, judged: list[Judged], streams: str) -> Score:
    lines = tuple(
        Line(part.name, Fraction(round(one.share * part.points * 100), 100), part.points, tuple(one.said))
        for part, one in zip(lab.parts, judged, strict=True)
    )
    return Score(lab.number, lab.name, lines, streams)


def nothing(lab: Lab, reason: str, streams: str) -> Score:
    """No points, for @reason."""
    lines = tuple(Line(part.name, Fraction(0), part.points, ()) for part in lab.parts)
    return Score(lab.number, lab.name, lines, streams, reason)


def unknown(lab: Lab, reason: str) -> dict[str, Any]:
    """As gradescope(), where the grader failed for @reason: no points are known, which is not the same as none."""
    tests = [{"score": None, "max_score": part.points, "output": ""} for part in lab.parts]
    return {"score": None, "output": f"Lab {lab.number}: {lab.name}\n{reason}", "tests": tests}


def text(one: Score) -> str:
    """For people."""
    out = [f"Lab {one.lab}: {one.title} ({one.streams})", ""]
    if one.refused:
        out += [f"Nothing was judged: {one.refused}", ""]
    for line in one.lines:
        out.append(f"{float(line.points):6.2f} of {line.out_of:3}  {line.name}")
        out += [f"               {words}" for said in line.said for words in said.splitlines()]
    return "\n".join([*out, "", f"{float(one.points):6.2f} of {one.out_of:3}  in all", ""])


def gradescope(one: Score) -> dict[str, Any]:
    """https://gradescope-autograders.readthedocs.io, "Output Format"."""
    tests = [
        {
            "name": line.name, "number": f"{one.lab}.{i}", "score": float(line.points), "max_score": line.out_of,
            "status": "passed" if line.points == line.out_of else "failed", "output": "\n".join(line.said), "visibility": "visible",
        }
        for i, line in enumerate(one.lines, 1)
    ]  # fmt: skip
    output = f"Lab {one.lab}: {one.title}" + (f"\nNothing was judged: {one.refused}" if one.refused else "")
    return {"score": float(one.points), "output": output, "visibility": "visible", "tests": tests}


def columns(lab: Lab) -> list[str]:
    return ["submission", "points", "out of", *(part.name for part in lab.parts), "remark"]


def row(name: str, one: dict[str, Any]) -> list[str]:
    """Of what gradescope() or unknown() gave."""
    remark = one["output"].partition("\n")[2]
    said = [test["output"].strip() for test in one["tests"] if test["output"] and test["score"] < test["max_score"]]
    if not remark and not one["score"] and said:
        remark = said[0].splitlines()[0]  # it does not compile, most likely
    points = [_points(test["score"]) for test in one["tests"]]
    return [name, _points(one["score"]), str(sum(test["max_score"] for test in one["tests"])), *points, remark]


def _points(known: float | None) -> str:
    return "" if known is None else f"{known:.2f}"
