"""The caches (mesi.c) against a model as slow as MESI's definition, on streams of addresses."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.lab.run.coherent.simulated import (
    EXCLUSIVE,
    FAR,
    FIRST,
    INVALID,
    LINE,
    MEMORY,
    MODIFIED,
    NEAR,
    SECOND,
    SHARED,
    THIRD,
    Machine,
)


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
