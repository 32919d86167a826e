"""Grading one submission: take it in, judge its parts one after the other, add up."""

from __future__ import annotations

from pathlib import Path

from lab.course.keys import Seeds
from lab.course.labs import Lab
from lab.grade import intake, sandbox, score
from lab.grade.kinds import KINDS
from lab.grade.score import Score
from lab.grade.work import Refused, Work


def streams_from(seeds: Seeds) -> str:
    return "held-out streams by the course's key" if seeds.hidden else f"practice streams, seed {seeds.practice}"


def grade(lab: Lab, path: Path, seeds: Seeds, boots: bool = True) -> Score:
    """The score of what was handed in as @path. A LabError says that it is the grader that does not work."""
    try:
        text, called = intake.take(path, lab)
    except Refused as error:
        return score.nothing(lab, str(error), streams_from(seeds))
    sandbox.check()
    with sandbox.folder() as folder:
        work = Work(lab, seeds, text, called, folder, boots)
        judged = [KINDS[part.kind](work, part) for part in lab.parts]
    return score.score(lab, judged, streams_from(seeds))
