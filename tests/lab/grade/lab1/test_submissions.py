"""Right submissions get all points, wrong and dishonest ones fail where they are wrong, and nowhere else."""

from __future__ import annotations

import re
import socket
import time

import pytest

from lab.base.paths import TOP
from lab.course import keys
from lab.grade.function import oracle, streams
from tests.lab.grade.conftest import COURSE
from tests.lab.grade.lab1.conftest import LAB
from tests.lab.grade.lab1.submissions import CALL, GOOD, HEAD, MIXED, RIGHT, TELLING, WRONG, hard_coded


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_one_gets_all_points(graded, name):
    shares, said = graded(RIGHT[name])
    assert all(share == 1 for kind, share in shares.items() if kind != "booted"), said


def test_the_solution_is_right_on_another_course(graded):
    text = (LAB.folder / "solution" / LAB.hand_in).read_text()
    shares, said = graded(text, keys.Seeds(b"another course" * 3))
    assert all(share == 1 for kind, share in shares.items() if kind != "booted"), said


@pytest.mark.turns(4)
@pytest.mark.parametrize("name", [name for name, (_, fails) in WRONG.items() if fails != {"booted"}])
def test_a_wrong_one_fails_where_it_is_wrong(graded, name):
    text, fails = WRONG[name]
    began = time.monotonic()
    shares, said = graded(text)
    assert {kind for kind, share in shares.items() if share < 1} - {"booted"} == fails - {"booted"}, said
    assert time.monotonic() - began < 180
    assert "root:" not in said, "a file of the host's came out"


def test_answers_by_heart_fail_on_what_is_held_out(graded):
    compiled = streams.recorded_stream("compile", "buffer")
    shares, said = graded(hard_coded(list(compiled.keys)))
    assert {kind for kind, share in shares.items() if share < 1} - {"booted"} == {"made"}, said


def test_each_course_has_streams_of_its_own(graded):
    """Nor are they those of any number that students can try."""
    text = (TOP / "hash/buffer/mult.h").read_text()
    courses = [COURSE, keys.practice(1)]
    said = [re.findall(r"^ +(?:groups|disks), .*$", graded(text, course)[1], re.MULTILINE) for course in courses]
    assert said[0] and said[1]
    assert said[0] != said[1]


def test_the_function_to_beat_gets_nothing_for_places_at_a_distance(graded):
    shares, said = graded((TOP / "hash/buffer/linux-2.2.h").read_text())
    assert shares["recorded"] == 1 and shares["made"] < 0.35, said
    lines = [line for line in said.splitlines() if " buckets: " in line]
    assert {line.split(",")[0].strip() for line in lines if "groups" in line or "records" in line} >= {
        "groups",
        "records",
    }


def test_between_the_two_there_are_points_between(graded):
    shares, _ = graded((TOP / "hash/buffer/mult.h").read_text())
    assert 0.3 < shares["made"] < 0.95


def test_the_score_is_the_same_each_time(graded):
    found = {str(graded((TOP / "hash/buffer/steiner.h").read_text())) for _ in range(2)}
    assert len(found) == 1


def test_nothing_reaches_the_network(graded):
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.setblocking(False)
        port = server.getsockname()[1]
        address = f"{{2, 0, {port >> 8}, {port & 255}, 127, 0, 0, 1}}"
        call = (
            f"\tstatic const u8 to[16] = {address};\n\n\tif (!call(42, call(41, 2, 1, 0), (long)to, 16))\n\t\tx = 0;\n"
        )
        _, said = graded(CALL + HEAD + MIXED + call + GOOD)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert "Steps on held-out" in said


def test_feedback_leads_to_a_stream_for_practice_and_tells_nothing_of_the_hidden_ones(graded, cw, tmp_path):
    text = (TOP / "hash/buffer/mult.h").read_text()
    _, said = graded(text)
    command = re.search(r"to see the like: \./cw grade 1 mine\.h --seed (\d+) has (.*)", said)
    assert command, said
    path = tmp_path / "again" / "mine.h"
    path.parent.mkdir()
    path.write_text(text)
    result = cw("grade", "1", path, "--seed", command[1], "--no-boot")
    assert command[2] in result.stdout.decode()
    hidden = [
        streams.made_stream(kind, COURSE.seed("1", "stream", i))
        for i, kind in enumerate(LAB.parts[5].options["streams"])
    ]
    numbers = set(re.findall(r"\d+", said.replace(",", "")))
    for stream in hidden:
        assert not {str(block) for _, block in stream.keys if block > 5000} & numbers
    assert f"{COURSE.seed('1', 'stream', 0)}" not in said


@pytest.mark.parametrize("way", TELLING)
def test_nothing_that_is_told_can_hold_what_was_asked(graded, way):
    """Of another course's questions the same is said; where they are no secret, what it has chosen may be seen."""
    hidden = [graded(TELLING[way], seeds)[1] for seeds in (COURSE, keys.Seeds(b"another course" * 3))]
    assert hidden[0] == hidden[1]
    assert len({graded(TELLING[way], keys.practice(number))[1].partition("\n")[2] for number in range(1, 5)}) > 1


def test_hidden_seeds_never_enter_the_sandbox(monkeypatch, graded):
    """Nor the grader's environment, nor its folder."""
    seen = []
    real = oracle.sandbox.run

    def watch(command, limits, shown=None, kept=None, given=b""):
        seen.append((tuple(command), tuple(map(str, shown or {})), tuple(map(str, kept or {}))))
        return real(command, limits, shown, kept, given)

    monkeypatch.setattr(oracle.sandbox, "run", watch)
    monkeypatch.setenv("COURSE_SECRET", "in the environment")
    graded(RIGHT["mixed"])
    assert len(seen) > 10
    for command, shown, kept in seen:
        text = " ".join((*command, *shown, *kept))
        assert COURSE.secret.hex() not in text and str(COURSE.seed("1", "stream", 0)) not in text
        assert all("cw-grade-" in path for path in (*shown, *kept))
