"""make mutants: plant bugs one at a time, run the tests that should notice, print the score by room.

Those kept in tests/mutants first, then COUNT fresh ones of SEED. Results are kept in build/mutants: the same
command goes on where it was (--anew begins anew), as long as the sources are the same.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shlex
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from lab.base.paths import TOP, LabError, output_folder
from lab.check.mutants.copy import Copy, tree_files
from lab.check.mutants.fresh import fresh_mutants
from lab.check.mutants.judge import HANG, KILLED, SAME, STALE, SURVIVED, UNBUILT, Judge, Verdict
from lab.check.mutants.kept import Mutant, kept_mutants

CAUGHT = (KILLED, HANG)
JUDGED = (KILLED, HANG, SURVIVED)


def options_of(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1, help="of the fresh ones")
    parser.add_argument("--count", type=int, default=0, help="how many fresh ones are judged")
    parser.add_argument("--room", action="append", help="only of this room (again and again)")
    parser.add_argument("--only", action="append", metavar="NAME", help="only mutants whose name begins so")
    parser.add_argument("--fresh-only", action="store_true", help="not the kept ones")
    parser.add_argument("--list", action="store_true", help="print them, do nothing")
    parser.add_argument("--show", action="store_true", help="with --list: the patches, too")
    parser.add_argument("--anew", action="store_true", help="judge again what has been judged")
    parser.add_argument("--short", action="store_true", help="fresh ones: leave out the last, longest tests of a room")
    parser.add_argument(
        "--limit", type=float, default=2400, metavar="SECONDS", help="for one; then it counts as a hang"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="tests at a time")
    return parser.parse_args(arguments)


def wanted(mutant: Mutant, options: argparse.Namespace) -> bool:
    if options.room and mutant.room not in options.room:
        return False
    return not options.only or any(mutant.name.startswith(name) for name in options.only)


def read_results(path: Path, tree: str) -> dict[str, Verdict]:
    """What has been judged of these very sources, by the digest of the patch."""
    found = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            verdict = Verdict(**json.loads(line))
        except (ValueError, TypeError):
            continue  # cut off in the middle, or of an older form
        if verdict.tree == tree:
            found[verdict.name + verdict.digest] = verdict
    return found


def fresh(options: argparse.Namespace) -> Iterator[Mutant]:
    mutants = fresh_mutants(TOP, tree_files(TOP), options.seed, options.room)
    return (mutant for mutant in mutants if wanted(mutant, options))


def print_list(options: argparse.Namespace) -> None:
    kept = [] if options.fresh_only else [mutant for mutant in kept_mutants() if wanted(mutant, options)]
    drawn = fresh(options)
    for mutant in [*kept, *(next(drawn) for _ in range(options.count))]:
        print(f"{mutant.room:8} {mutant.name}: {mutant.what}")
        if options.show:
            print(mutant.patch)


def score(verdicts: list[Verdict]) -> str:
    """The table by room, then the names of those that nothing noticed."""
    lines = [f"{'room':10}{'caught':>8}{'of':>6}   without effect, not built"]
    total: Counter[str] = Counter()
    for room in sorted({verdict.room for verdict in verdicts}):
        outcomes = Counter(verdict.outcome for verdict in verdicts if verdict.room == room)
        total += outcomes
        lines.append(score_line(room, outcomes))
    lines.append(score_line("all", total))
    for verdict in verdicts:
        if verdict.outcome in (SURVIVED, STALE) or (verdict.kept and verdict.outcome == UNBUILT):
            lines.append(f"{verdict.outcome}: {verdict.name} ({verdict.what})")
    return "\n".join(lines)


def score_line(room: str, outcomes: Counter[str]) -> str:
    caught = sum(outcomes[kind] for kind in CAUGHT)
    judged = sum(outcomes[kind] for kind in JUDGED)
    return f"{room:10}{caught:8}{judged:6}   {outcomes[SAME]}, {outcomes[UNBUILT]}"


def failed(verdicts: list[Verdict]) -> bool:
    """A kept one that lives, or that cannot even be planted; fresh ones only count."""
    return any(verdict.kept and verdict.outcome not in CAUGHT for verdict in verdicts)


def judge_all(options: argparse.Namespace) -> list[Verdict]:
    folder = output_folder().parent / "mutants"
    folder.mkdir(parents=True, exist_ok=True)
    results = folder / "results.jsonl"
    lock = (folder / ".lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise LabError(f"another run is at work in {folder}; O= gives this one a folder of its own") from None
    copy = Copy(folder / "tree")
    copy.bring_up_to_date()
    known = {} if options.anew else read_results(results, copy.digest)
    judge = Judge(copy, options.limit, options.jobs, not options.short)
    if options.count and (problem := judge.prepare()):
        raise LabError(f"without any mutant the kernel does not build:\n{problem}")
    verdicts: list[Verdict] = []

    def one(mutant: Mutant) -> Verdict:
        verdict = known.get(mutant.name + mutant.digest)
        if verdict is None:
            verdict = judge.judge(mutant)
            with results.open("a") as file:
                file.write(json.dumps(verdict.record()) + "\n")
        by = verdict.by.splitlines()[0] if verdict.by else ""
        print(f"{verdict.outcome:10}{verdict.seconds:5} s  {verdict.name}: {by}", flush=True)
        verdicts.append(verdict)
        return verdict

    for mutant in [] if options.fresh_only else kept_mutants():
        if wanted(mutant, options):
            one(mutant)
    left, drawn = options.count, fresh(options)
    while left > 0:
        left -= one(next(drawn)).outcome in JUDGED
    print(f"results: {results}")
    return confirm(judge, verdicts)


def confirm(judge: Judge, verdicts: list[Verdict]) -> list[Verdict]:
    """A test that fails without a mutant, too, has noticed nothing: each that caught one is run on the tree as it is."""
    tests = sorted({verdict.by for verdict in verdicts if verdict.outcome == KILLED})
    for test in tests:
        status, _ = judge.tests(test if test.startswith("$") else shlex.quote(test), judge.limit)
        for verdict in verdicts:
            if status and verdict.by == test:
                verdict.outcome, verdict.by = STALE, f"{test} fails without it, too"
                print(f"{verdict.name}: {verdict.by}")
    return verdicts


def main() -> int:
    options = options_of(sys.argv[1:])
    for number in (signal.SIGINT, signal.SIGTERM):  # also when a script has started us in the background
        signal.signal(number, signal.default_int_handler)
    try:
        if options.list:
            print_list(options)
            return 0
        verdicts = judge_all(options)
    except KeyboardInterrupt:
        print("\nmake mutants: interrupted; the same command goes on", file=sys.stderr)
        return 130
    except LabError as error:
        print(f"make mutants: {error}", file=sys.stderr)
        return 2
    print(score(verdicts))
    return 1 if failed(verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
