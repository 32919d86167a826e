"""Patterns of sharing, played into the library, whose transfers and waits are known by arithmetic."""

from __future__ import annotations

import ctypes

import pytest

from tests.lab.run.coherent.simulated import (
    EXCLUSIVE,
    FIRST,
    INVALID,
    LINE,
    MODIFIED,
    NEAR,
    READ,
    SHARED,
    THIRD,
    WRITE,
    Level,
    Shape,
)


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


def test_what_is_in_ones_own_third_level_takes_no_bus(machine):
    """Two CPUs go twice through 8 KB, which the second level has no room for: the second time nobody asks for the bus."""
    two = machine(2, group=1, bus=30)
    for cpu in range(2):
        for address in range(0, 8192, LINE):
            two.access(cpu, cpu * 0x10000 + address, READ)
    begin, waited = [two.now(cpu) for cpu in range(2)], two.for_bus
    for address in range(0, 8192, LINE):
        for cpu in range(2):
            assert two.access(cpu, cpu * 0x10000 + address, READ).found == THIRD
    assert two.for_bus == waited
    assert [two.now(cpu) - begin[cpu] for cpu in range(2)] == [8192 // LINE * 40] * 2


def test_a_line_of_ones_own_third_level_that_others_have_takes_the_bus(machine):
    """To write it, others' copies go: that is said on the bus, in turn."""
    two = machine(2, group=1, bus=18)
    mine = (0, LINE)  # the line that each CPU loses from its second level, and the other has there
    for address in mine:
        for cpu in range(2):
            two.access(cpu, address, READ)
    for cpu in range(2):
        for number in range(1, 5):
            two.access(cpu, 0x100000 * (cpu + 1) + number * 1024 + mine[cpu], READ)
    later = max(two.now(0), two.now(1))
    for cpu in range(2):
        two.run(cpu, later - two.now(cpu))
    waited = two.for_bus
    assert [two.access(cpu, mine[cpu], WRITE).found for cpu in range(2)] == [THIRD, THIRD]
    assert two.invalidated == 2 and two.for_bus == waited + 18


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
