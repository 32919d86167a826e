"""The long tests take turns: of those with the mark `turns(N)` a commit runs every Nth row, and of those with the mark
`builds(NAME)`, which need something built that few others need, what every twelfth of these names needs; both drawn by the
commit's name.

All that the tests know would take an hour, too long for a look at one commit. What is long is nearly
always a matrix (programs by file systems, schedules by kernels), whose rows say much the same of a change, or the build of a
kernel for one test. So `make test` and continuous integration run a part of it that the commit alone decides, some commits of
different draws have run it all, and `make test ALL=y`, or a test or file asked for by name, leaves nothing out.
"""

from __future__ import annotations

import hashlib

import pytest

BUILDS = 12  # of the names of builds(), numbered as their tests are collected, a commit has every twelfth


def takes_part(test: str, row: int, turns: int, word: str) -> bool:
    """Whether @word (a commit's name) draws the row @row (from 0) of @test, one of @turns. Of a test's rows every
    @turns-th is drawn, from a first one that tests do not share; with words at random each row is as likely."""
    first = int.from_bytes(hashlib.sha256(f"{test} {word}".encode()).digest()[:8])
    return (row + first) % turns == 0


def left_out(items: list[pytest.Item], word: str) -> list[pytest.Item]:
    """Those of @items, in the order in which they were collected, that @word does not draw. A builds() without a name is
    that row's alone."""
    rows: dict[str, int] = {}
    built: dict[str, int] = {}
    left = []
    for item in items:
        test = item.nodeid.partition("[")[0]
        drawn = True
        if builds := item.get_closest_marker("builds"):
            name = builds.args[0] if builds.args else item.nodeid
            drawn = takes_part("builds", built.setdefault(name, len(built)), BUILDS, word)
        if turns := item.get_closest_marker("turns"):
            row = rows[test] = rows.get(test, -1) + 1
            drawn = takes_part(test, row, turns.args[0], word) and drawn
        if not drawn:
            left.append(item)
    return left
