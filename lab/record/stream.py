"""The file of a key stream: what docs/lab/key-streams.md says, written and read.

Every byte of the file is under a checksum and every number in it is checked before it is used, so that a file that
was cut, damaged, or made by something else is refused with the reason, and never read wrongly.
"""

from __future__ import annotations

import contextlib
import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from lab.base.files import written_whole
from lab.base.paths import LabError

MAGIC = b"CWKEYS\r\n"  # a transfer as text would change it
# What has no paths, or nothing of swap, can be read by who does not know them.
VERSION, VERSION_WITH_PATHS, VERSION_WITH_SWAP = VERSIONS = 1, 2, 3
HEAD = struct.Struct("<8sIII")  # magic, version, bytes of JSON, checksum of all these and the JSON
BLOCK = struct.Struct("<4s8I")  # mark, seven counts, checksum of the head up to here and of the data
BLOCK_MARK, END_MARK = b"CWKB", b"CWKE"
LARGEST_HEADER = 1 << 24
LARGEST_NAMES = 1 << 27
OPERATIONS = 1 << 18  # in a block that we write
LARGEST_BLOCK = 1 << 22  # in one that we read

CACHES = ("page", "buffer", "inode", "dentry")
SWAP = "swap"  # the swap cache, where it has a table of its own
PATH = "path"  # the table of direct lookup, where there is one
NUMBERS = {"page": 0, "buffer": 1, "inode": 2, "dentry": 3, SWAP: 4, PATH: 5}  # enum hash_cache_number of hash/cache.h
FIND, INSERT, REMOVE, LOOK, SEED, REPORT = range(6)
FOUND = 8  # this bit: the find or look found its object
CACHE_SHIFT = 4

U8 = npt.NDArray[np.uint8]
U16 = npt.NDArray[np.uint16]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]


@dataclass
class Operations:
    """A run of operations, column by column. `objects`, `first` and so on have entries for those alone that have one."""

    kinds: U8  # the operation, FOUND, the cache << CACHE_SHIFT
    cpus: U8
    objects: U32  # of each insert, remove, and find or look that found something
    first: U64  # the key of each insert, and of each find or look that found nothing
    second: U64
    lengths: U16  # of the name in each key of a dentry
    names: U8  # these names, one behind the other

    @property
    def has_object(self) -> npt.NDArray[np.bool_]:
        return has_object(self.kinds)

    @property
    def has_key(self) -> npt.NDArray[np.bool_]:
        return has_key(self.kinds)

    def fault(self) -> str:
        """What contradicts itself in the columns, or ""."""
        low = self.kinds & 7
        if (
            not np.isin(self.kinds >> CACHE_SHIFT, list(NUMBERS.values())).all()
            or np.any(low > REPORT)
            or np.any(low == SEED)
        ):
            return "there are operations that no version has"
        if np.any(self.kinds[(low != FIND) & (low != LOOK)] & FOUND):
            return "an operation that finds nothing has found something"
        dentries = np.count_nonzero(self.has_key & (self.kinds >> CACHE_SHIFT == NUMBERS["dentry"]))
        counts = (np.count_nonzero(self.has_object), np.count_nonzero(self.has_key), dentries, int(self.lengths.sum()))
        there = (len(self.objects), len(self.first), len(self.lengths), len(self.names))
        return "" if counts == there else "its columns have not as many entries as its operations need"


def has_object(kinds: U8) -> npt.NDArray[np.bool_]:
    low = kinds & 7
    return np.asarray((low == INSERT) | (low == REMOVE) | (kinds & FOUND != 0))


def has_key(kinds: U8) -> npt.NDArray[np.bool_]:
    low = kinds & 7
    return np.asarray((low == INSERT) | (((low == FIND) | (low == LOOK)) & (kinds & FOUND == 0)))


@dataclass
class Stream:
    """A recorded run. `header`: docs/lab/key-streams.md; `blocks`: its operations in order, in pieces."""

    header: dict[str, Any]
    blocks: list[Operations] = field(default_factory=list)

    def of_cache(self, cache: str) -> Operations:
        """One cache's operations, as one piece."""
        number = NUMBERS[cache]
        pieces = [select(block, block.kinds >> CACHE_SHIFT == number) for block in self.blocks]
        return join(pieces)


def join(pieces: list[Operations]) -> Operations:
    empty = Operations(*(np.empty(0, column.dtype) for column in _columns(0, 0, 0, 0, 0)))
    columns = [[getattr(piece, name) for piece in [empty, *pieces]] for name in COLUMNS]
    return Operations(*(np.concatenate(column) for column in columns))


def select(block: Operations, wanted: npt.NDArray[np.bool_]) -> Operations:
    """The operations of @block that are @wanted, a mask."""
    keyed = block.has_key
    keys = wanted[keyed]
    dentry = block.kinds[keyed] >> CACHE_SHIFT == NUMBERS["dentry"]
    lengths = keys[dentry]
    return Operations(
        block.kinds[wanted],
        block.cpus[wanted],
        block.objects[wanted[block.has_object]],
        block.first[keys],
        block.second[keys],
        block.lengths[lengths],
        block.names[np.repeat(lengths, block.lengths)],
    )


# ---- columns as bytes ---------------------------------------------------------------------------

COLUMNS = ("kinds", "cpus", "objects", "first", "second", "lengths", "names")


def _columns(operations: int, objects: int, keys: int, lengths: int, names: int) -> list[np.ndarray[Any, Any]]:
    """Empty columns of these sizes, in the order in which they stand in a block."""
    u8, u16, u32, u64 = np.dtype("u1"), np.dtype("<u2"), np.dtype("<u4"), np.dtype("<u8")
    sizes = ((operations, u8), (operations, u8), (objects, u32), (keys, u64), (keys, u64), (lengths, u16), (names, u8))
    return [np.empty(count, kind) for count, kind in sizes]


def _planes(column: np.ndarray[Any, Any]) -> bytes:
    """All lowest bytes of the column's differences, then all second ones and so on: what repeats stands together."""
    if column.dtype.itemsize == 1:
        return column.tobytes()
    steps = np.diff(column, prepend=column.dtype.type(0))
    return np.ascontiguousarray(
        steps.astype(column.dtype.newbyteorder("<")).view(np.uint8).reshape(-1, column.dtype.itemsize).T
    ).tobytes()


def _from_planes(data: memoryview, column: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The column like @column that _planes() gave as @data."""
    width = column.dtype.itemsize
    planes = np.frombuffer(data, np.uint8)
    if width == 1:
        return planes
    steps = np.ascontiguousarray(planes.reshape(width, -1).T).view(column.dtype).reshape(-1)
    return np.cumsum(steps, dtype=column.dtype)


# ---- writing ------------------------------------------------------------------------------------


def write(stream: Stream, path: Path) -> None:
    """Write @path as a whole or not at all."""
    try:
        with written_whole(path) as new, new.open("wb") as file:
            _write(stream, file)
    except OSError as error:
        raise LabError(f"{path}: {error.strerror or error}") from None


def _write(stream: Stream, file: BinaryIO) -> None:
    text = json.dumps(stream.header, indent=1, sort_keys=True).encode()
    there = {int(number) for block in stream.blocks for number in np.unique(block.kinds >> CACHE_SHIFT)}
    version = VERSION_WITH_PATHS if NUMBERS[PATH] in there else VERSION
    if NUMBERS[SWAP] in there:
        version = VERSION_WITH_SWAP
    start = HEAD.pack(MAGIC, version, len(text), 0)[:-4]
    file.write(start + struct.pack("<I", zlib.crc32(text, zlib.crc32(start))) + text)
    for number, block in enumerate(stream.blocks):
        data = zlib.compress(b"".join(_planes(getattr(block, name)) for name in COLUMNS), 6)
        counts = (number, len(block.kinds), len(block.objects), len(block.first), len(block.lengths), len(block.names))
        file.write(_block(BLOCK_MARK, (*counts, len(data)), data))
    file.write(_block(END_MARK, (len(stream.blocks), 0, 0, 0, 0, 0, 0), b""))


def _block(mark: bytes, counts: tuple[int, ...], data: bytes) -> bytes:
    start = BLOCK.pack(mark, *counts, 0)[:-4]
    return start + struct.pack("<I", zlib.crc32(data, zlib.crc32(start))) + data


# ---- reading ------------------------------------------------------------------------------------


class Bad(Exception):
    """Why a file is not a whole key stream."""


def read(path: Path) -> Stream:
    """The stream in @path; a LabError that says what is wrong with the file."""
    try:
        with path.open("rb") as file:
            header = _read_head(file)
            stream = Stream(header, list(_read_blocks(file)))
            _check_stream(stream)
            return stream
    except OSError as error:
        raise LabError(f"{path}: {error.strerror or error}") from None
    except Bad as error:
        raise LabError(f"{path}: {error}") from None


def read_header(path: Path) -> dict[str, Any]:
    """The header alone."""
    try:
        with path.open("rb") as file:
            return _read_head(file)
    except OSError as error:
        raise LabError(f"{path}: {error.strerror or error}") from None
    except Bad as error:
        raise LabError(f"{path}: {error}") from None


def _read_head(file: BinaryIO) -> dict[str, Any]:
    start = file.read(HEAD.size)
    if not start.startswith(MAGIC[:6]):
        what = "the file is empty" if not start else "it does not begin as one does"
        raise Bad(f"this is no key stream ({what}); ./cw record makes one")
    if not start.startswith(MAGIC):
        raise Bad("the key stream was changed on its way, as by a transfer that takes it for text")
    if len(start) < HEAD.size:
        raise Bad("the key stream is cut: it ends in its head")
    _, version, length, checksum = HEAD.unpack(start)
    if version not in VERSIONS:
        raise Bad(
            f"a key stream of version {version}; this ./cw reads versions 1 to {VERSION_WITH_SWAP}: take the one that wrote"
            " it, or record again (or the file is damaged)"
        )
    if length > LARGEST_HEADER:
        raise Bad("the key stream is damaged: its header cannot be so long")
    text = file.read(length)
    if len(text) < length:
        raise Bad("the key stream is cut: it ends in its header")
    if zlib.crc32(text, zlib.crc32(start[:-4])) != checksum:
        raise Bad("the key stream is damaged: its header does not fit its checksum")
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Bad(f"the key stream's header is not JSON ({error})") from None
    if not isinstance(header, dict):
        raise Bad("the key stream's header is no JSON object")
    return header


def _read_blocks(file: BinaryIO) -> Iterator[Operations]:
    number = 0
    while True:
        start = file.read(BLOCK.size)
        if len(start) < BLOCK.size:
            raise Bad(f"the key stream is cut: it ends before block {number} is whole")
        mark, *counts, checksum = BLOCK.unpack(start)
        if mark not in (BLOCK_MARK, END_MARK) or counts[0] != number:
            raise Bad(f"the key stream is damaged: there is no head of block {number} where it should be")
        operations, objects, keys, lengths, names, size = counts[1:]
        largest = max(operations, objects, keys, lengths) > LARGEST_BLOCK or names > LARGEST_NAMES
        if largest or size > 32 * LARGEST_BLOCK + LARGEST_NAMES:
            raise Bad(f"the key stream is damaged: block {number} cannot be so large")
        data = file.read(size)
        if len(data) < size:
            raise Bad(f"the key stream is cut: it ends in block {number}")
        if zlib.crc32(data, zlib.crc32(start[:-4])) != checksum:
            raise Bad(f"the key stream is damaged: block {number} does not fit its checksum")
        if mark == END_MARK:
            if file.read(1):
                raise Bad("something stands behind the key stream's end")
            return
        yield _read_block(number, data, counts[1:6])
        number += 1


def _read_block(number: int, data: bytes, counts: list[int]) -> Operations:
    columns = _columns(*counts)
    size = sum(column.nbytes for column in columns)
    unpacker = zlib.decompressobj()
    plain = b""
    with contextlib.suppress(zlib.error):
        plain = unpacker.decompress(data, size + 1)
    if len(plain) != size or not unpacker.eof or unpacker.unused_data:
        raise Bad(f"block {number} of the key stream does not unpack to what its head says")
    found, view = [], memoryview(plain)
    for column in columns:
        found.append(_from_planes(view[: column.nbytes], column))
        view = view[column.nbytes :]
    block = Operations(*found)
    if block.fault():
        raise Bad(f"block {number} of the key stream: {block.fault()}")
    return block


def check_header(header: dict[str, Any], path: Path) -> None:
    """A header has what its readers ask for; a LabError that says what it has not."""
    fault = _header_fault(header)
    if fault:
        raise LabError(f"{path}: the key stream's header {fault}")


def _header_fault(header: dict[str, Any]) -> str:
    caches = header.get("caches")
    if not isinstance(caches, dict) or {SWAP, PATH, *caches} != {SWAP, PATH, *CACHES}:
        return "does not tell of the four caches"
    if (
        header.get("word") not in (32, 64)
        or not _is_hex(header.get("seed"))
        or not isinstance(header.get("name_function"), str)
    ):
        return "is without a valid word, seed or name_function"
    if not _is_count(header.get("lost")) or not isinstance(header.get("cut"), bool):
        return "does not say whether something is lost"
    for cache, entry in caches.items():
        if not isinstance(entry, dict) or not all(
            isinstance(entry.get(name), str) for name in ("function", "structure")
        ):
            return f"is without the {cache} cache's function or structure"
        if not _is_count(entry.get("objects")) or entry["objects"] >= 1 << 32 or not _is_count(entry.get("operations")):
            return f"is without the {cache} cache's number of objects or operations"
        if not (entry.get("bits") is None or (_is_count(entry["bits"]) and 1 <= entry["bits"] <= 31)):
            return f"has an impossible size of the {cache} cache's table"
        report = entry.get("report") or {}
        if not isinstance(report, dict) or not isinstance(report.get("rule", ""), str):
            return f"has an impossible report of the {cache} cache"
    return ""


def _check_stream(stream: Stream) -> None:
    """The header tells of the operations that are there."""
    fault = _header_fault(stream.header)
    if fault:
        raise Bad(f"the key stream's header {fault}")
    for cache, entry in stream.header["caches"].items():
        count = 0
        for block in stream.blocks:
            mine = block.kinds >> CACHE_SHIFT == NUMBERS[cache]
            count += int(np.count_nonzero(mine))
            objects = block.objects[mine[block.has_object]]
            if len(objects) and int(objects.max()) >= entry["objects"]:
                raise Bad(f"the key stream has more objects of the {cache} cache than its header says")
        if count != entry["operations"]:
            raise Bad(f"the key stream has another number of operations of the {cache} cache than its header says")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_hex(value: Any) -> bool:
    try:
        return isinstance(value, str) and 0 <= int(value, 16) < 1 << 64
    except ValueError:
        return False
