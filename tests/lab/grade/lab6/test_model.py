"""What is expected is what Linux answers; what is counted is what was executed; and nothing hidden comes out.

As root (or with sudo) the scripts run on this host's Linux as well; else what it has said before stands in linux.txt, as a digest, which
`.venv/bin/python -m tests.lab.grade.lab6.test_model` renews.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from lab.base.paths import TOP, LabError
from lab.check.fuzz.both import privileged
from lab.course import keys
from lab.course.draw import Draw
from lab.grade.booted import judge as booted
from lab.grade.paths import found, machine, parts, script, storms
from tests.lab.grade.conftest import COURSE
from tests.lab.grade.lab6.conftest import ASKED, CHECKED, IN_TURN, LAB, SMALL
from tests.lab.grade.lab6.submissions import SOLUTION, WRONG, changed

LINUX = Path(__file__).with_name("linux.txt")
SEEDS = (1, 2, 3)


def digest(answers: list[int]) -> str:
    return hashlib.sha256(" ".join(map(str, answers)).encode()).hexdigest()[:32]


def by_linux(text: str) -> list[int]:
    """The answers of this host's kernel, in a directory that is the program's root, among mounts of its own."""
    with tempfile.TemporaryDirectory(prefix="cw-paths-") as folder:
        place = Path(folder)
        (place / "script").write_text(text)
        (place / "asker").write_bytes(machine.asker())
        (place / "asker").chmod(0o755)
        (place / "root").mkdir()
        (place / "root").chmod(0o755)
        command = [*privileged(), "unshare", "-m", str(place / "asker"), str(place / "script"), str(place / "root")]
        said = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
        subprocess.run([*privileged(), "rm", "-rf", str(place / "root")], check=True)
    found = machine.Answers([line.split() for line in said.splitlines()], [], 0, "")
    assert not found.failed and found.lines[-1] == ["end"]
    return found.answers


@pytest.fixture(scope="module", autouse=True)
def in_its_folder():
    with booted.home():
        yield


def test_the_model_answers_as_linux_did():
    recorded = dict(line.split() for line in LINUX.read_text().splitlines())
    assert recorded == {
        str(seed): digest([one.expected for one in script.sequence(Draw(seed)).asked]) for seed in SEEDS
    }


def test_and_as_this_hosts_linux_does():
    try:
        privileged()
    except LabError as error:
        pytest.skip(str(error))
    for seed in (7, 8):
        asked = script.sequence(Draw(seed))
        answers = by_linux(asked.text)
        assert len(answers) == len(asked.asked)
        wrong = [(one, answer) for one, answer in zip(asked.asked, answers, strict=True) if one.expected != answer]
        assert not wrong


def test_every_part_is_asked_for_in_every_sequence():
    """And every answer that there is comes: found, forbidden, absent, no directory."""
    wanted = {about for part in LAB.parts for about in part.options.get("about", ())}
    for seed in range(20, 26):
        asked = script.sequence(Draw(seed)).asked
        assert wanted <= {one.about for one in asked}
        assert {0, 2, 13, 20} < {one.expected for one in asked}
        kinds = {one.measured for one in asked}
        assert kinds == {"", "deep", "first", "elsewhere", "short"}
        assert all(
            one.path.count("/") == script.COMPONENTS for one in asked if one.measured in ("deep", "first", "elsewhere")
        )
        expected = [one.expected for one in asked if one.measured == "deep"]
        assert min(expected) > 4095, "what is measured is found"


def tag(pauses: int, worker: int, question: int, later: int = 0) -> int:
    """As counts.c notes it."""
    return worker * found.MOST_QUESTIONS + question | pauses << 12 | pauses + later << 22


def test_in_every_storm_much_is_learnt_anew():
    for seed in range(30, 40):
        made = storms.storm(Draw(seed))
        asked = [
            (2 * pause + 1, worker, question)
            for pause in range(len(made.pauses))
            for worker in range(3)
            for question in range(10)
        ]
        seen = machine.Answers([], [7] * len(asked), 0, "", noted=[tag(*one) for one in asked])
        assert len(found.in_storm(made, seen)) > 50
        others = [
            tag(0, 0, 0),
            tag(2, 0, 0),
            tag(2 * len(made.pauses) + 1, 0, 0),
            tag(15, 0, 0, 1),
            tag(15, 3, 0),
            tag(15, 0, 10),
            tag(15, 63, 63),
        ]
        assert not found.in_storm(made, machine.Answers([], [7] * len(others), 0, "", noted=others))


def test_a_share_is_held_against_the_usual_walk_of_the_same_path():
    walked = [("a", 100), ("a", 900), ("a", 100), ("b", 200)]
    assert found.share([("a", 97), ("a", 98), ("b", 194), ("b", 195), ("c", 1)], walked, 97) == Fraction(1, 2)
    assert not found.share([], walked, 97)


def test_the_kernels_flags_are_those_of_its_makefile():
    text = (TOP / "lab/build/make/kernel.mk").read_text().replace("\\\n", " ")
    flags = re.search(r"^CFLAGS := (.*)$", text, re.MULTILINE)[1].split()
    flags = list(" ".join(flags).replace("$(if $(CI),-Werror) $(KCFLAGS)", "").split())
    kept = [word for word in flags if word not in ("-isystem", "$(shell", "$(CC)", "-print-file-name=include)")]
    assert kept == machine.FLAGS.split()
    assert re.search(r"^LDFLAGS := (.*)$", text, re.MULTILINE)[1].split() == machine.LINK.split()


@pytest.mark.turns(3)
def test_feedback_tells_where_it_may_and_nothing_hidden(graded):
    text, kinds, _ = WRONG["whoever asks"]
    _, said = graded(text, kinds)
    asked = script.sequence(Draw(COURSE.seed("6", "sequence")))
    assert "somebody came where he may not" in said and "--seed 1" in said
    names = {name for one in asked.asked for name in one.path.split("/") if len(name) > 3}
    assert not names & set(re.findall(r"[a-z0-9_]+", said))
    assert not {str(one.expected) for one in asked.asked if one.expected > 4095} & set(
        re.findall(r"\d+", said.replace(",", ""))
    )
    _, open_to_all = graded(text, kinds, keys.practice(1))
    assert re.search(r'user \d+, group \d+ .*: (stat|lstat|open to \w+)\("/.*"\): .*\.', open_to_all), open_to_all
    assert "Expected: EACCES (Permission denied)." in open_to_all and "The last changes before that: " in open_to_all


def test_a_panic_tells_nothing_hidden(graded):
    """A kernel that panics with what it is asked; who practises may read that, and what is asked of the one with the sanitizer."""
    tells = 'bool pathcache_find(struct path_question *question, struct path *place)\n{\n\tpanic("asked %s", question->text);\n'
    text = changed(SOLUTION, (tells.partition("\tpanic")[0], tells))
    _, said = graded(text, ASKED | IN_TURN | SMALL)
    assert "The kernel panicked." in said and "asked " not in said.replace("asked for", "")
    for kinds, seeds in ((ASKED, keys.practice(1)), (CHECKED, COURSE)):
        _, said = graded(text, kinds, seeds)
        assert "the kernel panicked: asked " in said


def test_where_the_kernel_that_walks_answers_wrongly_nobody_is_marked_down(monkeypatch):
    found = machine.Answers([["answer", "5"]], [1], 1, "")
    monkeypatch.setattr(machine, "ask", lambda *_, **__: found)
    monkeypatch.setattr(parts, "_starter", lambda *_: b"")
    with pytest.raises(LabError, match="without a path cache"):
        parts._walked(replace(parts.stand_in(LAB), settings=()), 99, "")


if __name__ == "__main__":
    with booted.home():
        found = {seed: by_linux(script.sequence(Draw(seed)).text) for seed in SEEDS}
    LINUX.write_text("".join(f"{seed} {digest(answers)}\n" for seed, answers in found.items()))
