"""The file of a key stream: what was written is read, and what is no whole stream is refused, by reader, command and engine."""

from __future__ import annotations

import ctypes
import re
import struct
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lab.base.paths import TOP, LabError
from lab.record import engine, record, stream
from lab.record import replay as command
from tests.hash import compiled

HERE = Path(__file__).resolve().parent


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
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("streams") / "made.keys"
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
