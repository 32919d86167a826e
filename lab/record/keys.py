"""./cw keys: what fileset.py found, as a table, as JSON, and what of it bears on Santos's claims."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from lab.base.files import write_whole
from lab.base.paths import LabError
from lab.record import fileset
from lab.record.fileset import FULL_BITS, FULL_FILES, REFERENCE
from lab.record.replay import Progress, sizes_of

REDUCED_FILES, REDUCED_BITS = FULL_FILES // 16, (20, 21)

# Heading, member, width and form.
COLUMNS = (
    ("function", "function", "<13"), ("bits", "bits", ">4"), ("read in", "steps_per_fill_miss", ">8.3f"),
    ("hit", "steps_per_hit", ">7.3f"), ("chance", "chance_hit", ">7.3f"), ("miss", "steps_per_miss", ">7.3f"),
    ("chance", "chance_miss", ">7.3f"), ("largest", "largest", ">8,"), ("chance", "expected_largest", ">7,"),
    ("empty", "empty", ">11,"), ("chi^2", "chi2", ">16,.0f"), ("z", "z", ">9.1f"), ("ns", "nanoseconds", ">6.0f"),
    ("time", "time", ""),
)  # fmt: skip


def seeds_of(text: str) -> list[int]:
    first, dash, last = text.partition("-")
    if not first.isdecimal() or (dash and not last.isdecimal()):
        raise LabError(f"--seeds {text}: give it as 1 or as 1-3")
    found = list(range(int(first), int(last if dash else first) + 1))
    if not found:
        raise LabError(f"--seeds {text}: the second number is the larger one")
    return found


def shown(row: dict[str, Any]) -> dict[str, Any]:
    """A row's columns."""
    report, (ratio, low, high) = row["report"], row["time_ratio"]
    return {
        **row, **{name: report[name] for name in ("largest", "expected_largest", "empty")},
        "chance_hit": report["expected_steps_per_hit"], "chance_miss": report["expected_steps_per_miss"],
        "chi2": report["bucket_fit"]["chi2"], "z": report["bucket_fit"]["z"],
        "time": f"  {ratio:.2f} ({low:.2f} to {high:.2f})",
    }  # fmt: skip


def table(rows: list[dict[str, Any]]) -> str:
    """All rows, those of a set together."""
    lines: list[str] = []
    before = None
    for row in rows:
        place = (row["cache"], row["layout"], row["seed"])
        if place != before:
            lines += ["", f"{row['cache']} cache, {row['layout']}: {row['files']:,} files, seed {row['seed']}"]
            lines.append(" ".join(f"{heading:{how[:1] + how[1:].split('.')[0].strip(',f') if how else ''}}" for heading, _, how in COLUMNS))  # fmt: skip
            before = place
        values = shown(row)
        lines.append(" ".join(f"{values[name]:{how}}" for _, name, how in COLUMNS))
    lines += [
        "",
        "read in: steps of a miss while the set is read in; hit, miss: afterwards, in use; chance: uniform hashing at the end.",
        f"time: of an operation in use, to {REFERENCE} with the larger table in the same run: median of the pieces (95 %).",
    ]
    return "\n".join(lines[1:]) + "\n"


def histograms(rows: list[dict[str, Any]]) -> str:
    """Buckets by size, found and expected by chance, of each row."""
    lines = []
    for row in rows:
        lines.append(
            f"\n{row['cache']} cache, {row['layout']}, {row['function']}, {row['bits']} bits, seed {row['seed']}"
        )
        lines.append(f"{'size':>5} {'buckets':>12} {'by chance':>12}")
        found = row["report"]["histogram"]
        for size, (buckets, expected) in enumerate(zip(found["buckets"], found["expected"], strict=True)):
            if buckets or expected >= 0.5:
                lines.append(f"{size:>4}{'+' if size == 16 else ' '} {buckets:>12,} {expected:>12,.0f}")
    return "\n".join(lines) + "\n"


def claims(rows: list[dict[str, Any]]) -> str:
    """What the text of 2004 says of chains, beside what is found of them; no verdict on less than its own load."""
    large = max(row["bits"] for row in rows)
    whole = rows[0]["files"] >= FULL_FILES and {row["bits"] for row in rows} >= set(FULL_BITS)
    lines = [] if whole else ["A demonstration: with fewer files than Santos's 20 million nothing is judged."]
    for cache, layout in dict.fromkeys((row["cache"], row["layout"]) for row in rows):
        mine = [row for row in rows if (row["cache"], row["layout"]) == (cache, layout)]

        def mean(function: str, bits: int, mine: list[dict[str, Any]] = mine) -> float:
            found = [row["steps_per_lookup"] for row in mine if row["function"] == function and row["bits"] == bits]
            return sum(found) / len(found)

        before, after = mean(REFERENCE, large), mean("linux-2.6", large)
        said = f"{cache} cache, {layout}: {before:.3f} steps a lookup before, {after:.3f} after"
        half = mean("linux-2.6", large - 1) if any(row["bits"] == large - 1 for row in mine) else None
        if half is not None:
            said += f", {half:.3f} after with half of the buckets"
        if whole:
            said += f": {'shorter' if after < 0.97 * before else 'longer' if after > 1.03 * before else 'the same within 3 %'}"
        if whole and half is not None:
            said += f", {'and' if half <= before else 'but not'} with half of the buckets"
        lines.append(said)
    return "\n".join(lines) + "\n"


def make(files: int, bits: tuple[int, ...], operations: int, seeds: list[int], caches: list[str], again: bool) -> list[dict[str, Any]]:  # fmt: skip
    progress = Progress()

    def say(text: str) -> None:
        print(f"cw: {text}", file=sys.stderr)

    cells = fileset.plan(files, bits, operations or files, seeds, caches)
    try:
        return fileset.run_cells(cells, say, progress, again)
    finally:
        progress.clear()


def keys(files: int, bits: str, operations: int, seeds: str, cache: str, as_json: bool, histogram: bool, again: bool) -> int:  # fmt: skip
    caches = [cache] if cache else list(fileset.CACHE_NUMBERS)
    if not set(caches) <= set(fileset.CACHE_NUMBERS):
        raise LabError(f"--cache {cache}: there are {' and '.join(fileset.CACHE_NUMBERS)}")
    rows = make(files, tuple(sizes_of(bits, None, "inode")), operations, seeds_of(seeds), caches, again)
    if as_json:
        print(json.dumps(rows, indent=1))
    else:
        print(table(rows) + (histograms(rows) if histogram else "") + "\n" + claims(rows), end="")
    return 0


def reproduce(full: bool, folder: Path) -> str:
    """The part of ./cw reproduce santos: his size, or a sixteenth. Into keys.txt and keys.json; what is to be printed."""
    files, bits = (FULL_FILES, FULL_BITS) if full else (REDUCED_FILES, REDUCED_BITS)
    rows = make(files, bits, files, [1, 2, 3] if full else [1], list(fileset.CACHE_NUMBERS), again=False)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "keys.txt", table(rows) + "\n" + claims(rows) + histograms(rows))
    write_whole(folder / "keys.json", json.dumps(rows, indent=1))
    return claims(rows)
