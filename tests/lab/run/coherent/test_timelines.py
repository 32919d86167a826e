"""When a line and the bus are taken: the first gap that is long enough, no time given twice, and how much is remembered."""

from __future__ import annotations

import ctypes

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.lab.run.coherent.simulated import WRITE


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
