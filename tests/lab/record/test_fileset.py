"""Sets of files: their keys against a model, their chains against tests/hash/reference.py; rows of finds; CRC-32C."""

from __future__ import annotations

import ctypes
import json
import struct
from collections import Counter

import numpy as np
import pytest

from lab.base.paths import LabError
from lab.record import engine, fileset, keys, stream
from lab.record.fileset import LAYOUTS, Cell, Files
from tests.hash import reference

OPERATION = struct.Struct("<QQQIIHBBI")
FIND, INSERT, REMOVE, FOUND = 0, 1, 2, 8
ROW, SOME = LAYOUTS[2], 6000


def operations(cell: Cell):
    """Every operation of a set: kind, object, first word, second, name, and whether the set is being read in."""
    files = Files(cell)
    try:
        for count, filling in files.pieces():
            for at in range(count):
                first, second, name, number, _, length, kind, _, _ = OPERATION.unpack_from(
                    files.piece, at * OPERATION.size
                )
                yield kind, number, first, second, ctypes.string_at(name, length) if name else b"", filling
    finally:
        files.close()


def cell_of(cache: str, layout=ROW, files: int = SOME, seed: int = 1, bits=(11, 12)) -> Cell:
    return Cell(cache, layout, seed, files, files, bits)


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(fileset, "made_folder", lambda name: tmp_path / name)
    return tmp_path


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda one: one.name)
def test_numbers_are_those_of_an_ext2(layout):
    """Each inode is one file's; the numbers of a group are taken from its first on; folders' own are between them."""
    files = Files(cell_of("inode", layout, 100_000))
    found = [files.number(file) for file in range(100_000)]
    files.close()
    assert len(set(found)) == len(found)
    each = -(-100_000 // layout.systems)
    superblocks = [superblock for superblock, _ in found]
    assert len(set(superblocks)) == layout.systems and all(one % 1024 == 0 for one in superblocks)
    for system in range(layout.systems):
        numbers = np.array([number for _, number in found[system * each : (system + 1) * each]])
        folders = len(numbers) // 30 + 1 + len(numbers) // 3000 + 1
        groups = (each + -(-each // 30)) * 4 // 3 // 16384 + 1
        assert numbers.min() > 11 and numbers.max() <= groups * 16384
        # What is not a file's below a group's last number is a folder's, or in the first group reserved.
        places = Counter(((numbers - 1) // 16384).tolist())
        last = {group: int(numbers[(numbers - 1) // 16384 == group].max()) - group * 16384 for group in places}
        assert sum(last.values()) - len(numbers) <= folders + 11
        if groups > 1:
            tops = {int(number - 1) // 16384 for number in numbers[::3000]}
            assert len(tops) == min(groups, len(numbers[::3000])), "the root's folders are not spread over all groups"


def test_superblocks_in_a_row_are():
    files = Files(cell_of("inode", ROW))
    found = sorted({files.number(file)[0] for file in range(SOME)})
    files.close()
    assert [b - a for a, b in zip(found, found[1:], strict=False)] == [1024] * 15


@pytest.mark.parametrize("cache", ["inode", "dentry"])
def test_a_set_is_what_it_is_said_to_be(cache):
    """What is found is there under that key; a tenth is used; the same seed gives the same, another another."""
    made = list(operations(cell_of(cache)))
    assert made == list(operations(cell_of(cache))) != list(operations(cell_of(cache, seed=2)))
    there: dict[tuple, int] = {}
    used = set()
    counts: Counter[int] = Counter()
    for kind, number, first, second, name, filling in made:
        key = (first, second, name)
        counts[kind] += not filling
        assert (there.get(key) == number) if kind in (FIND | FOUND, REMOVE) else key not in there
        if kind == INSERT:
            there[key] = number
        elif kind == REMOVE:
            del there[key]
        if kind == FIND | FOUND and number < SOME and not filling:
            used.add(number)
    assert sum(1 for one in made if one[0] == INSERT and one[5]) == SOME
    assert 0.005 * SOME < counts[INSERT] < 0.02 * SOME
    if cache == "inode":  # of 99 operations statfs alone asks for none; each number is a file's that is used
        assert len(used) <= SOME // 10 and counts[FIND | FOUND] + counts[FIND] == pytest.approx(
            SOME * 98 / 99, rel=0.01
        )
    else:  # 27 lookups of 99, a tenth of them of names that are not there; 9 times all 30 names of a folder
        assert counts[FIND] - counts[INSERT] == pytest.approx(SOME * 27 / 99 / 10, rel=0.3)
        assert counts[FIND | FOUND] == pytest.approx(SOME * (27 * 0.9 + 9 * 30) / 99, rel=0.15)


@pytest.mark.parametrize("cache", ["inode", "dentry"])
def test_chains_are_those_of_the_formulas(cache):
    """Steps, hits and bucket sizes, by lists in Python and the formulas of reference.py."""
    cell = cell_of(cache)
    rows = fileset.run_cell(cell, lambda text: None)
    assert [(row["function"], row["bits"]) for row in rows] == [
        (f, b) for b in cell.bits for f in fileset.FUNCTIONS[cache]
    ]
    made = list(operations(cell))
    for row in rows:
        formula, bits = reference.REFERENCE[cache][row["function"]], row["bits"]
        chains: dict[int, list[int]] = {}
        tally = Counter()
        for kind, number, first, second, name, filling in made:
            middle = reference.linux_2_6(0, name, 64) if cache == "dentry" else second
            chain = chains.setdefault(formula((first, middle), bits, 64), [])
            if kind == INSERT:
                chain.insert(0, number)
            elif kind == REMOVE:
                chain.remove(number)
            else:
                hit = kind == FIND | FOUND
                tally["hits" if hit else "fill" if filling else "misses"] += 1
                name_of = "hit_steps" if hit else "fill_steps" if filling else "miss_steps"
                tally[name_of] += chain.index(number) + 1 if hit else len(chain)
        assert row["steps_per_fill_miss"] == pytest.approx(tally["fill_steps"] / tally["fill"])
        assert row["steps_per_hit"] == pytest.approx(tally["hit_steps"] / tally["hits"])
        assert row["steps_per_miss"] == pytest.approx(tally["miss_steps"] / tally["misses"])
        sizes = Counter(len(chain) for chain in chains.values())
        sizes[0] = (1 << bits) - sum(count for size, count in sizes.items() if size)
        wanted = [sizes[size] for size in range(16)] + [sum(count for size, count in sizes.items() if size > 15)]
        assert row["report"]["histogram"]["buckets"] == wanted
        assert row["report"]["largest"] == max(sizes)


def test_what_is_made_is_not_made_again(folder, monkeypatch, capsys):
    cells = fileset.plan(2000, (10, 11), 2000, [1], ["inode"])
    said: list[str] = []
    with pytest.raises(KeyboardInterrupt), monkeypatch.context() as patch:
        run = fileset.run_cell

        def once(cell, progress):
            if cell != cells[0]:
                raise KeyboardInterrupt
            return run(cell, progress)

        patch.setattr(fileset, "run_cell", once)
        fileset.run_cells(cells, said.append, lambda text: None)
    rows = fileset.run_cells(cells, said.append, lambda text: None)
    assert "3 sets, 0 of them" in said[0] and "Memory: " in said[0] and "3 sets, 1 of them" in said[1]
    monkeypatch.setattr(fileset, "run_cell", None)
    assert fileset.run_cells(cells, said.append, lambda text: None) == rows
    assert "nothing is judged" in keys.claims(rows)
    assert keys.table(rows).count("linux-2.6.5 ") >= 6 and "by chance" in keys.histograms(rows)


def test_the_part_of_reproduce_writes_beside_the_report(folder, monkeypatch):
    monkeypatch.setattr(keys, "REDUCED_FILES", 2000)
    monkeypatch.setattr(keys, "REDUCED_BITS", (10, 11))
    said = keys.reproduce(False, folder / "report")
    assert said.count("steps a lookup before") == 6 and "nothing is judged" in said
    assert said in (folder / "report" / "keys.txt").read_text()
    assert len(json.loads((folder / "report" / "keys.json").read_text())) == 3 * 2 * 5


def test_what_does_not_fit_is_refused(folder, monkeypatch):
    monkeypatch.setattr(fileset, "available_memory", lambda: 1 << 20)
    with pytest.raises(LabError, match="GB of memory are needed"):
        fileset.run_cells(fileset.plan(2000, (20, 21), 2000, [1], ["inode"]), lambda text: None, lambda text: None)
    for files, bits in ((10, (10,)), (2000, (9,)), (2000, (29,))):
        with pytest.raises(LabError):
            fileset.plan(files, bits, 2000, [1], ["inode"])


# ---- rows of finds --------------------------------------------------------------------------------------------------


def source(cache: str, objects: int = 500, finds: int = 4000) -> engine.Replayable:
    """Inserts, then finds in any order, of which some find nothing, with a look now and then."""
    rng, place = np.random.default_rng(7), stream.CACHES.index(cache) << stream.CACHE_SHIFT
    kinds = rng.choice([stream.FIND | FOUND, stream.FIND, stream.LOOK | FOUND], finds, p=[0.9, 0.08, 0.02])
    kinds = np.concatenate([np.full(objects, stream.INSERT), kinds]).astype(np.uint8) | place
    found = np.count_nonzero(kinds & FOUND)
    missing = np.count_nonzero(kinds & 15 == stream.FIND)
    numbers = np.concatenate([np.arange(objects), rng.integers(0, objects, found)]).astype(np.uint32)
    first = np.full(objects + missing, 0x1000, np.uint64)
    second = np.concatenate([np.arange(objects), 10_000 + np.arange(missing)]).astype(np.uint64)
    named = cache == "dentry"
    names = [b"name%07d" % one for one in second] if named else []
    columns = stream.Operations(
        kinds, np.zeros_like(kinds), numbers, first, second, np.array([len(n) for n in names], np.uint16),
        np.frombuffer(b"".join(names), np.uint8),
    )  # fmt: skip
    entry = {"function": "", "structure": "", "bits": 8, "objects": objects, "operations": len(kinds), "report": None}
    header = {"seed": "1", "word": 64, "name_function": "", "caches": dict.fromkeys(stream.CACHES, entry)}
    return engine.Replayable(stream.Stream(header, [columns]), cache)


def choice(cache: str, function: str = "") -> engine.Choice:
    return engine.Choice(
        cache, function or {"dentry": "linux-2.6.5"}.get(cache, "linux-2.2"), "chained", 64, "linux-2.6"
    )


@pytest.mark.parametrize("cache", ["buffer", "dentry"])
def test_a_plain_loop_visits_as_many_objects(cache):
    made = source(cache)
    done = engine.replay(made, choice(cache), 8)
    kinds = np.array([OPERATION.unpack_from(made.expanded, at * OPERATION.size)[6] for at in range(made.count)])
    assert done.report["hits"] == np.count_nonzero(kinds & 15 == FIND | FOUND)
    assert done.report["misses"] == np.count_nonzero(kinds & 15 == FIND)
    library, taken, visited = engine._library(engine.compiled(choice(cache))), ctypes.c_uint64(0), 0
    library.replay_begin(ctypes.c_uint(8), ctypes.c_uint32(500), ctypes.c_uint32(1), ctypes.c_uint64(1), b"")

    def call(function, begin, end, *more):
        return function(engine._pointer(made.expanded), ctypes.c_uint64(begin), ctypes.c_uint64(end), *more, ctypes.byref(taken))  # fmt: skip

    assert call(library.replay_run, 0, 500, ctypes.c_bool(False)) == 500
    for at in range(500, made.count):
        visited += call(library.replay_plain, at, at + 1) if kinds[at] & 7 == FIND else 0
    library.replay_end()
    assert visited == done.report["hit_steps"] + done.report["miss_steps"]


@pytest.mark.parametrize("cache", ["buffer", "dentry"])
@pytest.mark.parametrize("place", [500, 700, 1023, 1024, 3000, 4499])
def test_a_find_that_is_wrong_is_named_wherever_it_stands_in_its_row(cache, place):
    made = source(cache)
    fields = list(OPERATION.unpack_from(made.expanded, place * OPERATION.size))
    if fields[6] & FOUND:
        fields[3] = (fields[3] + 1) % 500  # another object than the key's
    else:
        fields[1], fields[2] = 3, OPERATION.unpack_from(made.expanded, 3 * OPERATION.size)[2]  # a key that is there
    OPERATION.pack_into(made.expanded, place * OPERATION.size, *fields)
    with pytest.raises(LabError, match=f"operation {place:,}: an object is found that the kernel did not find"):
        engine.replay(made, choice(cache), 8)


# ---- CRC-32C ----------------------------------------------------------------------------------------------------------


def test_the_processors_instruction_gives_what_the_table_gives(monkeypatch):
    if "-mcrc32" not in engine.flags():
        pytest.skip("this processor has no SSE 4.2")
    found = []
    for flags in (engine.flags(), engine.FLAGS):
        monkeypatch.setattr(engine, "flags", lambda flags=flags: flags)
        engine._sources.cache_clear()
        for cache in ("buffer", "dentry"):
            names = engine.Choice(cache, "crc32c", "chained", 64, "crc32c")
            report = engine.replay(source(cache), names, 8).report
            found.append((engine.compiled(names), report))
    engine._sources.cache_clear()
    assert found[0][0] != found[2][0] and found[0][1] == found[2][1] and found[1][1] == found[3][1]
    assert found[0][1]["histogram"]["buckets"][0] < 200


def test_which_processors_have_it():
    assert engine.crc_flags("processor: 0\nflags\t\t: fpu sse sse4_1 sse4_2 avx\n") == ("-mcrc32",)
    assert engine.crc_flags("flags : fpu sse sse4_1\n") == engine.crc_flags("Features : crc32 sse4_2\n") == ()
