"""What shrinks: a sequence that differs, or ends the machine, made as short as it can be."""

from __future__ import annotations

import re

from lab.check.fuzz.both import Work, run_here, run_on_linux
from lab.check.fuzz.differences import Failure, first_difference, kind_of


def shorter(operations: list[str], hint: set[int]) -> list[list[str]]:
    """All ways of leaving out one piece, larger pieces first; all of @hint at once."""
    count = len(operations)
    ways: list[list[str]] = []
    if len(hint) > 1:
        ways.append([op for i, op in enumerate(operations) if i not in hint])
        for part in range(2):
            some = set(sorted(hint)[part::2])
            ways.append([op for i, op in enumerate(operations) if i not in some])
    size = count // 2
    while size > 1:
        ways += [operations[:start] + operations[start + size :] for start in range(0, count, size)]
        size //= 2
    ways += [operations[:i] + operations[i + 1 :] for i in range(count)]
    return [way for way in ways if way]


def shrink(failures: list[Failure], absent: str) -> None:
    """Make each as short as it can be while it differs in its own way; all at once, some rounds of one boot."""
    root = failures[0].root
    hints: dict[int, set[int]] = {i: set() for i in range(len(failures))}
    for failure in failures:  # what comes after the difference does not matter
        match = re.match(r"(\d+) \w+", first_difference(failure.linux, failure.ours)[0])
        if match and not failure.kind.startswith("tree"):
            failure.operations = failure.operations[: int(match[1]) + 1]
    active = set(range(len(failures)))
    for number in range(30):
        if not active:
            return
        candidates: dict[int, tuple[int, list[str]]] = {}
        for index in sorted(active):
            for way in shorter(failures[index].operations, hints[index]):
                candidates[len(candidates)] = (index, way)
        work = Work(sequences={name: ops for name, (_, ops) in candidates.items()}, verbose=True)
        ours, linux = run_here(root, work, 1), run_on_linux(root, work, absent)
        best: dict[int, int] = {}
        single: dict[int, set[int]] = {i: set() for i in range(len(failures))}
        for name, (index, ops) in candidates.items():
            failure = failures[index]
            if kind_of(linux.traces.get(name, []), ours.traces.get(name, [])) != failure.kind:
                continue
            if len(ops) == len(failure.operations) - 1:
                gone = next((i for i, op in enumerate(ops) if op != failure.operations[i]), len(ops))
                single[index].add(gone)
            if index not in best or len(ops) < len(candidates[best[index]][1]):
                best[index] = name
        for index in list(active):
            failure = failures[index]
            if index not in best:
                active.discard(index)
                continue
            name = best[index]
            ops = candidates[name][1]
            # Where this round took out one operation, all that can go alone may go together next time.
            hints[index] = single[index] if len(ops) == len(failure.operations) - 1 else set()
            if hints[index]:
                gone = next((i for i, op in enumerate(ops) if op != failure.operations[i]), len(ops))
                hints[index] = {i - (i > gone) for i in hints[index] if i != gone}
            failure.operations, failure.linux, failure.ours = ops, linux.traces[name], ours.traces[name]
            failure.rounds = number + 1


def shrink_crash(root: str, operations: list[str], progress) -> list[str]:
    """The same for a sequence that ends the machine: a boot for each try."""
    size = max(len(operations) // 2, 1)
    tries = 0
    while size and tries < 80:
        start = 0
        while start < len(operations) and tries < 80:
            way = operations[:start] + operations[start + size :]
            tries += 1
            if way and run_here(root, Work(sequences={0: way}), 1, timeout=120).ended:
                operations = way
                progress(f"{len(operations)} operations still end the machine")
            else:
                start += size
        size //= 2
    return operations
