"""./cw playground; ./cw lab list, start, setup-course, solution; ./cw grade."""

from __future__ import annotations

import json
import os
import sys
import traceback
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from lab.base.paths import TOP, LabError

Number = Annotated[str, typer.Argument(metavar="LAB", help="The lab's number.")]

app = typer.Typer(help="Coursework: begin a lab, set a course up, see a solution (docs/labs/README.md, docs/lab/grading.md).", no_args_is_help=True)  # fmt: skip


@app.command("list")
def list_labs() -> None:
    """The labs that there are."""
    from lab.course import labs

    for number in labs.numbers():
        lab = labs.find(number)
        print(f"{number}  {lab.name}: hand in {lab.hand_in}; {lab.points} points; {lab.text}")


@app.command("start")
def start(
    number: Number,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to put it; made where it is not there.")],
) -> None:
    """Put a lab's starter into DIR. What is there already is never overwritten."""
    from lab.course import labs
    from lab.course.start import start as hand_out

    for path in hand_out(number, folder):
        print(path)
    lab = labs.find(number)
    print(f"Lab {number}, {lab.name}: read {lab.text}")


@app.command("setup-course")
def setup_course(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder of the teacher's, outside of any repository.")
    ],
) -> None:
    """Make the key of a course: the secret from which all held-out streams come (docs/lab/grading.md)."""
    from lab.course.start import setup_course as set_up

    path = set_up(folder)
    print(f"{path}: keep it to yourself. Grade with: ./cw grade LAB SUBMISSION --key {path}")


@app.command("solution")
def solution(
    number: Number, key: Annotated[Path, typer.Option("--key", metavar="FILE", help="The course's key file.")]
) -> None:
    """A solution and the teacher's notes, for who has a key file. A public repository hides neither (docs/lab/grading.md)."""
    from lab.course.start import solution as solve

    print(solve(number, key), end="")


def grade(
    number: Number,
    submission: Annotated[Path, typer.Argument(metavar="SUBMISSION", help="A file, an archive or a folder with it; with --class a folder of these.")],
    key: Annotated[Path | None, typer.Option("--key", metavar="FILE", help="The course's key, for its held-out streams; without it those of --seed.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", metavar="N", help="Without a key: streams for practice, which everybody can make; 1 without it.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON in Gradescope's form (results.json).")] = False,
    whole_class: Annotated[bool, typer.Option("--class", help="SUBMISSION is a folder with a submission of each.")] = False,
    csv: Annotated[Path | None, typer.Option("--csv", metavar="OUT.csv", help="With --class: where the points go.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", min=0, help="With --class: so many at a time; 0, or without it: as many as CPUs.")] = 0,
    boot: Annotated[bool, typer.Option("--boot/--no-boot", help="Build and boot the kernel with it, too. Lab 6 cannot do without.")] = True,
) -> None:  # fmt: skip
    """Grade what was handed in for a lab, by behaviour, in a sandbox (docs/lab/grading.md).

    Status 0: it was graded, whatever the points; 125: the grader itself does not work, and says why; of a class, too, where it
    failed at a submission. With --class the same command goes on after Ctrl-C.
    """
    from lab.build.setup import need_grader, need_lab

    need_lab()
    need_grader()
    from lab.course import keys, labs
    from lab.grade import score
    from lab.grade.booted import judge as booted
    from lab.grade.classroom import grade_class
    from lab.grade.kinds import can_judge
    from lab.grade.one import grade as grade_one
    from lab.grade.sandbox import Stopped

    lab = labs.find(number)
    if not can_judge(lab, boot):
        raise LabError(
            f"of lab {lab.number} everything is judged by what the kernel does that is built with it: leave --no-boot out"
        )
    if key and seed is not None:
        raise LabError("--key has the streams of a course, --seed streams for practice: give one of them")
    seeds = keys.load(key) if key else keys.practice(1 if seed is None else seed)
    if whole_class != (csv is not None) or (whole_class and as_json) or (jobs and not whole_class):
        raise LabError("a class is graded by: ./cw grade LAB FOLDER --class --csv OUT.csv [--jobs N]")
    if not submission.exists() and not submission.is_symlink():
        raise LabError(f"{submission}: there is no such file")
    with booted.home():
        if csv is not None:
            count, failed = grade_class(lab, submission, seeds, csv, jobs or os.cpu_count() or 1, boot, say)
            print(f"{csv}: {count} submissions of lab {lab.number}")
            if failed:
                raise LabError(
                    f"the grader failed at {failed} of them, which have no points and a remark there; the same command tries again"
                )
            return
        try:
            found = grade_one(lab, submission, seeds, boot)
        except (LabError, Stopped):
            raise
        except Exception as error:
            traceback.print_exc()
            raise LabError(f"the grader failed at this submission, which costs nobody points: {error!r}") from None
    text = json.dumps(score.gradescope(found), indent=1) + "\n" if as_json else score.text(found)
    print(text.encode(errors="backslashreplace").decode(), end="")  # a name of a file can be any bytes


def say(text: str) -> None:
    print(f"cw: {text}", file=sys.stderr, flush=True)


def playground(
    output: Annotated[Path | None, typer.Option("--output", metavar="FILE.html", help="Where to write it; build/playground.html without it.")] = None,
    show: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    again: Annotated[list[str] | None, typer.Option("--record", metavar="NAME|all", help="First record this stream of lab/playground/streams anew, or all of them: boots machines. May be given several times.")] = None,
) -> None:  # fmt: skip
    """Write the playground: hash functions at work on real programs' keys, one page that needs only a browser (docs/lab/playground.md)."""
    from lab.playground.page import write_page
    from lab.playground.recordings import record

    record(again or [])
    path = output or TOP / "build/playground.html"
    size = write_page(path)
    print(f"{path}: {size:,} bytes; open it in a browser")
    if show:
        webbrowser.open(path.absolute().as_uri())
