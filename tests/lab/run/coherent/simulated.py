"""The library that simulates the caches and clocks of several CPUs (lab/run/cachesim/coherent), through ctypes."""

from __future__ import annotations

import ctypes

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
