"""Sequences of file calls compared with Linux: those that once differed, and new ones. docs/testing.md explains."""

from __future__ import annotations

import pytest

from lab.check.fuzz import both, differences, programs, shrink
from lab.check.kernels import debug_output


@pytest.fixture
def debug_kernel(monkeypatch):
    """With assertions, lock-order checker and poison."""
    programs.file_fuzzer()
    monkeypatch.setenv("CW_OUTPUT", debug_output())


@pytest.mark.parametrize("root", both.ROOTS)
def test_what_was_found_once(debug_kernel, root):
    """Linux's traces are recorded beside the sequences, so that this needs no root."""
    found = [differences.read_found(path) + (path.name,) for path in sorted(differences.FOUND.glob("*.txt"))]
    kept = {i: entry for i, entry in enumerate(found) if entry[0] == root}
    if not kept:
        pytest.skip("nothing was found on this root")
    outcome = differences.replay(root, {i: operations for i, (_, operations, _, _) in kept.items()})
    assert not outcome.ended, outcome.ended
    assert outcome.absent == both.ABSENT[root]
    absent = set(outcome.absent.split(","))
    wrong = [
        f"{name}:\n  Linux:     {a}\n  Chainwalk: {b}"
        for i, (_, operations, trace, name) in kept.items()
        for a, b in [differences.first_difference(trace, outcome.traces.get(i, []))]
        if a != b and not absent & {line.split()[0] for line in operations}
    ]
    assert not wrong, "\n".join(wrong)


def test_a_planted_difference_is_seen():
    """The comparison itself: kinds tell differences apart, equal traces are equal."""
    same = ["0 mkdir a 0755: = 0", "/: 040777 0:0 3 mnow", "/a: 040755 0:0 2 mnow"]
    assert not differences.kind_of(same, list(same))
    assert differences.kind_of(same, ["0 mkdir a 0755: EEXIST", *same[1:]]) == "mkdir = EEXIST"
    assert differences.kind_of(same, same[:2]).startswith("tree")
    assert differences.kind_of(same, [*same[:2], "/a: 040755 0:0 3 mnow"]) == "tree word2 word2"
    assert len(shrink.shorter([str(i) for i in range(8)], set())) >= 8 + 4 + 2


@pytest.mark.turns(4)
@pytest.mark.parametrize("root", both.ROOTS)
def test_new_sequences(debug_kernel, root):
    if why := both.cannot_judge():
        pytest.skip(why)
    work = both.Work(first=0, count=1000)
    ours = both.run_here(root, work, 1)
    assert not ours.ended, ours.ended
    assert ours.absent == both.ABSENT[root]
    linux = both.run_on_linux(root, work, ours.absent)
    wrong = [seed for seed in range(1000) if ours.sums.get(seed) != linux.sums.get(seed)]
    assert not wrong, f"sequences that differ on {root}: {wrong[:50]}; ./cw fuzz --root {root} shrinks them"
