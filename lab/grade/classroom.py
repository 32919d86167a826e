"""A whole class: every submission of a folder, several at a time, each score kept as soon as it is known.

What is kept stands beside the CSV, in a folder of its name and `.scores`: a file a submission, Gradescope's JSON with a digest of all
that it was made of. The same command goes on where it was interrupted, and grades anew what has changed since.
"""

from __future__ import annotations

import csv
import errno
import hashlib
import json
import os
import stat
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import cache
from pathlib import Path
from typing import Any

from lab.base.files import write_whole, written_whole
from lab.base.paths import TOP, LabError
from lab.course.keys import Seeds
from lab.course.labs import Lab
from lab.grade import sandbox, score
from lab.grade.booted.kernel import FOR_CONFIG, SOURCES, StandIn, prepare
from lab.grade.intake import LARGEST_ARCHIVE
from lab.grade.one import grade
from lab.grade.sandbox import Stopped

GRADER = (
    "coursework", "lab/grade", "lab/course", "lab/playground/streams", "lab/record", "lab/run", "lab/guest", "hosted/include",
    *SOURCES, *FOR_CONFIG,
)  # fmt: skip

Say = Callable[[str], None]
Score = dict[str, Any]  # as gradescope() or unknown() gives it

# What one submission fails by all others would.
FOR_ALL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
MOST_READ = 1000  # files of a submission whose bytes are looked at


def submissions(folder: Path, *outcomes: Path) -> list[Path]:
    """One each: every file and folder in @folder, without hidden ones and @outcomes, the grader's own."""
    own = {path.absolute() for path in outcomes}
    try:
        found = sorted(
            path for path in folder.absolute().iterdir() if not path.name.startswith(".") and path not in own
        )
    except OSError as error:
        raise LabError(
            f"{folder}: {error.strerror}; --class wants a folder with a file, archive or folder for each"
        ) from None
    if not found:
        raise LabError(f"{folder}: there is nothing in it")
    return found


def grade_class(lab: Lab, folder: Path, seeds: Seeds, out: Path, jobs: int, boots: bool, say: Say) -> tuple[int, int]:
    """Grade all of @folder into the CSV @out: how many there are, and at how many the grader failed, which have no points there.
    LabError, OSError: it works for nobody, as on a full disk; what is known by then was kept."""
    scores = out.with_name(f"{out.name}.scores")
    there = submissions(folder, out, scores)
    try:
        scores.mkdir(parents=True, exist_ok=True)
        scores.chmod(0o700)
    except OSError as error:
        raise LabError(f"{scores}: {error.strerror}") from None
    made_of = f"{grader_digest()} {seeds.digest()} {lab.number} {boots}"
    known = {path: _kept(scores, path, made_of) for path in there}
    missing = [path for path in there if known[path] is None]
    if len(missing) < len(there):
        say(f"{len(there) - len(missing)} of {len(there)} are graded already")
    if seeds.practice is not None:
        say(f"by the practice streams of seed {seeds.practice}, which every student can have; a course's are --key's")
    sandbox.check()
    for part in lab.parts:
        if part.kind == "booted" and boots and missing:
            prepare(StandIn.of(part))

    def one(path: Path) -> Score:
        before = digest_of(path, made_of)
        try:
            found = score.gradescope(grade(lab, path, seeds, boots))
        except (LabError, Stopped):
            raise
        except Exception as error:  # told to the teacher, tried again next time; the class goes on
            if isinstance(error, OSError) and error.errno in FOR_ALL:
                raise
            return score.unknown(lab, f"THE GRADER FAILED: {error!r}")
        _keep(scores, path, {"submission": path.name, "made_of": before, "score": found})
        return found

    try:
        _all_at(missing, one, jobs, known, say)
    except (KeyboardInterrupt, LabError, OSError):
        kept = sum(found is not None for found in known.values())
        say(f"{kept} of {len(there)} are graded and kept; the same command goes on")
        raise
    write_csv(lab, out, [(path.name, found) for path, found in known.items() if found])
    return len(there), sum(found["score"] is None for found in known.values() if found)


def _all_at(
    missing: list[Path], one: Callable[[Path], Score], jobs: int, known: dict[Path, Score | None], say: Say
) -> None:
    """@jobs at a time. Ctrl-C, or a grader that does not work, ends what runs in the sandboxes; what is known was kept."""
    waiting, done = list(missing), 0
    running: dict[Future[Score], Path] = {}
    with ThreadPoolExecutor(jobs) as pool:
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    path = waiting.pop(0)
                    running[pool.submit(one, path)] = path
                for future in wait(running, timeout=0.5, return_when=FIRST_COMPLETED).done:
                    path, found = running.pop(future), future.result()
                    known[path] = found
                    done += 1
                    points = "the grader failed" if found["score"] is None else f"{found['score']:.2f}"
                    say(f"{done} of {len(missing)}: {path.name}: {points}")
        except BaseException:
            sandbox.stop_all()
            raise


def write_csv(lab: Lab, out: Path, rows: list[tuple[str, Score]]) -> None:
    """As a whole or not at all, whatever bytes names of files are made of."""
    try:
        with written_whole(out) as new, new.open("w", newline="", encoding="utf-8", errors="backslashreplace") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(score.columns(lab))
            for name, one in rows:
                writer.writerow([_plain(cell) for cell in score.row(name, one)])
    except OSError as error:
        raise LabError(f"{out}: {error.strerror}") from None


def _plain(cell: str) -> str:
    """No formula to a spreadsheet: names of files are the students' own."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


def _place(scores: Path, path: Path) -> Path:
    return scores / f"{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:24]}.json"


def _kept(scores: Path, path: Path, made_of: str) -> Score | None:
    try:
        found = json.loads(_place(scores, path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found["score"] if found.get("made_of") == digest_of(path, made_of) else None


def _keep(scores: Path, path: Path, found: dict[str, Any]) -> None:
    write_whole(_place(scores, path), json.dumps(found, indent=1))


def digest_of(path: Path, made_of: str) -> str:
    """Changes with what was handed in and with what judges it; of what is too large to be looked at, or no file, or one of more
    than a thousand, its size and times."""
    digest = hashlib.sha256(made_of.encode())
    inside = sorted(path.rglob("*")) if path.is_dir() and not path.is_symlink() else []
    for number, one in enumerate((path, *inside)):
        try:
            status = one.lstat()
            digest.update(f"{one.name} {status.st_mode:o} {status.st_size} ".encode(errors="replace"))
            if number <= MOST_READ and stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST_ARCHIVE:
                digest.update(hashlib.sha256(one.read_bytes()).digest())
            else:
                digest.update(f"{status.st_mtime_ns} {status.st_ctime_ns}".encode())
        except OSError:
            digest.update(b"unreadable")
    return digest.hexdigest()


@cache
def grader_digest() -> str:
    """Of all that a score comes from besides the submission and the key."""
    digest = hashlib.sha256()
    for top in (TOP / name for name in GRADER):
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file() and path.suffix != ".pyc":
                digest.update(f"{path.relative_to(TOP)} ".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]
