"""A file of results/ as text: JSON, a line each, sorted, so that git tells and stores what changes.

    {"kept": 1, "experiment": ...}     the head
    {"with": KEY, ...}                 what many cells have in common: commit, sources, QEMU, tools, packages, host and
                                       what it has: libraries, system
    {"kernel": KEY, ...}               a kernel: configuration, how it was asked for, hash of its image
    {"cell": ID, "place": [kernel, workload, seed], "with": KEY, "of": KEY, ..., "sum": ...}
                                       a run; of one that fills several places they are "places", a list

KEY is a hash of the rest of its line, `sum` of the rest of the cell's; ID is the cell's identity (lab/sweep/plan.py), a
hash of its whole configuration. So a line that was changed is noticed. Left out is what no report reads: the log of a
run that ended well, rates of the memory caches' simulation that are quotients of what is there, and that the sources were
looked at while it ran, which has served when it is kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from lab.base.paths import LabError
from lab.sweep.plan import identity
from lab.sweep.store import Cell

VERSION = 1
# Of a configuration; and the commit.
WITH = ("sources", "tools", "qemu", "packages", "requested_packages", "host", "libraries", "system")
KERNEL = ("defconfig", "settings", "kernel_config", "kernel_config_sha256", "kernel_sha256")
OF_CELL = ("command", "seconds", "finished", "kind", "message", "virtual_ns", "results", "stats", "cachesim")
UNREAD = ("accesses_per_lookup", "instructions_per_lookup")

Place = tuple[str, str, int]  # kernel, workload, seed


@dataclass(frozen=True)
class Kept:
    """A cell, and the place of the experiment that it fills."""

    place: Place
    cell: Cell


def small(cell: Cell) -> Cell:
    """@cell without what is not kept."""
    config = {name: value for name, value in cell.config.items() if name != "checked"}
    return replace(cell, log="", config=config, cachesim=_without(cell.cachesim))


def _without(found: Any) -> Any:
    if isinstance(found, dict):
        return {name: _without(value) for name, value in found.items() if name not in UNREAD}
    return [_without(one) for one in found] if isinstance(found, list) else found


def lines(experiment: str, kept: Iterable[Kept]) -> list[str]:
    """The file of @experiment."""
    shared: dict[str, dict[str, str]] = {"with": {}, "kernel": {}}
    cells = []
    for places, full in _by_cell(kept):
        cell = small(full)
        config = dict(cell.config)
        common = {"revision": cell.revision, **{name: config.pop(name) for name in WITH if name in config}}
        kernel = {name: config.pop(name) for name in KERNEL if name in config}
        line = {
            "cell": cell.id, **({"place": places[0]} if len(places) == 1 else {"places": places}), "with": _share(shared["with"], "with", common),
            "of": _share(shared["kernel"], "kernel", kernel), "config": config,
            **{name: getattr(cell, name) for name in OF_CELL},
        }  # fmt: skip
        cells.append(_text({**line, "sum": _digest(line)}))
    head = _text({"kept": VERSION, "experiment": experiment})
    return [head, *(text for kind in shared.values() for _, text in sorted(kind.items())), *cells]


def _by_cell(kept: Iterable[Kept]) -> list[tuple[list[Place], Cell]]:
    """Each cell once, with all places that it fills, in the order of the first of them."""
    order = sorted(kept, key=lambda one: (one.cell.id, one.place))
    groups = [list(group) for _, group in groupby(order, key=lambda one: one.cell.id)]
    return sorted(([one.place for one in group], group[0].cell) for group in groups)


def _share(known: dict[str, str], kind: str, content: dict[str, Any]) -> str:
    """The key of @content, which is put among the @known lines of its kind."""
    key = _digest(content)
    known[key] = _text({kind: key, **content})
    return key


def read(experiment: str, text: str, name: str) -> Iterator[Kept]:
    """What the file @name has. LabError with the line that is wrong."""
    shared: dict[str, dict[str, Any]] = {}
    places: dict[Place, int] = {}
    numbered = list(enumerate(text.splitlines(), 1))
    if text and not text.endswith("\n"):
        raise _wrong(name, len(numbered), "the file ends in the middle of a line")
    head = _object(name, *numbered[0]) if numbered else {}
    if head != {"kept": VERSION, "experiment": experiment}:
        raise _wrong(name, 1, f"that is no head of version {VERSION} for {experiment}")
    for number, line in numbered[1:]:
        found = _object(name, number, line)
        kind = next((kind for kind in ("with", "kernel") if kind in found and "cell" not in found), "")
        if kind:
            key = found.pop(kind)
            if key != _digest(found):
                raise _wrong(name, number, "the line was changed: its hash is another")
            shared[key] = found
            continue
        for kept in _cell(name, number, found, shared):
            if kept.place in places:
                raise _wrong(
                    name, number, f"{spoken(kept.place)} stands in line {places[kept.place]}, too: keep one of them"
                )
            places[kept.place] = number
            yield kept


def _object(name: str, number: int, line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        raise _wrong(name, number, "that is no JSON") from None
    if not isinstance(found, dict):
        raise _wrong(name, number, "that is no object of JSON")
    return found


def _cell(name: str, number: int, line: dict[str, Any], shared: dict[str, dict[str, Any]]) -> list[Kept]:
    total = line.pop("sum", None)
    if total != _digest(line):
        raise _wrong(name, number, "the line was changed: its sum is another")
    if line["with"] not in shared or line["of"] not in shared:
        raise _wrong(name, number, "what it has in common with others stands in no line before it")
    common, kernel = dict(shared[line["with"]]), shared[line["of"]]
    revision = common.pop("revision")
    config = {**common, **kernel, **line["config"]}
    if identity(config) != line["cell"]:
        raise _wrong(name, number, "its id is not that of its configuration")
    values = {key: line[key] for key in OF_CELL}
    cell = Cell(id=line["cell"], config=config, revision=revision, qemu=config["qemu"], status="ok", log="", **values)
    filled = line.get("places", [line["place"]] if "place" in line else [])
    return [Kept((kernel_name, workload, seed), cell) for kernel_name, workload, seed in filled]


def _wrong(name: str, number: int, what: str) -> LabError:
    return LabError(f"{name}:{number}: {what}. `git checkout {name}` brings back what was kept")


def spoken(place: Place) -> str:
    kernel, workload, seed = place
    return f"{kernel}, {workload}, seed {seed}"


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _digest(value: Any) -> str:
    return hashlib.sha256(_text(value).encode()).hexdigest()[:12]
