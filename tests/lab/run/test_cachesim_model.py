"""The simulated caches and translation buffers, hosted: against models as slow as their definition."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.run.cachesim.specification import PRESETS, PROCESSORS, Buffers, Level, Specification

HERE = Path(__file__).resolve().parent
MISSES = 11
ACCESS, FETCH, FORGET, SWITCH, CLEAR = range(5)
DIRECT_MAP = 0xFFFF800000000000  # pages of 2 MB
IMAGE = 0xFFFFFFFF80000000


def numbers_of(processor: Specification) -> list[int]:
    """A processor as cachesim_model.c wants it."""
    sizes = [number for level in processor.levels for number in (level.size, level.ways, level.line)]
    code = [processor.code.size, processor.code.ways, processor.code.line] if processor.code else [0] * 3
    tlb = processor.tlb
    buffers = [*tlb.data, *tlb.large, *tlb.code] if tlb else [0] * 6
    return [len(processor.levels), *sizes, *[0] * (9 - len(sizes)), *code, *buffers]


@pytest.fixture(scope="module")
def simulate(tmp_path_factory):
    target = tmp_path_factory.mktemp("model") / "model.so"
    flags = ["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["cc", *flags, "-o", target, HERE / "cachesim_model.c"], check=True)
    library = ctypes.CDLL(str(target))

    def misses(processors, things):
        """Of each of @processors what missed when @things, (what, address, physical address), are done."""
        flat = [number for one in processors for number in numbers_of(one)]
        stream = [number for thing in things for number in thing]
        geometry = (ctypes.c_uint64 * len(flat))(*flat)
        found = (ctypes.c_uint64 * (MISSES * len(processors)))()
        words = (ctypes.c_uint64 * len(stream))(*stream)
        if library.simulate(len(processors), geometry, ctypes.c_size_t(len(things)), words, found):
            return None
        return [list(found[MISSES * number : MISSES * (number + 1)]) for number in range(len(processors))]

    return misses


@pytest.fixture(scope="module")
def model(simulate):
    """What misses in each of levels of (bytes, ways, line) when physical addresses are accessed."""

    def misses(geometry, addresses):
        processor = Specification(tuple(Level(*level) for level in geometry), (), 0)
        found = simulate([processor], [(ACCESS, address, address) for address in addresses])
        return found and found[0][: len(geometry)]

    return misses


# ---- slow models -------------------------------------------------------------------------------------------------


class SlowSets:
    """For each set a list, the least recently used first."""

    def __init__(self, number, ways):
        self.number, self.ways, self.sets = number, ways, {}

    def use(self, key, tag=None):
        """Was it there? It is now."""
        tag = (key, tag)
        here = self.sets.setdefault(key % self.number, [])
        there = tag in here
        if there:
            here.remove(tag)
        elif len(here) == self.ways:
            here.pop(0)
        here.append(tag)
        return there

    def drop(self, which):
        for number, tags in self.sets.items():
            self.sets[number] = [tag for tag in tags if not which(tag[0])]


class SlowLevel(SlowSets):
    def __init__(self, level):
        super().__init__(level.size // level.ways // level.line, level.ways)
        self.line = level.line

    def use_address(self, physical):
        return self.use(physical // self.line)


def walk(levels, physical):
    """How many of @levels the line of @physical misses; it is in all of them then."""
    for number, level in enumerate(levels):
        if level.use_address(physical):
            return number
    return len(levels)


class SlowProcessor:
    def __init__(self, processor):
        self.processor, self.misses = processor, [0] * MISSES
        self.clear()

    def clear(self):
        processor = self.processor
        self.data = [SlowLevel(level) for level in processor.levels]
        self.both = [SlowLevel(level) for level in processor.levels[1:]]
        self.code = SlowLevel(processor.code) if processor.code else None
        tlb = processor.tlb
        self.pages, self.large, self.code_pages = (
            [SlowSets(entries // ways, ways) for entries, ways in (tlb.data, tlb.large, tlb.code)]
            if tlb
            else [None] * 3
        )

    def miss(self, first, missed):
        for number in range(missed):
            self.misses[first + number] += 1

    def do(self, what, address, physical):
        if what == ACCESS:
            self.access(address, physical)
        elif what == FETCH:
            self.fetch(address, physical)
        elif what == CLEAR:
            self.clear()
        elif what == SWITCH and self.pages:
            for buffer in (self.pages, self.code_pages):
                buffer.drop(lambda page: page < 1 << 35)

    def access(self, address, physical):
        missed = walk(self.data, physical)
        self.miss(0, missed)
        if missed and self.code:
            self.miss(7, walk(self.both, physical))
        if self.pages:
            large = DIRECT_MAP <= address < 0xFFFFFF8000000000
            buffer, bits = (self.large, 21) if large else (self.pages, 12)
            self.misses[9] += not buffer.use(address >> bits, physical >> bits)

    def fetch(self, address, physical):
        if self.code_pages:
            self.misses[10] += not self.code_pages.use(address >> 12, physical >> 12)
        if self.code and not self.code.use_address(physical):
            self.misses[3] += 1
            self.miss(4, walk(self.both, physical))


def slowly(processors, things):
    found = []
    for processor in processors:
        slow = SlowProcessor(processor)
        for thing in things:
            slow.do(*thing)
        found.append(slow.misses)
    return found


# ---- both --------------------------------------------------------------------------------------------------------


@st.composite
def processors(draw):
    """Small ones, so that little is enough to fill them; way sizes from below a line to above a page."""
    levels, line = [], 16
    for _ in range(draw(st.integers(2, 3))):
        line = draw(st.sampled_from([size for size in (16, 32, 64) if size >= line]))
        ways, sets = draw(st.integers(1, 5)), draw(st.sampled_from([1, 2, 4, 8, 512]))
        levels.append(Level(ways * sets * line, ways, line))
    code_line = draw(st.sampled_from([size for size in (16, 32, 64) if size <= levels[1].line]))
    ways = draw(st.integers(1, 3))
    code = draw(st.sampled_from([None, Level(ways * 4 * code_line, ways, code_line)]))
    pairs = [(ways * sets, ways) for ways in (1, 2, 3) for sets in (1, 2, 4)]
    tlb = draw(st.one_of(st.none(), st.builds(Buffers, *[st.sampled_from(pairs)] * 3)))
    return Specification(tuple(levels), (), 0, code, tlb)


OFFSETS = (0, 16, 48, 64, 512, 1024, -2048, -512, -64, -16)  # from either end of a page


@st.composite
def streams(draw):
    """Things that happen. Which frame a page has changes with FORGET, SWITCH and CLEAR alone, and two pages may share one.
    Few lines of few pages, so that the same one comes again and again."""
    things, time = [], 0
    kinds = st.sampled_from([ACCESS] * 12 + [FETCH] * 6 + [FORGET, SWITCH, SWITCH, CLEAR])
    bases = draw(st.lists(st.sampled_from([0, 0x7FFF00000000, DIRECT_MAP, IMAGE]), min_size=1, max_size=4))
    offsets = draw(st.lists(st.sampled_from(OFFSETS), min_size=1, max_size=8))
    pages = draw(st.integers(0, 8))
    where = st.tuples(kinds, st.sampled_from(bases), st.integers(0, pages), st.sampled_from(offsets))
    for what, base, page, offset in draw(st.lists(where, max_size=300)):
        if what in (FORGET, SWITCH, CLEAR):
            time += 1
            things.append((what, 0, 0))
            continue
        size = 1 << 21 if base == DIRECT_MAP else 1 << 12
        frame = page % 4 if base >= DIRECT_MAP else (page * 5 + time // 2) % 8
        within = offset % size
        things.append((what, base + page * size + within, (base == DIRECT_MAP) * (1 << 30) + frame * size + within))
    return things


@settings(max_examples=400, deadline=None)
@given(st.lists(processors(), min_size=1, max_size=3), streams())
def test_all_is_as_slow_models_have_it(simulate, asked, things):
    assert simulate(asked, things) == slowly(asked, things)


@settings(max_examples=40, deadline=None)
@given(streams())
def test_the_presets_together_are_as_slow_models_have_them(simulate, things):
    asked = list(PROCESSORS.values())
    assert simulate(asked, things) == slowly(asked, things)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_holds_what_it_has_room_for(model, name):
    levels = PRESETS[name].levels
    geometry = [(level.size, level.ways, level.line) for level in levels]
    for number, level in enumerate(levels):
        walk = list(range(0, level.size, level.line))
        assert model(geometry, walk * 2)[number] == len(walk), "what fits misses once"
        sets = level.size // level.ways
        assert model([geometry[number]], [way * sets for way in range(level.ways)] * 3) == [level.ways]
        assert model([geometry[number]], [way * sets for way in range(level.ways + 1)] * 3) == [3 * level.ways + 3]


@pytest.mark.parametrize("name", [name for name, one in PROCESSORS.items() if one.code])
def test_code_and_pages_of_a_preset(simulate, name):
    """What fits misses once, one more in a set misses each time; in the L2 code and data take each other's room."""
    processor = PROCESSORS[name]
    code, l2, tlb = processor.code, processor.levels[1], processor.tlb

    def fetched(lines):
        return simulate([processor], [(FETCH, line, line) for line in lines])[0]

    assert fetched([*range(0, code.size, code.line)] * 3)[3] == code.size // code.line
    way = code.size // code.ways
    assert fetched([number * way for number in range(code.ways + 1)] * 3)[3] == 3 * code.ways + 3
    for (entries, ways), base, size, what, number in (
        (tlb.data, 0, 1 << 12, ACCESS, 9), (tlb.large, DIRECT_MAP, 1 << 21, ACCESS, 9), (tlb.code, 0, 1 << 12, FETCH, 10)
    ):  # fmt: skip
        sets = entries // ways
        fits = [(what, base + page * size, page * size) for page in range(entries)]
        assert simulate([processor], fits * 3)[0][number] == entries
        more = [(what, base + page * sets * size, page * sets * size) for page in range(ways + 1)]
        assert simulate([processor], more * 3)[0][number] == 3 * ways + 3
    half = [*range(0, l2.size, l2.line)]
    things = [(ACCESS, line, line) for line in half] + [(FETCH, 1 << 30 | line, 1 << 30 | line) for line in half]
    found = simulate([processor], things * 2)[0]
    assert found[1] == len(half), "alone, the data fit"
    assert found[8 - 1] == 2 * len(half) == found[4], "not beside as much code"


def test_a_large_page_is_the_latest_of_its_set_alone(simulate):
    """The begin of one and the end of another, in turn, in a TLB with room for one: each is out when it comes."""
    levels = (Level(1 << 12, 1, 64), Level(1 << 14, 1, 64))
    processor = Specification(levels, (), 0, None, Buffers((8, 4), (1, 1), (8, 4)))
    things = [(ACCESS, DIRECT_MAP, 0), (ACCESS, DIRECT_MAP + (1 << 22) - 64, (1 << 22) - 64)] * 5
    assert simulate([processor], things) == slowly([processor], things)
    assert simulate([processor], things)[0][9] == 10


def test_caches_that_cannot_be(model):
    for geometry in ([(96, 1, 32)], [(64, 0, 32)], [(64, 1, 24)], [(128, 2, 64), (128, 2, 32)], [(64, 2, 64)]):
        assert model(geometry, [0]) is None, geometry
