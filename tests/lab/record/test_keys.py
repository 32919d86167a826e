"""Key streams: what a replay counts is what the booted kernel counted; what is no whole stream is refused."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

from lab.base.choose import load_choose
from lab.base.paths import TOP, output_folder
from lab.record import engine, stream

# Tables so small that chains are long; files made, found, missed, renamed and removed; caches dropped in between.
SMALL = "phash_entries=64 bhash_entries=32 ihash_entries=16 dhash_entries=32 dlhash_entries=32"
TREES = (
    "cp -r /etc /root/a && mv /root/a /root/b && ls -lR /root /no 2>&1 | wc -l; for i in 1 2 3 4 5 6 7 8; do"
    " mkdir -p /root/d$i/sub && echo $i > /root/d$i/a_name_that_is_longer_than_any_word_of_a_machine_$i; done;"
    " for f in /root/b/*; do ln $f $f.too; done; find / -xdev | wc -l; rm -r /root/b/[a-h]* /root/d1 /root/d2; sync;"
    " echo 3 > /proc/sys/vm/drop_caches; find / -xdev | wc -l; [ -e /root/$(printf %0300d 0) ] || ls -lR /root"  # no name is so long
)
CONTENTS = (
    "dd if=/dev/zero of=/root/x bs=4096 count=700 2>/dev/null; for i in 1 2 3; do dd if=/root/x bs=65536 2>/dev/null | wc -c; done;"
    " cp /root/x /root/y; : > /root/x; sync; echo 1 > /proc/sys/vm/drop_caches; wc -c /root/y; rm /root/y; ls /root/z; true"
)
# Both words, both structures, keyed functions and those of the papers.
KERNELS = {
    "keyed": ["PAGE_HASH=tabulation", "BUFFER_HASH=siphash", "INODE_HASH=pearson", "DENTRY_HASH=multilinear", "NAME_HASH=siphash"],
    "trees-32": ["HASH_WORD=32", "PAGE_TABLE=rbtree", "BUFFER_HASH=linux-2.2", "INODE_HASH=linux-2.4", "DENTRY_HASH=linux-2.2", "NAME_HASH=linux-2.2"],
}  # fmt: skip
# Whole paths, with aliases; what a signature chooses a bucket by is hashed once more.
PATHS_JOB = (
    f"{TREES}; for i in 1 2 3; do find /root -newer /root/d3/sub; mv /root/d3 /root/d3$i; mv /root/d3$i /root/d3; done"
)
# Two areas, of which the first is soon full, and a program that fills more memory than there is and looks at it again.
SWAPPING_JOB = (
    "for size in 8 64; do dd if=/dev/zero of=/swap$size bs=1M count=$size && mkswap /swap$size && swapon /swap$size || exit 1;"
    " done 2>/dev/null >/dev/null; dd if=/dev/zero bs=80M count=1 | md5sum"
)
SWAPPING = {"swapping": ["SWAP=y", "SWAP_TABLE=rbtree"]}
PATHS = {"paths": ["DCACHE_FASTPATH=y", "DCACHE_SYMLINK_ALIAS=y", "PATH_TABLE=tagged", "PATH_HASH=wyhash"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("keys")


@pytest.fixture
def recorded(cw, tmp_path_factory, monkeypatch):
    """A stream of a job on one of KERNELS, recorded as a user would; once for all tests that run at the same time."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "streams"
    shared.mkdir(exist_ok=True)

    def make(kernel, script, name, *options):
        path = shared / f"{kernel}-{name}.keys"
        with (shared / f"{kernel}.lock").open("w") as lock, monkeypatch.context() as patch:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # Kept between runs of the tests: then a kernel is brought up to date, and not built anew.
            patch.setenv("CW_OUTPUT", str(output_folder().parent / "keys-tests" / kernel / "default"))
            said = path.with_suffix(".said")
            if path.exists():
                return path, said.read_text()
            sets = [word for setting in (KERNELS | PATHS | SWAPPING)[kernel] for word in ("--set", setting)]
            result = cw(
                "record", "--quiet", "--mem", "96M", "--timeout", "200", *sets, *options, "--cmdline", SMALL, "--output", path,
                "--", "/bin/sh", "-c", script, timeout=900,
            )  # fmt: skip
            assert result.returncode == 0, (result.stdout + result.stderr).decode(errors="replace")[-3000:]
            said.write_bytes(result.stderr)
            return path, result.stderr.decode()

    return make


def replayed(path: Path, cache: str) -> engine.Replayed:
    found = engine.Replayable(stream.read(path), cache)
    return engine.replay(found, found.recorded, found.entry["bits"])


@pytest.mark.turns(4)
@pytest.mark.parametrize("job", ["trees", "contents"])
@pytest.mark.parametrize(
    "kernel", ["keyed", pytest.param("trees-32", marks=pytest.mark.builds("a kernel with trees that records"))]
)
def test_a_replay_counts_what_the_kernel_counted(recorded, kernel, job):
    path, _ = recorded(kernel, {"trees": TREES, "contents": CONTENTS}[job], job)
    header = stream.read_header(path)
    assert header["status"] == 0 and not header["cut"]
    for cache in stream.CACHES:
        ours = replayed(path, cache)
        # The whole report: counters, the table's every bucket, and what is computed from them.
        assert ours.differs == [], f"{cache}: {ours.differs}"
        assert ours.report == header["caches"][cache]["report"]
    reports = {cache: header["caches"][cache]["report"] for cache in stream.CACHES}
    # It would prove little of caches that had nothing to do.
    busy = ("page", "buffer", "inode", "dentry") if job == "trees" else ("page", "buffer")
    for cache in busy:
        found = reports[cache]
        assert min(found[name] for name in ("hits", "misses", "inserts", "removes")) > 2, (cache, found)
        assert found["hit_steps"] + found["miss_steps"] > found["lookups"], (cache, found)
    word, structure = (32, "rbtree") if kernel == "trees-32" else (64, "chained")
    assert reports["page"]["structure"] == structure and {r["word"] for r in reports.values()} == {word}
    assert int(header["seed"], 16)


@pytest.mark.builds("a kernel that records paths")
def test_lookups_of_whole_paths_are_replayed(recorded, cw):
    """They are in the order of locks as well, though the walk beside them takes none: so of dentries there is nothing."""
    path, _ = recorded("paths", PATHS_JOB, "trees")
    header = stream.read_header(path)
    caches = header["caches"]
    assert list(caches) == sorted([*stream.CACHES, stream.PATH]) and caches["dentry"]["operations"] == 0
    text = cw("replay", path).stdout.decode()
    assert text.count(" equal\n") == 4 and "dentry" not in text, text
    ours, kernel = replayed(path, stream.PATH), caches[stream.PATH]["report"]
    assert ours.report == kernel and kernel["structure"] == "tagged" and kernel["buckets"] == 4
    assert min(kernel[name] for name in ("hits", "misses", "inserts", "removes")) > 20 and kernel["largest"] > 7, kernel
    found = json.loads(
        cw("replay", path, "--cache", "path", "--tables", "all", "--functions", "all", "--repeats", 1, "--json").stdout
    )
    assert {row["structure"] for row in found} == {"chained", "tagged"}
    assert {(row["hits"], row["misses"]) for row in found} == {(kernel["hits"], kernel["misses"])}
    assert cw("replay", path, "--cache", "dentry").returncode != 0


@pytest.mark.turns(4)
@pytest.mark.builds("a kernel that records swap")
def test_a_swap_cache_with_a_table_of_its_own_is_replayed(recorded, cw):
    """In a tree, where the order of areas and slots is seen; in chains, with functions that take them apart."""
    path, _ = recorded("swapping", SWAPPING_JOB, "filled", "--mem", "64M+disk", "--ext2-free", "80")
    source = stream.read(path)
    assert list(source.header["caches"]) == sorted([*stream.CACHES, stream.SWAP]) and path.read_bytes()[8] == 3
    text = cw("replay", path).stdout.decode()
    assert text.count(" equal\n") == 5, text
    ours, kernel = replayed(path, stream.SWAP), source.header["caches"][stream.SWAP]["report"]
    assert ours.report == kernel and kernel["structure"] == "rbtree" and kernel["trees"] <= 1
    assert min(kernel[name] for name in ("hits", "misses", "inserts", "removes")) > 1000, kernel
    assert sorted(set(source.of_cache(stream.SWAP).first.tolist())) == [0, 1]
    options = ("--cache", "swap", "--tables", "all", "--functions", "all", "--bits", 11, "--repeats", 1, "--json")
    found = json.loads(cw("replay", path, *options).stdout)
    assert {row["function"] for row in found if row["structure"] == "chained"} == set(load_choose().functions("swap"))
    assert {(row["hits"], row["compares"]) for row in found} == {(kernel["hits"], kernel["compares"])}


@pytest.mark.builds("a kernel that records paths")
@pytest.mark.parametrize("operation", [stream.REMOVE, stream.INSERT])
def test_one_operation_of_paths_left_out_is_noticed(recorded, folder, cw, operation):
    path = folder / "one-path-less.keys"
    stream.write(without(stream.read(recorded("paths", PATHS_JOB, "trees")[0]), stream.PATH, operation), path)
    result = cw("replay", path, "--cache", "path", "--repeats", 1)
    assert result.returncode != 0 and re.search("not as in the kernel|never came|operation ", result.stderr.decode())


def without(source: stream.Stream, cache: str, operation: int) -> stream.Stream:
    """The stream with one operation of @cache left out: the last of its kind."""
    number = stream.NUMBERS[cache]
    blocks = list(source.blocks)
    for index in reversed(range(len(blocks))):
        kinds = blocks[index].kinds
        found = np.flatnonzero((kinds >> stream.CACHE_SHIFT == number) & (kinds & 7 == operation))
        if len(found):
            keep = np.ones(len(kinds), bool)
            keep[found[-1]] = False
            blocks[index] = stream.select(blocks[index], keep)
            entry = source.header["caches"][cache]
            entry = entry | {"operations": entry["operations"] - 1}
            caches = source.header["caches"] | {cache: entry}
            return stream.Stream(source.header | {"caches": caches}, blocks)
    raise AssertionError(f"no such operation of the {cache} cache")


@pytest.mark.parametrize("operation", [stream.FIND, stream.REMOVE, stream.INSERT])
@pytest.mark.parametrize("cache", stream.CACHES)
def test_one_operation_left_out_is_noticed(recorded, folder, cw, cache, operation):
    path = folder / "one-less.keys"
    stream.write(without(stream.read(recorded("keyed", TREES, "trees")[0]), cache, operation), path)
    result = cw("replay", path, "--cache", cache, "--repeats", 1)
    said = result.stderr.decode()
    assert result.returncode != 0 and (
        "not as in the kernel" in said or "never came" in said or "operation " in said
    ), said


@pytest.mark.turns(4)
def test_the_command_prints_what_it_found(recorded, cw):
    path, _ = recorded("keyed", TREES, "trees")
    text = cw("replay", path).stdout.decode()
    assert text.count(" equal\n") == 4, text
    options = ("--cache", "buffer", "--functions", "all", "--bits", "4..6", "--word", "32,64", "--repeats", 1)
    found = json.loads(cw("replay", path, *options, "--json").stdout)
    functions = load_choose().functions("buffer")
    assert [(r["word"], r["function"], r["bits"]) for r in found] == [
        (word, function, bits) for word in (32, 64) for function in functions for bits in (4, 5, 6)
    ]
    for row in found:
        assert row["nanoseconds"] > 0 and row["hits"] + row["misses"] == row["lookups"] == found[0]["lookups"]
        assert sum(row["report"]["histogram"]["buckets"]) == 1 << row["bits"]
    lines = cw("replay", path, *options, "--csv").stdout.decode().splitlines()
    assert len(lines) == 1 + len(found) and lines[0].startswith("cache,function,structure,word")
    text = cw("replay", path, "--cache", "page", "--tables", "all", "--histogram", "--repeats", 1).stdout.decode()
    assert re.search(r"^none +rbtree", text, re.MULTILINE) and "expected histogram:" in text


@pytest.mark.turns(4)
def test_other_name_hashes_give_other_chains(recorded, cw):
    path, _ = recorded("keyed", TREES, "trees")
    found = json.loads(cw("replay", path, "--cache", "dentry", "--names", "all", "--repeats", 1, "--json").stdout)
    assert len({row["name_function"] for row in found}) == len(load_choose().functions("name"))
    assert len({row["hit_steps"] for row in found}) > 5
    assert len({row["hits"] for row in found}) == 1


def test_a_full_memory_cuts_the_stream_and_says_how_much_is_needed(recorded, folder, cw):
    path, said = recorded(
        "keyed", "for i in 1 2 3 4 5 6 7 8 9; do ls -lR / > /dev/null 2>&1; done", "cut", "--size", "1M"
    )
    header = stream.read_header(path)
    assert header["cut"] and header["lost"] > 1000
    assert re.search(r"--size \d+M would have held all", said)
    result = cw("replay", path)
    assert result.returncode == 0 and "The stream is cut" in result.stdout.decode()
    assert "equal" not in result.stdout.decode().rsplit("chance:", 1)[0]


@pytest.mark.parametrize("there", [False, True])
def test_an_interrupted_run_leaves_what_it_had(recorded, folder, cw, monkeypatch, there):
    """Beside a stream that is there already, since that may be a whole one."""
    recorded("keyed", TREES, "trees")  # the kernel is built
    monkeypatch.setenv("CW_OUTPUT", str(output_folder().parent / "keys-tests" / "keyed" / "default"))
    path = folder / f"interrupted-{there}.keys"
    if there:
        path.write_bytes(b"a whole one")
    sets = [word for setting in KERNELS["keyed"] for word in ("--set", setting)]
    job = ["/bin/sh", "-c", "while ls -lR / > /dev/null 2>&1; do echo once more; done"]
    command = [TOP / "cw", "record", "--quiet", "--mem", "96M", "--timeout", "200", *sets, "--output", path, "--", *job]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert b"once more" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=200)
    assert process.returncode == 130 and b"interrupted" in said, said
    if there:
        assert path.read_bytes() == b"a whole one"
        path = path.with_name(f"{path.name}.partial")
    header = stream.read_header(path)
    assert header["kind"] == "interrupted" and header["caches"]["dentry"]["report"] is None
    result = cw("replay", path, "--cache", "dentry", "--bits", "10", "--repeats", 1)
    assert result.returncode == 0 and int(re.search(r"([\d,]+) hits", result.stdout.decode())[1].replace(",", "")) > 300
    assert "give --bits" in cw("replay", path, "--cache", "dentry").stderr.decode()


def test_a_run_gives_the_same_stream_again(recorded, folder):
    """To the byte, but for the name of the file in the command."""
    one, two = (recorded("keyed", "ls -lR /etc", name)[0] for name in ("again-1", "again-2"))
    assert one.read_bytes() != b"" and len(one.read_bytes()) == len(two.read_bytes())
    streams = [stream.read(path) for path in (one, two)]
    for column in stream.COLUMNS:
        assert all(np.array_equal(getattr(a, column), getattr(b, column)) for a, b in zip(*(s.blocks for s in streams), strict=True))  # fmt: skip
