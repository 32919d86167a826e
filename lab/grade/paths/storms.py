"""What several CPUs are asked while one of them changes things, and what is right in each state that there has been.

Now and then there is a pause, in which nothing changes: what is asked for in the end of it a cache can know, and is counted (found.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lab.course.draw import Draw
from lab.grade.paths.model import LEAST_SIZE
from lab.grade.paths.script import Script, below

CHANGES = 140
BETWEEN = 20  # changes, from one pause to the next


@dataclass
class Storm:
    """A script in which workers ask while changes go on; and what each may see in each state, by its user."""

    script: Script
    states: list[list[list[int]]]  # [changes done][worker][question]
    pauses: list[int]  # after how many changes


@dataclass
class Ground:
    """Places of a script where things change: chains of folders, each with a file at its end, as Script.chain() makes them."""

    opened: list[str]  # a folder of it is closed, and opened again
    moved: list[str]  # a folder of it goes elsewhere, to @away, and comes back
    away: str
    one: list[str]  # its first folder and @other change places
    other: str
    replaced: str  # a file, over which others are renamed
    still: list[str]  # nothing happens to it
    named: str  # a file that has this name, or the next
    renamed: str


def _ground(script: Script) -> Ground:
    def place() -> str:
        return f"{script.top}/{script.name(5, 9)}"

    opened, moved, away = script.long_chain(), script.long_chain(), place()
    one, other = script.long_chain(), script.folder(script.top, name=script.name(5, 9))
    inside = other
    for path in one[1:-1]:
        inside = script.folder(inside, name=path.rpartition("/")[2])
    script.file(inside, name=one[-1].rpartition("/")[2])
    replaced, still = script.long_chain()[-1], script.long_chain()
    *_, above, named = script.long_chain()
    return Ground(opened, moved, away, one, other, replaced, still, named, f"{above}/{script.name(5, 9)}")


def storm(draw: Draw) -> Storm:
    """Three workers on as many CPUs, and who changes things on a fourth."""
    script = Script(draw)
    for which in (1, 3, draw.pick((2, 4))):
        script.user(which, script.top)
    at = _ground(script)
    there = f"{at.away}/{below(at.moved[-1], at.moved[1])}"
    paths = [at.named, at.renamed, at.opened[-1], at.moved[-1], there, at.one[-1], at.replaced, at.still[-1]]
    for path in paths:
        script.questions.append(("s", path))
    script.questions.append(("s", below(at.opened[-1], script.top)))
    script.questions.append(("r", below(at.still[-1], script.top)))
    script.lines += [f"question {kind} {path}" for kind, path in script.questions]
    script.lines.append(f"storm 0 {len(script.questions) - 1}")
    states, pauses = [_answers(script)], [0]
    script.lines.append("pause")
    for words in _changes(script, at):
        script.change(*words)
        states.append(_answers(script))
        if len(states) > pauses[-1] + BETWEEN:
            pauses.append(len(states) - 1)
            script.lines.append("pause")
    script.lines.append("calm")
    return Storm(script, states, pauses)


def _changes(script: Script, at: Ground) -> Iterator[tuple[str, ...]]:
    """CHANGES of them, the words of each."""
    draw = script.draw
    is_away = closed = is_renamed = False
    for _ in range(CHANGES):
        which = draw.below(11)
        if which == 0:
            closed = not closed
            yield "chmod", at.opened[2], draw.pick(("700", "000")) if closed else "755"
        elif which == 1:
            is_away = not is_away
            yield "rename", *((at.moved[1], at.away) if is_away else (at.away, at.moved[1]))
        elif which == 2:
            yield "exchange", at.one[0], at.other
        elif which == 3:
            file = f"{script.top}/{script.name()}"
            yield "file", file, "644", str(draw.between(LEAST_SIZE, 1 << 30))
            yield "rename", file, at.replaced
        elif which < 10:
            is_renamed = not is_renamed
            yield "rename", *((at.named, at.renamed) if is_renamed else (at.renamed, at.named))
        else:
            above = at.still[draw.between(0, 3)]
            file = script.name()
            yield "file", f"{above}/{file}", "644", str(LEAST_SIZE)
            yield "unlink", f"{above}/{file}"


def _answers(script: Script) -> list[list[int]]:
    return [[script.tree.ask(user, kind, path) for kind, path in script.questions] for user in script.workers]
