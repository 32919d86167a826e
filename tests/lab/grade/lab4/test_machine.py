"""What is counted is what was executed and touched; what is expected is what a table must answer; and nothing hidden comes out."""

from __future__ import annotations

import re

import numpy as np
import pytest

from lab.base.paths import LabError
from lab.course import keys
from lab.grade import sandbox
from lab.grade.table import build, machine, model, parts
from tests.lab.grade.conftest import COURSE
from tests.lab.grade.lab4.conftest import LAB
from tests.lab.grade.lab4.submissions import INSERTS, SOLUTION, WRONG, changed


def seen_of(text: str, sequence: model.Sequence) -> machine.Seen:
    with sandbox.folder() as folder:
        link = (LAB.folder / LAB.options["link"]).read_bytes()
        build.prepare(folder, build.Structure("linear", text.encode(), link))
        assert build.compile_all(folder, "linear").good
        return machine.ask(folder, sequence)


def test_each_instruction_and_each_line_of_memory_is_counted():
    """Two hundred more in each insert, and as many times a string instruction goes on; a line that was not used before."""
    sequence = model.made("tiny", 3)
    plain, again = seen_of(SOLUTION, sequence), seen_of(SOLUTION, sequence)
    assert np.array_equal(plain, again)
    more = '\t{\n\t\tstatic char room[64 * 300];\n\t\tchar *to = room + 64 * (table->objects % 300);\n\t\tlong n = 64;\n\n\t\t__asm__ volatile(".rept 200; nop; .endr; rep stosb" : "+D"(to), "+c"(n) : "a"(0) : "memory");\n\t}\n'
    slow = seen_of(changed(SOLUTION, (INSERTS, INSERTS + more)), sequence)
    inserts = model.of_kind(sequence, "insert")
    extra = slow["instructions"].astype(int) - plain["instructions"]
    assert extra[inserts].min() >= 264 and extra[inserts].max() < 330
    assert np.abs(extra[~inserts]).max() < 20
    assert slow["lines"][-1] - plain["lines"][-1] >= sequence.counts.max() - 1 > 100


@pytest.mark.parametrize("name", model.SEQUENCES)
def test_the_model_answers_as_a_dictionary_would(name):
    sequence, there = model.made(name, 11), {}
    assert len(set(sequence.addresses)) == len(sequence.addresses)
    assert sequence.asked == model.made(name, 11).asked != model.made(name, 12).asked
    buckets = {}
    for one in sequence.asked[1:]:
        if one.kind == model.INSERT:
            assert one.key not in there and one.object not in there.values()
            there[one.key] = one.object
        elif one.kind == model.REMOVE:
            assert there.pop(one.key) == one.object
        elif one.kind == model.FIND:
            assert one.found == there.get(one.key)
        assert one.count == len(there)
        if one.kind != model.WALK:
            assert buckets.setdefault(one.key, one.bucket) == one.bucket < 1 << sequence.bits
    kinds = {kind: int(model.of_kind(sequence, kind).sum()) for kind in parts.KINDS_OF_WORK}
    assert min(kinds.values()) > 150, kinds


def test_feedback_leads_to_a_sequence_for_practice_and_tells_nothing_of_the_hidden_ones(graded):
    text, _ = WRONG["loses whom it moves"]
    _, said = graded(text)
    command = re.search(r"to see the like: \./cw grade 4 linear\.h --seed (\d+) has (.*)", said)
    assert command, said
    _, open_to_all = graded(text, keys.practice(int(command[1])))
    assert command[2] in open_to_all and "operations on that object" in open_to_all
    assert "operations on that object" not in said
    names = LAB.parts[1].options["sequences"]
    faults = [
        line.strip() for line in said.splitlines() if line.strip().startswith(tuple(f"{name}: " for name in names))
    ]
    assert len(faults) >= 3 and not any(c.isdecimal() for fault in faults for c in fault), (
        "where it failed is its own choice"
    )
    numbers = set(re.findall(r"\d+", said.replace(",", "")))
    for i, name in enumerate(LAB.parts[1].options["sequences"]):
        for one in model.made(name, COURSE.seed("4", "sequence", i)).asked:
            assert not {str(word) for word in (*one.key, one.address) if word > 100_000} & numbers


def test_hidden_seeds_and_answers_never_enter_the_sandbox(graded, monkeypatch):
    real, seen = sandbox.run, []

    def watch(command, limits, shown=None, kept=None, given=b""):
        seen.append((" ".join((*command, *map(str, shown or {}), *map(str, kept or {}))), given))
        return real(command, limits, shown, kept, given)

    monkeypatch.setattr(sandbox, "run", watch)
    graded(SOLUTION)
    machines = [given for command, given in seen if command.startswith("qemu")]
    assert len(machines) >= 5
    for i, name in enumerate(LAB.parts[1].options["sequences"]):
        assert model.made(name, COURSE.seed("4", "sequence", i)).packed in machines, "what is asked is the course's own"
    for command, given in seen:
        assert COURSE.secret.hex() not in command and COURSE.secret not in given
        for purpose in ("sequence", "sanitized"):
            assert all(str(COURSE.seed("4", purpose, i)) not in command for i in range(4))
    for given in machines:  # a find comes with a key, and not with the object that is looked for
        asked = np.frombuffer(given, model.ASKED)
        assert not asked["object"][asked["kind"] == model.FIND].any()


def test_where_nothing_can_be_compiled_nobody_is_marked_down(graded, monkeypatch):
    monkeypatch.setattr(build, "DEFINES", f"{build.DEFINES} -fno-such-flag")
    monkeypatch.setattr(build, "_frame_once", build._frame_once.__wrapped__)
    with pytest.raises(LabError, match="cannot compile what is its own"):
        graded(SOLUTION)
