"""Does a path cache know what it was asked for before, also where several CPUs ask, and where memory is short?

That an answer is right does not tell: who walks is always right. So the plugin counts the instructions of questions that a cache has had
the time to learn (guest/counts.c), and they are held against those of a kernel that only walks, for the same question of the same script.
Whoever finds it takes far fewer. It need not be each time: an entry may have gone for another, or nothing be looked for while somebody
else is at it. So a fifth of them is asked for (lab.toml): who tries for a lock and walks when it is taken finds more than a third, all
others that were tried more than three quarters; who only walks, none.
"""

from __future__ import annotations

from fractions import Fraction
from statistics import median_low

from lab.grade.paths.machine import Answers
from lab.grade.paths.model import LEAST_SIZE
from lab.grade.paths.script import Many
from lab.grade.paths.storms import Storm

MOST_QUESTIONS = 64  # of a worker: guest/asker.c makes tags of that

Samples = list[tuple[str, int]]  # a path, and the instructions that a question for it took


def in_storm(made: Storm, seen: Answers) -> Samples:
    """What counts in its pauses, leads to a file for who asks, and has not always been so: it had to be forgotten, and learnt again."""
    workers, questions = made.script.workers, made.script.questions
    out = []
    for count, noted in zip(seen.counts, seen.noted, strict=True):
        begun, ended = noted >> 12 & 1023, noted >> 22  # turns of pauses: between an odd one and the next it counts
        worker, number = divmod(noted & 0xFFF, MOST_QUESTIONS)
        if begun != ended or not begun % 2 or begun // 2 >= len(made.pauses):
            continue
        if worker >= len(workers) or number >= len(questions):  # no tag was seen
            continue
        *earlier, now = (state[worker][number] for state in made.states[: made.pauses[begun // 2] + 1])
        if now >= LEAST_SIZE and any(one != now for one in earlier):
            out.append((" ".join(questions[number]), count))
    return out


def in_little_memory(made: Many, seen: Answers, when: str) -> Samples:
    """What counts @when: "before" or "after" the many."""
    asked = made.script.asked
    counts = seen.counts[: made.before] + seen.counts[made.before + made.between :]
    return [(one.path, count) for one, count in zip(asked, counts, strict=True) if one.measured == when]


def share(mine: Samples, walked: Samples, most: int) -> Fraction:
    """Of @mine those that took at most @most hundredths of what a walk to the same place takes."""
    walks: dict[str, list[int]] = {}
    for path, count in walked:
        walks.setdefault(path, []).append(count)
    usual = {path: median_low(counts) for path, counts in walks.items()}
    of = [100 * count <= most * usual[path] for path, count in mine if path in usual]
    return Fraction(sum(of), len(of)) if of else Fraction(0)
