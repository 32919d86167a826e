"""Key streams: what a replay counts is what the booted kernel counted; what is no whole stream is refused."""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import re
import signal
import struct
import subprocess
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lab.base.choose import load_choose
from lab.base.paths import TOP, LabError, output_folder
from lab.record import engine, record, stream
from lab.record import replay as command
from tests.hash import compiled

HERE = Path(__file__).resolve().parent

# Tables so small that chains are long; files made, found, missed, renamed and removed; caches dropped in between.
SMALL = "phash_entries=64 bhash_entries=32 ihash_entries=16 dhash_entries=32 dlhash_entries=32"
TREES = (
    "cp -r /etc /root/a && mv /root/a /root/b && ls -lR /root /no 2>&1 | wc -l; for i in 1 2 3 4 5 6 7 8; do"
    " mkdir -p /root/d$i/sub && echo $i > /root/d$i/a_name_that_is_longer_than_any_word_of_a_machine_$i; done;"
    " for f in /root/b/*; do ln $f $f.too; done; find / -xdev | wc -l; rm -r /root/b/[a-h]* /root/d1 /root/d2; sync;"
    " echo 3 > /proc/sys/vm/drop_caches; find / -xdev | wc -l; ls -lR /root"
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
    assert list(source.header["caches"]) == [*stream.CACHES, stream.SWAP] and path.read_bytes()[8] == 3
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


def test_an_interrupted_run_leaves_what_it_had(recorded, folder, cw, monkeypatch):
    recorded("keyed", TREES, "trees")  # the kernel is built
    monkeypatch.setenv("CW_OUTPUT", str(output_folder().parent / "keys-tests" / "keyed" / "default"))
    path = folder / "interrupted.keys"
    sets = [word for setting in KERNELS["keyed"] for word in ("--set", setting)]
    job = ["/bin/sh", "-c", "while ls -lR / > /dev/null 2>&1; do echo once more; done"]
    command = [TOP / "cw", "record", "--quiet", "--mem", "96M", "--timeout", "200", *sets, "--output", path, "--", *job]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert b"once more" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=200)
    assert process.returncode == 130 and b"interrupted" in said, said
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


# ---- a stream made here ---------------------------------------------------------------------------


def made(count=600, seed=7) -> stream.Stream:
    """A small stream of all four caches, in three blocks, and its report left out."""
    random = np.random.default_rng(seed)
    kinds, objects, first, second, lengths, names = [], [], [], [], [], b""
    there = {number: {} for number in range(4)}
    for _ in range(count):
        number = int(random.integers(4))
        mine, slot = there[number], int(random.integers(40))
        key = (0xFFFF800000000000 + slot // 8 * 600, slot * 4096)
        if slot in mine:
            operation = int(random.choice([stream.FIND | stream.FOUND, stream.LOOK | stream.FOUND, stream.REMOVE]))
            objects.append(slot)
            if operation == stream.REMOVE:
                del mine[slot]
        else:
            operation = int(random.choice([stream.FIND, stream.INSERT]))
            if operation == stream.INSERT:
                mine[slot] = key
                objects.append(slot)
            first.append(key[0])
            second.append(key[1])
            if number == 3:
                name = f"name{slot}".encode()
                lengths.append(len(name))
                names += name
        kinds.append(operation | number << stream.CACHE_SHIFT)
    whole = stream.Operations(
        np.array(kinds, np.uint8), np.zeros(count, np.uint8), np.array(objects, np.uint32), np.array(first, np.uint64),
        np.array(second, np.uint64), np.array(lengths, np.uint16), np.frombuffer(names, np.uint8),
    )  # fmt: skip
    third = np.arange(count) * 3 // count
    header = {
        "seed": f"{1:016x}", "word": 64, "name_function": "linux-6.1", "lost": 0, "cut": False, "command": "none",
        "caches": {
            cache: {
                "function": "fibonacci", "structure": "chained", "bits": 4, "objects": 40, "report": None,
                "operations": int(np.count_nonzero(whole.kinds >> stream.CACHE_SHIFT == number)),
            } for number, cache in enumerate(stream.CACHES)
        },
    }  # fmt: skip
    return stream.Stream(header, [stream.select(whole, third == part) for part in range(3)])


@pytest.fixture(scope="module")
def file(folder):
    path = folder / "made.keys"
    stream.write(made(), path)
    return path


def test_what_was_written_is_read(file):
    there, again = made(), stream.read(file)
    assert again.header == there.header
    for one, two in zip(there.blocks, again.blocks, strict=True):
        for column in stream.COLUMNS:
            assert np.array_equal(getattr(one, column), getattr(two, column)), column


def test_the_document_is_enough_to_read_it(file):
    """docs/lab/key-streams.md has a reader of its own, in a few lines without the lab: it finds the same."""
    text = (TOP / "docs/lab/key-streams.md").read_text()
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    space = {}
    exec(compile(code, "docs/lab/key-streams.md", "exec"), space)
    found = list(space["operations"](file))
    there = made()
    whole = stream.join(there.blocks)
    assert [one["kind"] for one in found] == whole.kinds.tolist()
    assert [one["object"] for one in found if "object" in one] == whole.objects.tolist()
    assert [one["first"] for one in found if "first" in one] == whole.first.tolist()
    assert b"".join(one.get("name", b"") for one in found) == whole.names.tobytes()


def refused(path: Path) -> str:
    with pytest.raises(LabError) as error:
        stream.read(path)
    return str(error.value)


def test_every_truncation_is_refused(file, tmp_path):
    data, path = file.read_bytes(), tmp_path / "cut.keys"
    for length in range(len(data)):
        path.write_bytes(data[:length])
        said = refused(path)
        assert "cut" in said or "no key stream" in said or "on its way" in said, (length, said)


def test_every_changed_byte_is_refused(file, tmp_path):
    data, path = file.read_bytes(), tmp_path / "changed.keys"
    for place in range(len(data)):
        for change in (1 << place % 8, 0xFF):
            changed = bytearray(data)
            changed[place] ^= change
            path.write_bytes(changed)
            refused(path)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_bytes_at_random_are_refused(file, tmp_path, data):
    """Several at once, pieces moved, left out, put in: never read as if nothing were wrong."""
    whole, path = file.read_bytes(), tmp_path / "random.keys"
    begin = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(begin, len(whole)))
    changed = whole[:begin] + data.draw(st.binary(max_size=60)) + whole[end:]
    path.write_bytes(changed)
    if changed != whole:
        refused(path)


def test_reasons(file, tmp_path):
    path, data = tmp_path / "other.keys", file.read_bytes()
    for content, reason in (
        (b"", "no key stream"),
        (b"\x7fELF" + bytes(100), "no key stream"),
        (data.replace(b"\r\n", b"\n", 1), "as by a transfer that takes it for text"),
        (data + b"x", "behind the key stream's end"),
        (data[:8] + struct.pack("<I", 9) + data[12:], "version 9"),
        (data[:-40], "cut"),
    ):
        path.write_bytes(content)
        assert reason in refused(path)
    assert "No such file" in refused(tmp_path / "nothing.keys")


def test_objects_are_those_that_the_header_counts(tmp_path):
    """Each has a place in the engine's table: one more would lie behind it."""
    path, forged = tmp_path / "forged.keys", made()
    last = int(forged.of_cache("inode").objects.max())
    forged.header["caches"]["inode"]["objects"] = last + 1
    stream.write(forged, path)
    stream.read(path)
    forged.header["caches"]["inode"]["objects"] = last
    stream.write(forged, path)
    assert "more objects of the inode cache" in refused(path)


def test_the_command_refuses_before_it_compiles(cw, file, tmp_path):
    cut = tmp_path / "cut.keys"
    cut.write_bytes(file.read_bytes()[:-50])
    for words, reason in (
        ((cut,), "cut"),
        ((file, "--cache", "disk"), "there are page, buffer, inode, dentry"),
        ((file, "--cache", "page", "--functions", "nope"), "--functions nope"),
        ((file, "--cache", "page", "--bits", "0..3"), "1 to 28"),
        ((file, "--cache", "page", "--bits", "x"), "10..14"),
        ((file, "--cache", "buffer", "--tables", "rbtree"), "--tables rbtree"),
        ((file, "--cache", "page", "--names", "all"), "only the dentry cache"),
        ((file, "--cache", "page", "--word", "16"), "32 and 64"),
    ):
        result = cw("replay", *words)
        assert result.returncode == 125 and reason in result.stderr.decode(), (words, result.stderr)


KINDS = st.integers(0, 255)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_forged_streams_do_no_harm(tmp_path, data):
    """Right checksums around operations that cannot be: refused, in Python or in the engine, and nothing worse."""
    forged = made(60, data.draw(st.integers(0, 5)))
    number = data.draw(st.integers(0, len(forged.blocks) - 1))
    column = data.draw(st.sampled_from(["kinds", "objects", "first", "second", "lengths"]))
    values = getattr(forged.blocks[number], column).copy()
    for _ in range(data.draw(st.integers(1, 4))):
        if len(values):
            values[data.draw(st.integers(0, len(values) - 1))] = data.draw(st.integers(0, np.iinfo(values.dtype).max))
    forged.blocks[number] = replace(forged.blocks[number], **{column: values})
    path = tmp_path / "forged.keys"
    stream.write(forged, path)
    try:
        again = stream.read(path)
        for cache in stream.CACHES:
            found = engine.Replayable(again, cache)
            engine.replay(found, found.recorded, 4)
    except LabError:
        pass


def test_a_header_at_random_is_refused(file, tmp_path):
    path, there = tmp_path / "header.keys", made()
    for name in ("seed", "word", "name_function", "lost", "cut", "caches"):
        for value in (None, -1, "x", [], {}, 1.5):
            path.unlink(missing_ok=True)
            stream.write(stream.Stream(there.header | {name: value}, there.blocks), path)
            if (name, value) not in (("name_function", "x"),):
                assert "header" in refused(path), (name, value)
    text = b"[1]"
    start = struct.pack("<8sII", stream.MAGIC, 1, len(text))
    path.write_bytes(start + struct.pack("<I", zlib.crc32(text, zlib.crc32(start))) + text)
    assert "no JSON object" in refused(path)


def test_nothing_is_recorded_behind_what_was_lost(tmp_path):
    """However little the next operation takes: a stream has an end and no gaps."""
    library = compiled.shared(str(HERE / "recording.c"), "recording")
    memory = np.zeros(2 * record.PAGE, np.uint8)
    library.begin(compiled.pointer(memory), ctypes.c_uint64(len(memory)))
    free = len(memory) - record.RECORD_HEAD.itemsize
    names = [b"name%d" % number * (1 + number % 7) for number in range(400)]
    kept = 0
    while free >= record.RECORD.itemsize + 100:
        free -= record.RECORD.itemsize + len(names[kept])
        kept += 1
    lost = [b"n" * (free - record.RECORD.itemsize + 1), b"", b"n" * 20, b""]
    for number, name in enumerate([*names[:kept], *lost]):
        object_at, length = ctypes.c_uint64(64 * (number + 1)), ctypes.c_uint32(len(name))
        library.record(stream.CACHES.index("dentry"), stream.INSERT, object_at, ctypes.c_uint64(number), name, length)
    path = tmp_path / "memory"
    memory.tofile(path)
    head, records, kept_names = record.find_records(path, len(memory))
    assert (head["operations"], head["lost"]) == (kept, len(lost))
    assert records["first"].tolist() == list(range(kept)) and kept_names.tobytes() == b"".join(names[:kept][::-1])


def test_a_history_that_cannot_be_is_a_fault_of_the_kernel():
    def records(*operations):
        found = np.zeros(len(operations), record.RECORD)
        for row, (operation, address, key) in zip(found, operations, strict=True):
            row["operation"], row["object"], row["second"] = operation, address, key
        return found

    insert, find, remove = stream.INSERT, stream.FIND, stream.REMOVE
    record.check_history(
        "inode", records((find, 0, 5), (insert, 64, 5), (find, 64, 5), (remove, 64, 5), (insert, 64, 9))
    )
    for wrong in (
        [(find, 64, 5)], [(insert, 64, 5), (insert, 64, 5)], [(insert, 64, 5), (find, 64, 6)],
        [(insert, 64, 5), (remove, 64, 5), (remove, 64, 5)], [(insert, 64, 5), (find, 128, 5)],
    ):  # fmt: skip
        with pytest.raises(LabError, match="contradicts itself"):
            record.check_history("inode", records(*wrong))


def test_sizes():
    assert command.sizes_of("8,10..12,8", 5, "page") == [8, 10, 11, 12]
    assert command.sizes_of("", 5, "page") == [5]
    assert record.size_of("64M") == 64 << 20 and record.size_of("2G") == 2 << 30
    for wrong in ("", "64", "0M", "64k", "M"):
        with pytest.raises(LabError):
            record.size_of(wrong)


def test_the_engines_operation_is_as_large_as_it_is_thought_to_be():
    library = ctypes.CDLL(str(engine.compiled(engine.Choice("buffer", "fibonacci", "chained", 64, "linux-6.1"))))
    assert library.replay_operation_bytes() == engine.OPERATION_BYTES
