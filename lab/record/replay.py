"""./cw replay: a recorded stream through any functions, structures and sizes, on this host."""

from __future__ import annotations

import csv
import io
import itertools
import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lab.base.choose import load_choose
from lab.base.paths import LabError
from lab.record import stream
from lab.record.engine import LARGEST_BITS, Choice, Replayable, Replayed, check_choice, compile_all, replay


class Progress:
    """One line on a terminal's stderr, overwritten; nothing elsewhere."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._width, self._last = 0, 0.0

    def __call__(self, text: str) -> None:
        if self._shown and time.monotonic() - self._last > 0.1:
            print(f"\rcw: {text:{self._width}}", end="", file=sys.stderr, flush=True)
            self._width, self._last = len(text), time.monotonic()

    def clear(self) -> None:
        if self._width:
            print("\r" + " " * (self._width + 4) + "\r", end="", file=sys.stderr, flush=True)
            self._width = 0


def names_of(text: str, option: str, known: Iterable[str], recorded: str) -> list[str]:
    """What an option names: `all`, or some of @known; without it what was recorded."""
    known = list(known)
    if not text:
        return [recorded]
    names = known if text == "all" else text.split(",")
    for name in names:
        if name not in known:
            raise LabError(f"{option} {name}: there is no such one. There are: all, {', '.join(known)}")
    return list(dict.fromkeys(names))


def sizes_of(text: str, recorded: int | None, cache: str) -> list[int]:
    """The bits of `12`, `10..14`, `8,10..12`."""
    if not text:
        if recorded is None:
            raise LabError(f"the {cache} cache's size is not known, since the kernel sent no report: give --bits")
        return [recorded]
    found: list[int] = []
    for part in text.split(","):
        first, dots, last = part.partition("..")
        if not first.isdecimal() or (dots and not last.isdecimal()):
            raise LabError(f"--bits {text}: give it as 12, as 10..14, or as 8,10..12")
        found += range(int(first), int(last if dots else first) + 1)
    if not found or min(found) < 1 or max(found) > LARGEST_BITS:
        raise LabError(f"--bits {text}: a table has 1 to {LARGEST_BITS} bits, the smaller number first")
    return list(dict.fromkeys(found))


def words_of(text: str, recorded: int) -> list[int]:
    if not text:
        return [recorded]
    if not set(text.split(",")) <= {"32", "64"}:
        raise LabError(f"--word {text}: there are 32 and 64, or both as 32,64")
    return [int(word) for word in dict.fromkeys(text.split(","))]


def plan(header: dict[str, Any], cache: str, functions: str, tables: str, bits: str, word: str, names: str) -> list[tuple[Choice, int]]:  # fmt: skip
    """Every choice and size that the options ask for. A structure without buckets comes once."""
    choose, entry = load_choose(), header["caches"][cache]
    if names and cache != "dentry":
        raise LabError("--names: only the dentry cache hashes names")
    structures = [n for n in choose.structures() if cache in choose.served_caches(choose.HASH / "table" / f"{n}.h")]
    chosen = itertools.product(
        names_of(tables, "--tables", structures, entry["structure"]),
        words_of(word, header["word"]),
        names_of(names, "--names", choose.functions("name"), header["name_function"]),
        names_of(functions, "--functions", choose.functions(cache), entry["function"]),
    )
    found, seen = [], set()
    for structure, words, name_function, function in chosen:
        choice = Choice(cache, function, structure, words, name_function)
        if structure == "rbtree":
            recorded = entry["structure"] == "rbtree"
            choice = Choice(cache, entry["function"], structure, header["word"], name_function)
            sizes = [1 if recorded else entry["bits"] or 1]
        else:
            sizes = sizes_of(bits, None if entry["structure"] == "rbtree" else entry["bits"], cache)
        check_choice(choice)
        for size in sizes:
            if (choice, size) not in seen:
                seen.add((choice, size))
                found.append((choice, size))
    return found


def replay_file(
    path: Path, caches: str, functions: str, tables: str, bits: str, word: str, names: str, repeats: int,
    as_json: bool, as_csv: bool, histogram: bool,
) -> int:  # fmt: skip
    """Replay and print; 1 if the kernel's own counters did not come out where they should have."""
    if as_json and as_csv:
        raise LabError("--json and --csv: one of them")
    if not 1 <= repeats <= 1000:
        raise LabError(f"--repeats {repeats}: 1 to 1000")
    header = stream.read_header(path)
    stream.check_header(header, path)
    there = [cache for cache in stream.NUMBERS if cache in header["caches"]]
    if stream.PATH in there:
        there.remove("dentry")  # of which there is nothing (docs/lab/key-streams.md)
    wanted = there if caches in ("", "all") else caches.split(",")
    if not set(wanted) <= set(there):
        raise LabError(f"--cache {caches}: there are {', '.join(there)} in {path}, and all")
    if len(wanted) > 1 and (functions not in ("", "all") or tables not in ("", "all") or names):
        raise LabError("--functions, --tables and --names by name are for one cache: say which with --cache")
    planned = {cache: plan(header, cache, functions, tables, bits, word, names) for cache in wanted}
    progress = Progress()
    try:
        source = stream.read(path)
        compile_all(list(dict.fromkeys(choice for plans in planned.values() for choice, _ in plans)), progress)
        results = []
        for cache, plans in planned.items():
            operations = Replayable(source, cache)
            results += [replay(operations, choice, size, repeats, progress) for choice, size in plans]
    finally:
        progress.clear()
    if as_json:
        print(json.dumps([as_row(one) | {"report": one.report} for one in results], indent=1))
    elif as_csv:
        print(_csv([as_row(one) for one in results]), end="")
    else:
        _print(source.header, results, histogram)
    for one in results:
        for line in one.differs or []:
            print(f"cw: {one.choice.cache} cache, not as in the kernel: {line}", file=sys.stderr)
    return 1 if any(one.differs for one in results) else 0


def as_row(one: Replayed) -> dict[str, Any]:
    """A result's figures by name: as the kernel's JSON (docs/kernel/counters.md), one level deep."""
    report, choice = one.report, one.choice
    row: dict[str, Any] = {
        "cache": choice.cache, "function": report["function"], "structure": choice.structure, "word": choice.word,
        "name_function": choice.name_function if choice.cache == "dentry" else "",
        "bits": one.bits if "buckets" in report else "",
        "operations": one.operations, "nanoseconds": round(one.nanoseconds, 2),
        "as_recorded": "" if one.differs is None else "differs" if one.differs else "equal",
    }  # fmt: skip
    for name in (
        "objects", "lookups", "hits", "misses", "hit_steps", "miss_steps", "compares", "inserts", "removes",
        "steps_per_lookup", "steps_per_hit", "expected_steps_per_hit", "steps_per_miss", "expected_steps_per_miss",
        "largest", "expected_largest", "empty", "dragon_q",
    ):  # fmt: skip
        row[name] = report.get(name, "")
    for fit in ("bucket_fit", "histogram_fit"):
        for name in ("chi2", "degrees_of_freedom", "z"):
            row[f"{fit}_{name}"] = report.get(fit, {}).get(name, "")
    return row


def _csv(rows: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


# The columns of the text: heading, member of as_row(), how it is written.
TEXT = (
    ("function", "function", "<17"), ("table", "structure", "<8"), ("word", "word", ">4"), ("bits", "bits", ">4"),
    ("steps/hit", "steps_per_hit", ">9.3f"), ("chance", "expected_steps_per_hit", ">7.3f"),
    ("steps/miss", "steps_per_miss", ">10.3f"), ("chance", "expected_steps_per_miss", ">7.3f"),
    ("compares", "compares", ">11,"), ("chi^2", "bucket_fit_chi2", ">14,.1f"), ("z", "bucket_fit_z", ">10.2f"),
    ("Q", "dragon_q", ">9.4f"), ("largest", "largest", ">7,"), ("empty", "empty", ">9,"), ("ns", "nanoseconds", ">7.1f"),
    ("", "as_recorded", "<7"),
)  # fmt: skip


def _cell(value: Any, how: str) -> str:
    align, width = how[0], how[1:].rstrip(",f").split(".")[0].rstrip(",")
    return f"{value:{how}}" if value != "" and not isinstance(value, str) else f"{value or '':{align}{width}}"


def _print(header: dict[str, Any], results: list[Replayed], histogram: bool) -> None:
    if header["cut"]:
        print(
            f"The stream is cut: {header['lost']:,} operations at its end are lost. What stands here is of its beginning."
        )
    for cache in dict.fromkeys(one.choice.cache for one in results):
        mine = [one for one in results if one.choice.cache == cache]
        report = mine[0].report
        print(f"{cache} cache: {mine[0].operations:,} operations, {report['hits']:,} hits, {report['misses']:,} misses, "
              f"{report['inserts']:,} inserts, {report['removes']:,} removes; {report['objects']:,} objects in the end")  # fmt: skip
        columns = [column for column in TEXT if column[1] != "as_recorded"] + [TEXT[-1]]
        if cache == "dentry" and len({one.choice.name_function for one in mine}) > 1:
            columns.insert(1, ("name hash", "name_function", "<16"))
        print(" ".join(_cell(heading, how) for heading, _, how in columns).rstrip())
        for one in mine:
            row = as_row(one)
            print(" ".join(_cell(row[name], how) for _, name, how in columns).rstrip())
            if histogram:
                print(one.text[one.text.index(" hash table histogram") :].rstrip())
        print()
    print("chance: uniform hashing. ns: an operation on this computer's processor, the best of the repeats."
          " equal: all figures are the kernel's own.")  # fmt: skip
