"""Tasks change where it was said; the same runs are the same; what may be found is what a model of all orders says; nothing hidden comes out."""

from __future__ import annotations

import re

import numpy as np
import pytest

from lab.course import keys
from lab.grade import sandbox
from lab.grade.lockless import machine, programs
from lab.grade.lockless.programs import Done, Maker
from lab.grade.table import build
from lab.grade.table.model import ASKED, FIND, INSERT, REMOVE
from tests.lab.grade.conftest import COURSE
from tests.lab.grade.lab5.conftest import LAB
from tests.lab.grade.lab5.submissions import CHAINED, COUNTED, RUN, SOLUTION, STARTER, changed


def seen_of(text: str, all_of: list[programs.Program], schedules: int) -> machine.Seen:
    with sandbox.folder() as folder:
        link = (LAB.folder / LAB.options["link"]).read_bytes()
        build.prepare(folder, build.Structure("lockless", text.encode(), link))
        assert build.compile_all(folder, "lockless").good and machine.compile_tasks(folder, "lockless").good
        return machine.run(folder, all_of, schedules)


def test_runs_repeat_and_their_schedules_are_kept():
    """Whose turn is said to come does what it is said to do: an operation of another begins and ends within one of the one who looks."""
    all_of = [programs.made(name, i) for i, name in enumerate(programs.MAKERS) if name not in programs.ONCE]
    first, again = seen_of(SOLUTION, all_of, 60), seen_of(SOLUTION, all_of, 60)
    assert first == again and not first.ended and len(first.runs) == 60 * len(all_of)
    assert len({str(run.segments) for run in first.runs}) > 350
    alone = [run for run in first.runs if not run.segments]
    assert len(alone) == len(all_of), "the first run of each is one after the other"
    for run in alone:
        times = sorted((done.began, done.ended) for done in run.history)
        assert all(one[1] < next_one[0] for one, next_one in zip(times, times[1:], strict=False))
    inside = 0
    for run in first.runs:
        looks = [done for done in run.history if done.where == 1]
        changes = [done for done in run.history if done.where in (2, 3)]
        inside += any(look.began < done.began and done.ended < look.ended for look in looks for done in changes)
    assert inside > 120
    for number, program in enumerate(all_of):  # whatever comes between, all is asked once, and in order
        for run in first.runs[number * 60 : number * 60 + 60]:
            for where, operations in enumerate(program.lists()):
                assert [done.at for done in run.history if done.where == where] == list(range(len(operations)))


def test_every_access_is_a_place_to_stop_at():
    """A lookup of the third of a chain: the head, and of each object its key, of two words, and what comes next."""
    maker = Maker("one", programs.Draw(3))
    chain = maker.chain(1, 3)
    maker.find(maker.program.tasks[0], maker.there[chain[0]][0])
    fresh = maker.object()
    maker.insert(maker.program.tasks[1], fresh, maker.key(1))
    seen = seen_of(SOLUTION, [maker.done()], 400)
    parted = [
        run.segments[0][1]
        for run in seen.runs
        if run.segments and run.segments[0][0] == 0 and [d.where for d in sorted(run.history, key=lambda d: d.ended) if d.where in (1, 2)] == [2, 1]
    ]  # fmt: skip
    assert set(range(1, 8)) <= set(parted), sorted(set(parted))


def test_what_comes_between_is_done_while_a_lookup_stands_still():
    """By whom nobody sees: as often as is said, and two operations in each of many places of one lookup."""
    again, wraps = (programs.made(name, 1) for name in programs.ONCE)
    seen = seen_of(SOLUTION, [again], 5)
    assert not seen.ended and len(seen.runs) == 1 + programs.STEPS
    inside = []
    for run in seen.runs[1:]:
        look = next(done for done in run.history if done.where == 1)
        inside.append(
            sum(look.began < done.began and done.ended < look.ended for done in run.history if done.where == 5)
        )
    assert max(inside) == len(again.between) > 500 and sum(number > 0 for number in inside) > 40, inside
    narrow = changed(COUNTED, ("u64 removals", "u16 removals"), ("u64 before", "u16 before"))
    seen = seen_of(narrow, [wraps], 5)
    assert [programs.wrong_lookup(wraps, run.history) for run in seen.runs].count(None) < len(seen.runs)
    wraps.again -= 2
    assert not any(programs.wrong_lookup(wraps, run.history) for run in seen_of(narrow, [wraps], 5).runs)


def history(*times: tuple[int, int, int, int, int]) -> list[Done]:
    return [Done(*one) for one in times]


def test_what_may_be_found():
    """One object, there before, removed and put in again with another key; a lookup of the first key."""
    maker = Maker("one", programs.Draw(1))
    one = maker.chain(0, 1)[0]
    key = maker.there[one][0]
    maker.find(maker.program.tasks[0], key)
    maker.remove(maker.program.tasks[1], one)
    maker.insert(maker.program.tasks[1], one, maker.key(0))
    program = maker.program
    program.keys = [5, 6]
    address = program.addresses[0]

    def verdict(began: int, ended: int, answer: int) -> str:
        found = programs.wrong_lookup(
            program, history((0, 0, 1, 2, 0), (1, 0, began, ended, answer), (2, 0, 10, 20, 0), (2, 1, 30, 40, 0))
        )
        return found[1] if found else ""

    assert not verdict(4, 5, address) and "nothing is found" in verdict(4, 5, 0)
    assert "nothing is found" in verdict(4, 9, 0) and not verdict(4, 11, 0)  # the remove had begun
    assert not verdict(15, 25, address) and "did not have this key" in verdict(21, 25, address)
    assert not verdict(21, 25, 0) and "no object" in verdict(4, 5, address + 8)
    assert [operation.kind for operations in program.lists() for operation in operations] == [
        INSERT,
        FIND,
        REMOVE,
        INSERT,
    ]


@pytest.mark.parametrize("name", programs.MAKERS)
def test_programs_are_what_a_cache_may_do(name):
    """Each object is changed by one task only, keys are there once, and the same seed makes the same."""
    for seed in range(20):
        program = programs.made(name, seed)
        assert program.packed(1) == programs.made(name, seed).packed(1) != programs.made(name, seed + 100).packed(1)
        changed = [{one.object for one in task if one.kind != FIND} for task in (*program.tasks, program.between)]
        assert not changed[0] and not changed[1] & changed[2] and not changed[3] & (changed[1] | changed[2])
        assert all(one.kind == FIND for one in program.tasks[0])
        assert len(set(program.keys)) == len(program.keys) and len(set(program.addresses)) == len(program.addresses)
        there: dict[int, int] = {}
        for one in (*program.before, *program.tasks[1], *program.tasks[2], *program.between, *program.after):
            if one.kind == INSERT:
                assert one.object not in there and one.key not in there.values()
                there[one.object] = one.key
            elif one.kind == REMOVE:
                assert there.pop(one.object) == one.key
        assert not there, "the next run begins with an empty table"


def test_feedback_leads_to_a_program_for_practice_and_tells_nothing_of_the_hidden_ones(graded):
    tasks = {"programs": 1, "schedules": 100}
    _, said = graded(STARTER, only={"structure", *RUN}, tasks=tasks)
    command = re.search(r"to see the like: \./cw grade 5 lockless\.h --seed (\d+) has (\w+[\w ]*):", said)
    assert command and "run " not in said and "from" not in said.replace("go from", ""), said
    _, open_to_all = graded(STARTER, keys.practice(int(command[1])), only={"structure", *RUN}, tasks=tasks)
    assert f"{command[2]}: nothing is found" in open_to_all and "In turn:" in open_to_all


def test_hidden_seeds_and_answers_never_enter_the_sandbox(graded, monkeypatch):
    """A find comes with a key, and not with the object that is looked for; what the plugin is given the guest does not see."""
    real, given_in = sandbox.run, []

    def watch(command, limits, shown=None, kept=None, given=b""):
        given_in.append((" ".join((*command, *map(str, shown or {}), *map(str, kept or {}))), given))
        return real(command, limits, shown, kept, given)

    monkeypatch.setattr(sandbox, "run", watch)
    graded(CHAINED, only={"structure", *RUN}, tasks={"programs": 1, "schedules": 5})
    ran = [given for command, given in given_in if command.startswith("qemu")]
    assert len(ran) >= 1
    for command, given in given_in:
        assert COURSE.secret.hex() not in command and COURSE.secret not in given
        for name in programs.MAKERS:
            assert COURSE.seed("5", "tasks", name, 0).to_bytes(8, "little") not in given
    program = programs.made("moved", COURSE.seed("5", "tasks", "moved", 0))
    asked = np.frombuffer(program.packed(5)[programs.HEAD.itemsize :], ASKED)
    assert not asked["object"][asked["kind"] == FIND].any()
