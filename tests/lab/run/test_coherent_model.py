"""The caches and clocks of several CPUs, hosted: patterns of sharing whose transfers and waits are known by arithmetic.

Caches (mesi.c) also go against a model as slow as MESI's definition, on streams of addresses.
"""

from __future__ import annotations

import ctypes
import subprocess
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.base.paths import TOP

FOLDER = TOP / "lab/run/cachesim/coherent"
FIRST, SECOND, THIRD, MEMORY, NEAR, FAR = range(6)
INVALID, SHARED, EXCLUSIVE, MODIFIED = range(4)
READ, WRITE = False, True
LINE = 64


class Level(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_uint64), ("ways", ctypes.c_uint)]


class Shape(ctypes.Structure):
    _fields_ = [
        ("cpus", ctypes.c_uint), ("group", ctypes.c_uint), ("line", ctypes.c_uint),
        ("first", Level), ("second", Level), ("third", Level),
    ]  # fmt: skip


class Happened(ctypes.Structure):
    """struct mesi_result."""

    _fields_ = [
        ("found", ctypes.c_int), ("was_alone", ctypes.c_bool), ("upgraded", ctypes.c_bool), ("invalidated", ctypes.c_uint16), ("far", ctypes.c_bool),
        ("written_back", ctypes.c_uint),
    ]  # fmt: skip


class Costs(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_uint) for name in ("second", "third", "memory", "near", "far", "upgrade", "bus")
    ]  # fmt: skip


class Delay(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("cycles", "for_line", "for_bus")]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    target = tmp_path_factory.mktemp("coherent") / "coherent.so"
    flags = ["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover"]
    subprocess.run(
        ["cc", *flags, "-o", target, *(FOLDER / f"{name}.c" for name in ("mesi", "clocks", "bus"))], check=True
    )
    found: Any = ctypes.CDLL(str(target))
    found.mesi_make.restype = found.clocks_make.restype = ctypes.c_void_p
    found.mesi_access.restype, found.clocks_access.restype = Happened, Delay
    found.clocks_now.restype = found.clocks_take_lock.restype = ctypes.c_uint64
    return found


class Machine:
    """Some CPUs with their caches and clocks. Costs: 10 for the second level, 40 the third, 200 memory; 100 from another
    cache, 300 from one of another group; 60 to take copies away."""

    def __init__(self, library, cpus, group=16, third=True, bus=0, first=(1024, 2), second=(4096, 4)):
        third = Level(16384, 4) if third else Level(0, 0)
        shape = Shape(cpus, group, LINE, Level(*first), Level(*second), third)
        costs = Costs(10, 40, 200, 100, 300, 60, bus)
        self.library, self.cpus = library, cpus
        self.mesi = ctypes.c_void_p(library.mesi_make(ctypes.byref(shape)))
        self.clocks = ctypes.c_void_p(library.clocks_make(ctypes.byref(costs), 6))
        assert self.mesi and self.clocks
        self.transfers = self.invalidated = self.upgrades = self.written_back = self.for_line = self.for_bus = 0
        self.waited = [0] * cpus

    def close(self):
        self.library.mesi_free(self.mesi)
        self.library.clocks_free(self.clocks)

    def look_up(self, cpu, address, write):
        """What happens in the caches alone."""
        return self.library.mesi_access(self.mesi, cpu, ctypes.c_uint64(address), ctypes.c_bool(write))

    def access(self, cpu, address, write):
        happened = self.look_up(cpu, address, write)
        delay = self.library.clocks_access(self.clocks, cpu, ctypes.c_uint64(address), ctypes.byref(happened))
        self.transfers += happened.found in (NEAR, FAR)
        self.invalidated += happened.invalidated.bit_count()
        self.upgrades += happened.upgraded
        self.written_back += happened.written_back
        self.for_line += delay.for_line
        self.for_bus += delay.for_bus
        return happened

    def run(self, cpu, instructions):
        self.library.clocks_run(self.clocks, cpu, ctypes.c_uint64(instructions))

    def take(self, cpu, lock, reads=False):
        self.waited[cpu] += self.library.clocks_take_lock(self.clocks, cpu, ctypes.c_uint64(lock), ctypes.c_bool(reads))

    def give(self, cpu, lock, reads=False):
        self.library.clocks_give_lock(self.clocks, cpu, ctypes.c_uint64(lock), ctypes.c_bool(reads))

    def now(self, cpu):
        return self.library.clocks_now(self.clocks, cpu)

    def states(self, address):
        return [self.library.mesi_state_of(self.mesi, cpu, ctypes.c_uint64(address)) for cpu in range(self.cpus)]


@pytest.fixture
def machine(library):
    made = []

    def make(*arguments, **options):
        made.append(Machine(library, *arguments, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


# ---- patterns of sharing -----------------------------------------------------------------------------------------


def test_ping_pong(machine):
    """Two CPUs write one line in turn: but for the first write each is a transfer, and each waits for the one before."""
    two = machine(2)
    for _ in range(50):
        for cpu in (0, 1):
            two.access(cpu, 0x1000, WRITE)
    assert two.transfers == two.invalidated == 99 and two.upgrades == 0
    # The line changes hands 99 times, 100 cycles each; the last to get it has waited for all others.
    assert max(two.now(0), two.now(1)) == 99 * 100
    assert two.states(0x1000) == [INVALID, MODIFIED]


def test_false_sharing(machine):
    """Words of one line are as one word; words of two lines cost their first miss and nothing else."""
    counts = []
    for distance in (8, LINE):
        two = machine(2)
        for _ in range(50):
            for cpu in (0, 1):
                two.access(cpu, 0x1000 + cpu * distance, WRITE)
        counts.append((two.transfers, two.invalidated, two.now(0), two.now(1)))
    assert counts == [(99, 99, 9800, 9900), (0, 0, 200, 200)]


@pytest.mark.parametrize(("third", "again"), [(True, 40), (False, 200)])
def test_read_mostly(machine, third, again):
    """Four CPUs read a line; one of them writes it every tenth round."""
    four = machine(4, third=third)
    for round_ in range(100):
        if round_ % 10 == 9:
            four.access(0, 0x1000, WRITE)
        for cpu in range(4):
            four.access(cpu, 0x1000, READ)
    # At first memory has it, and then the first reader, who had it alone. Of each write: three copies go; the first other
    # reader gets it from the writer, the two after him from the third level, or from memory, since a shared line on a bus is memory's.
    assert four.upgrades == 10 and four.invalidated == 30
    assert four.transfers == 1 + 10
    # The writer and that reader have the line in turn, 60 and 100 cycles, from the third write on, which is at 420: the first
    # write is at 200, and the reader's first two transfers were over by then.
    assert four.now(0) == 420 + 7 * 160 + 60
    # CPU 3 reads eleven times what it has not: none of that waits for a line that changes hands.
    assert four.now(3) == 11 * again
    assert four.states(0x1000) == [SHARED] * 4
    assert four.written_back == 10


def test_lock_convoy(machine):
    """Four CPUs take one lock in turn and hold it for 70 cycles: after the start all time is the holders', one by one."""
    four, rounds = machine(4), 25
    for _ in range(rounds):
        for cpu in range(4):
            four.take(cpu, 0x2000)
            four.run(cpu, 70)
            four.give(cpu, 0x2000)
    assert [four.now(cpu) for cpu in range(4)] == [(4 * (rounds - 1) + cpu + 1) * 70 for cpu in range(4)]
    # Whoever is not running waits: a CPU's time is what it held the lock, 70 each round, and its waits.
    assert four.waited == [four.now(cpu) - rounds * 70 for cpu in range(4)]


def test_a_lock_that_is_seldom_wanted_is_not_waited_for(machine):
    """Work between takes of at least what the others hold: only the first round is staggered."""
    four, rounds = machine(4), 25
    for _ in range(rounds):
        for cpu in range(4):
            four.take(cpu, 0x2000)
            four.run(cpu, 10)
            four.give(cpu, 0x2000)
            four.run(cpu, 30)
    assert four.waited == [0, 10, 20, 30]
    assert [four.now(cpu) for cpu in range(4)] == [rounds * 40 + 10 * cpu for cpu in range(4)]


def test_readers_hold_a_lock_together(machine):
    """Readers wait for the writer before them, the writer for all of them."""
    four = machine(4)
    four.take(0, 0x2000)
    four.run(0, 100)
    four.give(0, 0x2000)
    for cpu, length in ((1, 50), (2, 80), (3, 20)):
        four.take(cpu, 0x2000, reads=True)
        four.run(cpu, length)
        four.give(cpu, 0x2000, reads=True)
    assert four.waited == [0, 100, 100, 100]
    four.take(0, 0x2000)
    assert four.waited[0] == 80 and four.now(0) == 180


def test_a_counter_that_all_write_goes_round(machine):
    """No lock, and yet one at a time: the line of a counter is each CPU's for the time that it takes to get there."""
    sixteen, rounds = machine(16, group=8), 20
    for _ in range(rounds):
        for cpu in range(16):
            sixteen.access(cpu, 0x3000, WRITE)
    # Of sixteen steps two cross to the other group.
    assert sixteen.transfers == 16 * rounds - 1
    slowest = max(sixteen.now(cpu) for cpu in range(16))
    assert slowest == rounds * 14 * 100 + (2 * rounds - 1) * 300


def test_who_comes_late_is_served_as_of_its_own_time(machine):
    """The order of calls is not that of clocks: a transfer takes the first gap that is long enough."""
    three = machine(3)
    three.access(0, 0x1000, WRITE)  # 0 to 200
    three.run(1, 5000)
    three.access(1, 0x1000, WRITE)  # takes 5000 to 5100
    three.access(2, 0x1000, WRITE)  # its clock is 0: it takes 0 to 100
    assert (three.now(1), three.now(2), three.for_line) == (5100, 100, 0)
    three.run(2, 4950)
    three.access(0, 0x1000, WRITE)
    three.access(2, 0x1000, WRITE)  # at 5050: the line is taken until 5100
    assert (three.now(2), three.for_line) == (5200, 50)


def test_a_bus_carries_one_transaction_at_a_time(machine):
    """Two CPUs miss at the same time, each another line: the second waits for the first one's bus cycles."""
    two = machine(2, third=False, bus=18)
    two.access(0, 0x1000, READ)
    two.access(1, 0x2000, READ)
    assert (two.now(0), two.now(1), two.for_bus) == (200, 218, 18)
    two.access(0, 0x1000, READ)  # in its cache: no bus
    assert (two.now(0), two.for_bus) == (200, 18)
    # 16 KB through a cache of 4 KB, written: each line's fetch, and what it drives out, takes the bus.
    two = machine(1, third=False, bus=18)
    for round_ in range(2):
        for address in range(0, 16384, LINE):
            two.access(0, address, WRITE)
        assert two.written_back == 256 * (round_ + 1) - 64


def test_a_long_turn_on_the_bus_keeps_nobody_who_is_run_after_it(machine):
    """One CPU misses a thousand times before the other is run at all: there is room for it between any two of these."""
    two = machine(2, third=False, bus=18)
    for address in range(0, 1000 * LINE, LINE):
        two.access(0, address, READ)
    for address in range(0, 100 * LINE, LINE):
        two.access(1, 0x100000 + address, READ)
    assert two.now(0) == 1000 * 200
    # Both ask at 0, and every 200 cycles: after the first wait the second one asks when the first has done.
    assert (two.now(1), two.for_bus) == (100 * 200 + 18, 18)


def test_a_line_that_others_share_is_memorys_and_waits_for_nobody(machine):
    """Each CPU with a third level of its own, as on a bus: the first reader had the line alone, the others share it."""
    four = machine(4, group=1)
    for cpu in range(4):
        four.access(cpu, 0x1000, READ)
    assert [four.now(cpu) for cpu in range(4)] == [200, 300, 200, 200]
    assert four.transfers == 1 and four.for_line == 0


def test_a_line_that_others_of_the_group_share_waits_for_nobody(machine):
    """The group's third level has dropped it; it comes from who shares it, though it has just changed hands."""
    four = machine(4)
    four.access(0, 0x1000, READ)
    four.run(1, 200)
    four.access(1, 0x1000, READ)  # 200 to 300, from who had it alone
    for number in range(1, 5):
        four.access(2, 0x1000 + number * 4096, READ)
    four.run(3, 250)
    assert four.access(3, 0x1000, READ).found == NEAR
    assert (four.now(3), four.for_line) == (350, 0)


def test_what_is_written_back_takes_the_bus_and_nobody_waits_but_who_comes_then(machine):
    two = machine(2, third=False, bus=18)
    for address in range(0, 4096, LINE):
        two.access(0, address, WRITE)
    begin = two.now(0)
    two.run(1, begin)
    two.access(0, 4096, WRITE)  # drives a written line out
    two.access(1, 0x20000, READ)
    assert two.written_back == 1 and two.now(0) == begin + 200
    assert two.now(1) == begin + 200 + 2 * 18 and two.for_bus == 2 * 18


def test_a_dirty_line_goes_to_who_asks_and_is_not_lost(machine):
    """States, step by step."""
    three = machine(3)
    for cpu, write, states in (
        (0, READ, [EXCLUSIVE, INVALID, INVALID]), (0, WRITE, [MODIFIED, INVALID, INVALID]),
        (1, READ, [SHARED, SHARED, INVALID]), (2, READ, [SHARED, SHARED, SHARED]),
        (1, WRITE, [INVALID, MODIFIED, INVALID]), (0, WRITE, [MODIFIED, INVALID, INVALID]),
    ):  # fmt: skip
        three.access(cpu, 0x1000, write)
        assert three.states(0x1000) == states


def test_what_the_second_level_drops_is_not_in_the_first(machine):
    """A line that the first level never misses is the oldest of its set in the second."""
    one = machine(1)
    one.access(0, 0, READ)
    for number in range(1, 5):
        assert one.access(0, 0, READ).found == FIRST
        one.access(0, number * 16 * LINE, READ)
    assert one.states(0) == [INVALID]
    assert one.access(0, 0, READ).found == THIRD


def test_shapes_that_cannot_be(library):
    good = {"cpus": 2, "group": 2, "line": 64, "first": Level(1024, 2), "second": Level(4096, 4), "third": Level()}
    for wrong in (
        {"cpus": 0}, {"cpus": 17}, {"group": 0}, {"line": 48}, {"line": 8}, {"first": Level(1024, 3)},
        {"second": Level(512, 2)}, {"second": Level(4096, 0)}, {"third": Level(4096, 7)},
    ):  # fmt: skip
        shape = Shape(*{**good, **wrong}.values())
        assert not library.mesi_make(ctypes.byref(shape)), wrong
    kept = ctypes.c_void_p(library.mesi_make(ctypes.byref(Shape(*good.values()))))
    assert kept
    library.mesi_free(kept)


# ---- against a model as slow as the definition -------------------------------------------------------------------


class SlowLevel:
    """Lists of lines, the most recently used first."""

    def __init__(self, size, ways):
        self.number, self.ways, self.sets = size // ways // LINE, ways, {}

    def _here(self, line):
        return self.sets.setdefault(line % self.number, [])

    def has(self, line):
        return line in self._here(line)

    def use(self, line):
        """It is the latest now, and was not brought in by this if it was there. What had to go, or None."""
        here = self._here(line)
        if line in here:
            here.remove(line)
        here.insert(0, line)
        return here.pop() if len(here) > self.ways else None

    def drop(self, line):
        if self.has(line):
            self._here(line).remove(line)


class SlowMachine:
    """MESI by its rules, the state of each line by CPU."""

    def __init__(self, cpus, group):
        self.cpus, self.group = cpus, group
        self.first, self.second = ([SlowLevel(*one) for _ in range(cpus)] for one in ((1024, 2), (4096, 4)))
        self.third = [SlowLevel(16384, 4) for _ in range(-(-cpus // group))]
        self.state = [{} for _ in range(cpus)]

    def _bring(self, cpu, line):
        if (old := self.second[cpu].use(line)) is not None:
            self.first[cpu].drop(old)
            self._to_third(cpu, old, self.state[cpu].pop(old) == MODIFIED)
        self.first[cpu].use(line)

    def _to_third(self, cpu, line, newer):
        for group, third in enumerate(self.third):
            if group == cpu // self.group:
                third.use(line)
            elif newer:
                third.drop(line)

    def _source(self, cpu, line):
        def distance(other):
            return NEAR if other // self.group == cpu // self.group else FAR

        others = [other for other in range(self.cpus) if other != cpu and line in self.state[other]]
        owner = [other for other in others if self.state[other][line] != SHARED]
        if owner:
            self._to_third(owner[0], line, self.state[owner[0]][line] == MODIFIED)
            self.state[owner[0]][line] = SHARED
            return distance(owner[0])
        if self.third[cpu // self.group].has(line):
            return THIRD
        return NEAR if NEAR in map(distance, others) else MEMORY

    def access(self, cpu, line, write):
        """(where it was, upgraded, CPUs that lost their copy)."""
        state, lost = self.state[cpu].get(line, INVALID), 0
        held = FIRST if self.first[cpu].has(line) else SECOND
        found = held if state else self._source(cpu, line)
        others = [other for other in range(self.cpus) if other != cpu and line in self.state[other]]
        if write and state in (INVALID, SHARED):
            for other in others:
                lost |= 1 << other
                del self.state[other][line]
                self.first[other].drop(line)
                self.second[other].drop(line)
            for group, third in enumerate(self.third):
                if group != cpu // self.group:
                    third.drop(line)
        if found in (MEMORY, FAR):
            self.third[cpu // self.group].use(line)
        self.state[cpu][line] = MODIFIED if write else state or (SHARED if others else EXCLUSIVE)
        if found == FIRST:
            self.first[cpu].use(line)
        elif found == SECOND:
            self.second[cpu].use(line)
            self.first[cpu].use(line)
        else:
            self._bring(cpu, line)
        return found, write and state == SHARED, lost


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 95) | st.integers(0, 2000), st.booleans()), max_size=400),
    st.sampled_from([1, 2, 4]),
)
def test_caches_do_as_the_definition_says(library, stream, group):
    machine, slow = Machine(library, 4, group=group), SlowMachine(4, group)
    for cpu, line, write in stream:
        happened = machine.look_up(cpu, line * LINE, write)
        assert (happened.found, happened.upgraded, happened.invalidated) == slow.access(cpu, line, write)
        states = machine.states(line * LINE)
        assert states == [slow.state[one].get(line, INVALID) for one in range(4)]
        assert max(states) < EXCLUSIVE or sum(map(bool, states)) == 1, "alone"
    machine.close()


class FirstGap:
    """Takes the first gap that is long enough, cycle by cycle."""

    def __init__(self):
        self.taken = set()

    def take(self, now, length):
        while any(time in self.taken for time in range(now, now + length)):
            now += 1
        self.taken.update(range(now, now + length))
        return now


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 12)), max_size=20))
def test_a_timeline_gives_no_time_twice(library, asked):
    """As long as nothing was forgotten: the first gap that is long enough."""

    class Timeline(ctypes.Structure):
        _fields_ = [("taken", ctypes.c_uint64 * 48), ("pieces", ctypes.c_uint), ("forgotten", ctypes.c_uint64)]

    library.timeline_take.restype = ctypes.c_uint64
    timeline, slow = Timeline(), FirstGap()
    for now, length in asked:
        found = library.timeline_take(ctypes.byref(timeline), ctypes.c_uint64(now), ctypes.c_uint64(length))
        assert found == slow.take(now, length)


BUS_CYCLES = 1 << 28


def bus_of(library):
    """bus_take() of a new bus."""
    library.bus_make.restype, library.bus_take.restype = ctypes.c_void_p, ctypes.c_uint64
    bus = ctypes.c_void_p(library.bus_make())
    assert bus
    return bus, lambda now, length: library.bus_take(bus, ctypes.c_uint64(now), ctypes.c_uint64(length))


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.tuples(st.integers(0, 700) | st.integers(0, 30), st.integers(0, 100)), max_size=40),
    st.sampled_from([0, 37, BUS_CYCLES - 300, 3 * BUS_CYCLES - 64]),
)
def test_a_bus_gives_no_time_twice(library, asked, start):
    """The first gap that is long enough, also where the ring of its bits begins anew."""
    (bus, take), slow = bus_of(library), FirstGap()
    for now, length in asked:
        assert take(start + now, length) == slow.take(start + now, length)
    library.bus_free(bus)


def test_a_bus_knows_a_tenth_of_a_second_and_of_what_was_before_nothing(library):
    bus, take = bus_of(library)
    assert [take(0, 16), take(0, 16)] == [0, 16]
    assert take(BUS_CYCLES - 100, 16) == BUS_CYCLES - 100
    assert take(0, 16) == 32, "still known"
    assert take(BUS_CYCLES + 1000, 16) == BUS_CYCLES + 1000
    assert take(BUS_CYCLES, 16) == BUS_CYCLES, "what lay there a round before is gone"
    assert [take(40, 16), take(40, 16)] == [40, 40], "free, and nothing taken"
    assert take(BUS_CYCLES - 100, 16) == BUS_CYCLES - 84
    assert take(5 * BUS_CYCLES, 16) == 5 * BUS_CYCLES
    assert take(4 * BUS_CYCLES + 1000, 16) == 4 * BUS_CYCLES + 1000, "and after a jump"
    library.bus_reset(bus)
    assert take(0, 16) == 0
    library.bus_free(bus)


def test_what_a_timeline_has_forgotten_counts_as_taken(library, machine):
    two = machine(2)
    for i in range(40):
        two.run(0, 10_000)
        two.access(i % 2, 0x1000, WRITE)
        two.run(1, 10_000)
    late = machine(3)
    for i in range(60):
        cpu = i % 2
        late.run(cpu, 1000)
        late.access(cpu, 0x1000, WRITE)
    late.access(2, 0x1000, WRITE)
    assert 0 < late.for_line < max(late.now(0), late.now(1))
