"""The long tests take turns: of those with the mark `turns(N)` a commit runs every Nth, drawn by its name.

All that the tests know would take three quarters of an hour, too long for a look at one commit. What is long is nearly
always a matrix (programs by file systems, schedules by kernels), whose rows say much the same of a change. So `make test`
and continuous integration run a part of it that the commit alone decides, N commits of different draws have run it all,
and `make test ALL=y`, or a test or file asked for by name, leaves nothing out.
"""

from __future__ import annotations

import hashlib

import pytest


def takes_part(test: str, row: int, turns: int, word: str) -> bool:
    """Whether @word (a commit's name) draws the row @row (from 0) of @test, one of @turns. Of a test's rows every
    @turns-th is drawn, from a first one that tests do not share; with words at random each row is as likely."""
    first = int.from_bytes(hashlib.sha256(f"{test} {word}".encode()).digest()[:8])
    return (row + first) % turns == 0


def left_out(items: list[pytest.Item], word: str) -> list[pytest.Item]:
    """Those of @items, in the order in which they were collected, that @word does not draw."""
    rows: dict[str, int] = {}
    left = []
    for item in items:
        mark = item.get_closest_marker("turns")
        if mark is None:
            continue
        (turns,) = mark.args
        test = item.nodeid.partition("[")[0]
        row = rows[test] = rows.get(test, -1) + 1
        if not takes_part(test, row, turns, word):
            left.append(item)
    return left
