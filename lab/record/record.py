"""./cw record: run a job and keep every operation of the caches, as the kernel wrote it, in a key stream.

The kernel (hash/record.c) writes into memory that it sets aside at the end of RAM; QEMU's memory is a file of this
host, sparse and thrown away afterwards, in which we find it. The machine gets so much more memory, and so is for
everything else in it the machine that it is without recording.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from lab.base.files import check_room
from lab.base.paths import LabError, output_folder
from lab.build.kernel import config_file
from lab.record.stream import (
    CACHE_SHIFT,
    CACHES,
    FIND,
    FOUND,
    INSERT,
    LOOK,
    NUMBERS,
    OPERATIONS,
    PATH,
    REMOVE,
    REPORT,
    SEED,
    SWAP,
    Operations,
    Stream,
    has_key,
    has_object,
    write,
)
from lab.run import machine
from lab.run.options import Options, check_options, more_memory
from lab.run.own_folder import own_folder
from lab.run.qemu.given import qemu_version
from lab.run.result import revision

# struct record_head and struct record of hash/record.c.
RECORD_MAGIC = b"CWRECORD"
RECORD_HEAD = np.dtype([("magic", "S8"), ("bytes", "<u8"), ("operations", "<u8"), ("name_bytes", "<u8"), ("lost", "<u8"), ("unused", "<u8", 3)])  # fmt: skip
RECORD = np.dtype([("cache", "u1"), ("operation", "u1"), ("cpu", "u1"), ("unused", "u1"), ("length", "<u4"), ("first", "<u8"), ("second", "<u8"), ("object", "<u8")])  # fmt: skip
PAGE = 4096
OWN_TABLES = {SWAP: "SWAP_TABLE_OWN", PATH: "DCACHE_FASTPATH"}  # which are there only with these
INTERRUPTED = "interrupted"


def size_of(text: str) -> int:
    """Bytes of "64M", "2G"."""
    match = re.fullmatch(r"(\d+)([MmGg])", text)
    if not match or int(match[1]) == 0:
        raise LabError(f"--size {text}: give it as 64M or 2G; an operation takes 40 bytes, a dentry's its name besides")
    return int(match[1]) << (20 if match[2] in "Mm" else 30)


def record(options: Options, path: Path, size: str, command: list[str], sink: BinaryIO | None = None) -> machine.Result:
    """Run @options' job and write the stream @path. @command: the words behind ./cw, for the file."""
    bytes_set_aside = size_of(size)
    check_room(path, "--output")
    if options.kernel != "chainwalk":
        raise LabError("--kernel: what is recorded are the caches of Chainwalk's own kernel")
    check_options(options)
    settings = [one for one in options.settings if not one.startswith("RECORD_KEYS=")]
    if "HASH_STATS=n" in settings:
        raise LabError("--set HASH_STATS=n: a stream is kept with the kernel's own counters, which that leaves out")
    runs = output_folder() / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    with (  # a kernel of its own: every file of it is another
        own_folder("record"),
        tempfile.TemporaryDirectory(prefix="run-keys-", dir=runs) as folder,
    ):
        memory = Path(folder) / "memory"
        recording = replace(
            options, memory=memory, mem=more_memory(options.mem, bytes_set_aside >> 20), settings=[*settings, "RECORD_KEYS=y"], build=True,
            stats=Path(folder), cmdline=f"record={bytes_set_aside} {options.cmdline}".strip(),
        )  # fmt: skip
        result = _run(recording, sink)
        stream = _take(memory, bytes_set_aside, result, options, command)
    if path.exists() and result.kind != "exit":  # a whole one is not given away for a part
        path = path.with_name(f"{path.name}.partial")
    write(stream, path)
    print(_summary(stream, path), file=sys.stderr)
    lost = stream.header["lost"]
    if lost:
        needed = _needed(stream, bytes_set_aside, lost)
        print(
            f"cw: the memory for the stream was full: the last {lost:,} operations are lost, and the stream is marked as"
            f" cut. --size {needed}M would have held all",
            file=sys.stderr,
        )
    if result.kind == INTERRUPTED:
        raise KeyboardInterrupt
    return result


def _run(options: Options, sink: BinaryIO | None) -> machine.Result:
    """lab.run.machine.run(); a result also where Ctrl-C ends the machine: what it had recorded until then is kept."""
    try:
        return machine.run(options, sink)
    except KeyboardInterrupt:
        if not options.memory or not options.memory.exists():
            raise
        log = machine.control.parse(b"")
        return machine.Result(130, INTERRUPTED, "Ctrl-C", log, config=config_file().read_text())


def _needed(stream: Stream, size: int, lost: int) -> int:
    """Megabytes that would have been enough, if what was lost is like what was kept, and a tenth more."""
    kept = max(stream.header["operations"], 1)
    return -(-int(size * (kept + lost) / kept * 1.1) >> 20) + 1


def _summary(stream: Stream, path: Path) -> str:
    counts = ", ".join(f"{name} {entry['operations']:,}" for name, entry in stream.header["caches"].items())
    total, size = stream.header["operations"], path.stat().st_size
    return f"cw: {path}: {total:,} operations ({counts}), {size:,} bytes, {size / max(total, 1):.2f} each"


# ---- from the machine's memory ------------------------------------------------------------------


def find_records(memory: Path, size: int) -> tuple[dict[str, int], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The head, the records and all the names' bytes that the kernel left in @memory, where it set @size bytes aside."""
    with memory.open("rb") as file:
        for place in _places(file.fileno()):
            head = np.frombuffer(os.pread(file.fileno(), RECORD_HEAD.itemsize, place), RECORD_HEAD)
            if not len(head) or head["magic"][0] != RECORD_MAGIC:
                continue
            found = {name: int(head[name][0]) for name in ("bytes", "operations", "name_bytes", "lost")}
            used = RECORD_HEAD.itemsize + found["operations"] * RECORD.itemsize + found["name_bytes"]
            if not size * 9 // 10 <= found["bytes"] <= size or used > found["bytes"]:
                continue
            records = np.fromfile(file, RECORD, found["operations"], offset=place + RECORD_HEAD.itemsize - file.tell())
            file.seek(place + found["bytes"] - found["name_bytes"])
            return found, records, np.fromfile(file, np.uint8, found["name_bytes"])
    raise LabError("the kernel has recorded nothing: did the machine start? (its console says why, without --quiet)")


def _places(descriptor: int) -> list[int]:
    """The pages of the sparse file that begin with the head's first bytes, the last one first."""
    end, at, found = os.fstat(descriptor).st_size, 0, []
    while at < end:
        try:
            at = os.lseek(descriptor, at, os.SEEK_DATA)
        except OSError:
            break
        hole = os.lseek(descriptor, at, os.SEEK_HOLE)
        for begin in range(at // PAGE * PAGE, hole, 1 << 26):
            data = np.frombuffer(os.pread(descriptor, min(1 << 26, end - begin), begin), np.uint8)
            pages = data[: len(data) // PAGE * PAGE].reshape(-1, PAGE)[:, :8]
            hits = np.flatnonzero((pages == np.frombuffer(RECORD_MAGIC, np.uint8)).all(axis=1))
            found += [begin + int(hit) * PAGE for hit in hits]
        at = hole
    return found[::-1]


def _take(memory: Path, size: int, result: machine.Result, options: Options, command: list[str]) -> Stream:
    head, records, names = find_records(memory, size)
    seeds = records["first"][records["operation"] == SEED]
    config = dict(re.findall(r'^CONFIG_(\w+)="?(.*?)"?$', result.config, re.MULTILINE))
    stream = Stream({
        "command": shlex.join(["./cw", *command]), "revision": revision(), "qemu": qemu_version(), "config": result.config,
        "kind": result.kind, "status": result.status, "lost": head["lost"], "cut": head["lost"] > 0,
        "seed": f"{int(seeds[0]) if len(seeds) else 0:016x}", "word": int(config.get("HASH_WORD", "64")),
        "name_function": config.get("NAME_HASH", ""), "caches": {},
    })  # fmt: skip
    paths = config.get("DCACHE_FASTPATH") == "y"
    kept = records["operation"] != SEED
    if paths:  # a walk without locks looks for components, which is in no order: so none of dentries is kept
        kept &= records["cache"] != NUMBERS["dentry"]
    kinds, objects = to_kinds(records), np.zeros(len(records), np.uint32)
    own = [cache for cache, symbol in OWN_TABLES.items() if config.get(symbol) == "y"]
    for cache in (*CACHES, *own):
        mine = kept & (records["cache"] == NUMBERS[cache])
        known = mine & has_object(kinds)
        addresses, objects[known] = np.unique(records["object"][known], return_inverse=True)
        report = None if paths and cache == "dentry" else result.stats.get(cache)
        check_history(cache, records[mine])
        stream.header["caches"][cache] = {
            "function": config.get(f"{cache.upper()}_HASH", ""), "structure": config.get(f"{cache.upper()}_TABLE", ""),
            "bits": (report["buckets"].bit_length() - 1 if "buckets" in report else 1) if report else None,
            "operations": int(np.count_nonzero(mine)), "objects": len(addresses), "report": report,
        }  # fmt: skip
    stream.header["operations"] = int(np.count_nonzero(kept))
    _fill_blocks(stream, records, kinds, objects, names, np.flatnonzero(kept))
    return stream


def to_kinds(records: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    operation = records["operation"]
    looks = (operation == FIND) | (operation == LOOK)
    found = np.where(looks & (records["object"] != 0), FOUND, 0)
    return np.asarray(operation | found | records["cache"] << CACHE_SHIFT, np.uint8)


def _fill_blocks(stream: Stream, records: Any, kinds: Any, objects: Any, names: Any, kept: Any) -> None:
    """The records numbered @kept as blocks of columns."""
    ends = len(names) - np.concatenate([[0], np.cumsum(records["length"], dtype=np.int64)])  # the first name is last
    dentry = NUMBERS["dentry"]
    for begin in range(0, len(kept), OPERATIONS):
        part = kept[begin : begin + OPERATIONS]
        kind = kinds[part]
        keyed = part[has_key(kind)]
        named = keyed[records["cache"][keyed] == dentry]
        lengths = records["length"][named].astype(np.int64)
        starts = np.repeat(ends[named + 1] - (np.cumsum(lengths) - lengths), lengths)
        stream.blocks.append(
            Operations(
                kind, records["cpu"][part].copy(), objects[part[has_object(kind)]], records["first"][keyed].copy(),
                records["second"][keyed].copy(), lengths.astype(np.uint16), names[starts + np.arange(len(starts))],
            )
        )  # fmt: skip


def check_history(cache: str, records: np.ndarray[Any, Any]) -> None:
    """What the kernel recorded can have happened: an object comes, is found by the key it came with, and goes."""
    with_object = np.flatnonzero((records["object"] != 0) & (records["operation"] != REPORT))
    order = with_object[np.argsort(records["object"][with_object], kind="stable")]
    mine = records[order]
    first = np.ones(len(mine), bool)  # of each object
    first[1:] = mine["object"][1:] != mine["object"][:-1]
    inserts = mine["operation"] == INSERT
    gone = first.copy()  # before this operation the object is not in the table
    gone[1:] |= mine["operation"][:-1] == REMOVE
    latest = np.maximum.accumulate(np.where(inserts, np.arange(len(mine)), 0))
    came = mine[latest]
    same = (came["first"] == mine["first"]) & (came["second"] == mine["second"]) & (came["length"] == mine["length"])
    wrong = np.flatnonzero((inserts != gone) | ~same)
    if len(wrong):
        number = int(order[wrong].min())
        what = {FIND: "found", LOOK: "found", INSERT: "inserted", REMOVE: "removed"}[int(records["operation"][number])]
        raise LabError(
            f"the recording contradicts itself: operation {number:,} of the {cache} cache, an object that was {what}, does"
            " not follow from those before it. This is a fault of the kernel: please report it"
        )
