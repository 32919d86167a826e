"""make mutants: what it plants, where, and what it makes of the tests' answer. The kept patches must go on applying."""

from __future__ import annotations

import json
import random
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from _pytest.mark.expression import Expression

from lab.base.paths import TOP
from lab.check.mutants import __main__ as command
from lab.check.mutants import fresh, judge, kept, rooms
from lab.check.mutants.copy import Copy, tree_files
from tests.lab.test_offspring import has_ended

KEPT = kept.kept_mutants()

# ---- the kept ones


@pytest.mark.parametrize("mutant", KEPT, ids=lambda mutant: mutant.name)
def test_a_kept_patch_applies(mutant):
    """If this fails the code has moved on: the patch must be made anew, or the bug that it plants is none any more."""
    assert kept.git_apply(TOP, mutant.patch, "--check") == ""


@pytest.mark.parametrize("mutant", KEPT, ids=lambda mutant: mutant.name)
def test_a_kept_patch_says_who_catches_it(mutant):
    assert mutant.room in {*rooms.ROOM_BY_FOLDER.values()}
    assert mutant.caught_by, "a line 'caught by: ...'"
    for words in mutant.caught_by:
        if not words.startswith("$"):
            files = [word.split("::")[0] for word in shlex.split(words) if word.startswith("tests/")]
            assert files and all((TOP / file).exists() for file in files), words


@pytest.fixture(scope="module")
def all_tests() -> list[str]:
    """Of all tests there are, as pytest names them."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "tests"]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if "::" in line]


def selected(ids: list[str], words: str) -> list[str]:
    """Those of @ids that pytest would run if it were given @words: places, and an expression behind -k."""
    *places, expression = shlex.split(words) if " -k " in words else [*shlex.split(words), ""]
    places = [place.rstrip("/") for place in places if place != "-k"]
    names = Expression.compile(expression) if expression else None

    def matches(test: str) -> bool:
        parts = test.lower().replace("::", "/").split("/")
        return names is None or names.evaluate(lambda name: any(name.lower() in part for part in parts))

    return [test for test in ids if test.startswith(tuple(places)) and matches(test)]


def test_what_pytest_would_select():
    ids = ["tests/a/test_b.py::test_c[ext2]", "tests/a/test_b.py::test_d", "tests/x/test_b.py::test_c[tmpfs]"]
    assert selected(ids, "tests/a") == ids[:2]
    assert selected(ids, "tests -k 'c and not tmpfs'") == ids[:1]
    assert selected(ids, "tests/a/test_b.py::test_c[ext2]") == ids[:1] and selected(ids, "tests/a -k gone") == []


@pytest.mark.parametrize("mutant", KEPT, ids=lambda mutant: mutant.name)
def test_a_kept_patch_is_caught_by_tests_that_exist(mutant, all_tests):
    for words in mutant.caught_by:
        assert words.startswith("$") or selected(all_tests, words), f"no test: {words}"


def test_a_patch_is_read(tmp_path):
    patch = "--- a/mm/vma.c\n+++ b/mm/vma.c\n@@ -1 +1 @@\n-a\n+b\n"
    (tmp_path / "some.patch").write_text(
        f"Areas overlap.\n\nroom: mm\ncaught by: tests/mm\ncaught by: $ false\n\n{patch}"
    )
    (tmp_path / "bare.patch").write_text(patch)
    bare, some = kept.kept_mutants(tmp_path)
    assert (some.room, some.what, some.caught_by) == ("mm", "Areas overlap.", ("tests/mm", "$ false"))
    assert some.files == bare.files == ["mm/vma.c"]
    assert (bare.room, bare.caught_by) == ("mm", ()) and bare.digest != some.digest


def test_rooms():
    assert [rooms.room_of(name) for name in ("fs/pipe.c", "fs/ext2/map.c", "hash/any/x.h", "docs/x.md")] == [
        "fs", "ext2", "hash", "other",
    ]  # fmt: skip
    for room in rooms.STAGES:
        stages = rooms.stages_of(room, TOP)
        assert stages and all((TOP / word).exists() for s in stages for word in s.split(" -k ")[0].split())
    assert not rooms.needs_kernels("tests/hosted -k 'not other_tables'") and rooms.needs_kernels("tests/booted")
    assert rooms.needs_kernels("'tests/booted/terminal/test_shell.py::test_window_size[a b]'"), "as confirm() quotes it"


# ---- the rules

C = """
/* if (a < b) return -EINVAL; */
#define LEAST(a, b) ((a) < (b) ? (a) : (b))
int f(struct x *a, int b)
{
	ASSERT(a->size <= 4);
	if (!a || b >= LIMIT)
		return -EINVAL;
	spin_lock(&a->lock);
	a->size = min(a->size, b) + 1;
	open(a, FLAG | OTHER);
	printk("a < b");
	spin_unlock(&a->lock);
	return error;
}
"""


def changes(rule: str, text: str = C, python: bool = False) -> list[str]:
    """The lines that @rule makes of @text, in all places."""
    found = []
    for at in fresh.sites(text, python).get(rule, []):
        new = fresh.change(text, rule, at, random.Random(1), python)
        pairs = zip(text.splitlines(), new.splitlines(), strict=True)
        found += [after.strip() for before, after in pairs if before != after]
    return found


def test_rules_of_c():
    assert changes("boundary") == ["if (!a || b > LIMIT)"]
    assert changes("and or") == ["if (!a && b >= LIMIT)"]
    assert changes("dropped not") == ["if (a || b >= LIMIT)"]
    assert changes("inverted condition") == ["if (!(!a || b >= LIMIT))"]
    assert changes("min max") == ["a->size = max(a->size, b) + 1;"]
    assert changes("dropped flag") == ["open(a, FLAG);"]
    assert changes("wrong result") == ["return 0;"]
    assert "a->size = min(a->size, b);" in changes("off by one")
    assert re.fullmatch(r"return -E(?!INVAL)[A-Z]+;", *changes("wrong errno"))
    assert len(changes("dropped statement")) == 4, "two locks, a call, an assignment; neither assertion nor log"
    assert changes("swapped arguments", "x = f(a, b);\ny = g(1, c);\nz;\n") == ["x = f(b, a);", "y = g(c, 1);"]


def test_rules_of_python():
    text = (
        '"""a < b"""\ndef f(a, b):\n    # a < b\n    if a < b and not b:\n        return True\n    return min(a, b)\n'
    )
    assert changes("boundary", text, True) == ["if a <= b and not b:"]
    assert changes("and or", text, True) == ["if a < b or not b:"]
    assert changes("dropped not", text, True) == ["if a < b and b:"]
    assert changes("truth", text, True) == ["return False"]
    assert changes("min max", text, True) == ["return max(a, b)"]


def test_a_seed_says_which():
    names = tree_files(TOP)

    def draw(seed: int, wanted: list[str] | None = None) -> list[kept.Mutant]:
        mutants = fresh.fresh_mutants(TOP, names, seed, wanted)
        return [next(mutants) for _ in set(rooms.ROOM_BY_FOLDER.values())]  # a room after the other

    first = draw(5)
    assert first == draw(5)
    assert {mutant.room for mutant in first} >= {"fs", "ext2", "mm", "proc", "sys", "drivers", "hash", "lab"}
    for mutant in draw(6, ["ext2", "mm"]):
        assert mutant.room in ("ext2", "mm") and mutant.room == rooms.room_of(mutant.files[0])
        assert kept.git_apply(TOP, mutant.patch, "--check") == ""


# ---- the copy


@pytest.fixture
def tree(tmp_path) -> Path:
    """A small checkout."""
    top = tmp_path / "top"
    (top / "fs").mkdir(parents=True)
    (top / "fs/pipe.c").write_text("one\ntwo\nthree\n")
    (top / ".gitignore").write_text("/build/\n")
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *words], cwd=top, check=True, capture_output=True)
    (top / "fs/new.c").write_text("not added yet\n")
    (top / ".venv").mkdir()
    return top


PLANT = kept.Mutant(
    "plant", "fs", "", "--- a/fs/pipe.c\n+++ b/fs/pipe.c\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n", kept=True
)


def test_a_bug_is_planted_in_the_copy_alone(tree):
    copy = Copy(tree / "build/mutants/tree", tree)
    copy.bring_up_to_date()
    before = copy.digest
    assert (copy.path / "fs/new.c").exists()
    with copy.planted(PLANT) as problem:
        assert problem == ""
        assert (copy.path / "fs/pipe.c").read_text() == "one\nTWO\nthree\n"
        assert (tree / "fs/pipe.c").read_text() == "one\ntwo\nthree\n"
    assert (copy.path / "fs/pipe.c").read_text() == "one\ntwo\nthree\n"
    (copy.path / "fs/pipe.c").write_text("left by a run that was killed\n")
    (copy.path / "fs/left.c").write_text("this, too\n")
    (tree / "fs/new.c").write_text("changed\n")
    copy.bring_up_to_date()
    assert (copy.path / "fs/pipe.c").read_text() == "one\ntwo\nthree\n"
    assert not (copy.path / "fs/left.c").exists()
    assert (copy.path / "fs/new.c").read_text() == "changed\n" and copy.digest != before
    (tree / "fs/pipe.c").write_text("moved on\n")
    copy.bring_up_to_date()
    with copy.planted(PLANT) as problem:
        assert "does not apply" in problem


def test_what_hangs_is_ended_with_all_it_started(tree, tmp_path):
    """In a session of its own, too, as pexpect starts it."""
    copy = Copy(tree)
    note = tmp_path / "pid"
    status, _ = judge.run(["/bin/sh", "-c", f"setsid sh -c 'echo $$ > {note}; sleep 1000' & sleep 1000"], copy, 1, {})
    assert status is None
    assert has_ended(note)


def test_a_build_that_is_ended_leaves_no_half_object(tree, tmp_path):
    """Or the next build would take it for whole."""
    (tmp_path / "Makefile").write_text("half.o:\n\t@echo half > $@; sleep 1000\n")
    status, _ = judge.run(["make", "-C", str(tmp_path), "half.o"], Copy(tree), 1, {})
    assert status is None and not (tmp_path / "half.o").exists()


# ---- the verdict


class Answers(judge.Judge):
    """A judge whose tests answer what is given."""

    def __init__(self, copy: Copy, *answers: tuple[int | None, str]) -> None:
        super().__init__(copy, 60, 1)
        self.answers = list(answers)

    def tests(self, arguments: str, left: float) -> tuple[int | None, str]:
        return self.answers.pop(0)


@pytest.mark.parametrize(
    ("answers", "outcome", "by"),
    [
        ([(0, ""), (1, "FAILED tests/a.py::b - no\n")], judge.KILLED, "tests/a.py::b"),
        ([(1, "FAILED tests/a.py::b[link a b; sync] - no\n")], judge.KILLED, "tests/a.py::b[link a b; sync]"),
        ([(0, ""), (0, "")], judge.SURVIVED, "tests/a.py; tests/c.py"),
        ([(None, "")], judge.HANG, "tests/a.py: not done in 60 seconds"),
        ([(4, "no such test")], judge.STALE, "tests/a.py: no such test"),
        ([(judge.NOT_BUILT, "pipe.c:2: error")], judge.UNBUILT, "pipe.c:2: error"),
    ],
    ids=lambda value: value if value in ("killed", "survived", "hang", "stale", "not built") else "",
)
def test_what_the_tests_say_is_the_verdict(tree, answers, outcome, by):
    copy = Copy(tree / "build/mutants/tree", tree)
    copy.bring_up_to_date()
    mutant = kept.Mutant("plant", "fs", "", PLANT.patch, ("tests/a.py", "tests/c.py"), True)
    verdict = Answers(copy, *answers).judge(mutant)
    assert (verdict.outcome, verdict.by) == (outcome, by)
    assert command.failed([verdict]) == (outcome not in (judge.KILLED, judge.HANG))


def verdict(name: str, room: str, outcome: str, **more) -> judge.Verdict:
    values = {"what": "", "kept": False, "by": "tests/a.py::b", "seconds": 1, "digest": "d", "tree": "t"} | more
    return judge.Verdict(name=name, room=room, outcome=outcome, **values)


@pytest.mark.parametrize(("status", "outcome"), [(0, judge.SURVIVED), (1, judge.KILLED), (2, judge.STALE)])
def test_a_command_notices_by_ending_with_1(tree, status, outcome):
    """Not if it could not be built, or is not there."""
    copy = Copy(tree / "build/mutants/tree", tree)
    copy.bring_up_to_date()
    mutant = kept.Mutant("plant", "fs", "", PLANT.patch, (f"$ exit {status}",), True)
    assert judge.Judge(copy, 60, 1).judge(mutant).outcome == outcome


def test_score_by_room():
    found = [
        verdict("one", "fs", judge.KILLED),
        verdict("two", "fs", judge.SURVIVED, what="fs/pipe.c:3: boundary"),
        verdict("three", "mm", judge.HANG),
        verdict("four", "mm", judge.SAME),
        verdict("five", "mm", judge.UNBUILT),
    ]
    lines = command.score(found).splitlines()
    assert [line.split()[:3] for line in lines[1:4]] == [["fs", "1", "2"], ["mm", "1", "1"], ["all", "2", "3"]]
    assert lines[2].endswith("1, 1") and lines[4] == "survived: two (fs/pipe.c:3: boundary)" and len(lines) == 5
    assert not command.failed(found), "fresh ones are counted, nothing else"


def test_results_are_of_one_tree(tmp_path):
    path = tmp_path / "results.jsonl"
    lines = [
        json.dumps(verdict(name, "fs", judge.KILLED, tree=tree).record()) for name, tree in (("a", "t"), ("b", "old"))
    ]
    path.write_text("\n".join([*lines, lines[0][:20]]))
    assert [*command.read_results(path, "t")] == ["ad"]


def test_a_test_that_fails_without_the_bug_has_noticed_nothing(tree, capsys):
    found = [verdict("one", "fs", judge.KILLED), verdict("two", "fs", judge.KILLED, by="tests/c.py::d")]
    command.confirm(Answers(Copy(tree), (1, "FAILED"), (0, "")), found)
    assert [one.outcome for one in found] == [judge.STALE, judge.KILLED]
    assert "fails without it, too" in capsys.readouterr().out
    found = [verdict("three", "fs", judge.KILLED, by="$ exit 1")]
    command.confirm(judge.Judge(Copy(tree), 60, 1), found)
    assert found[0].outcome == judge.STALE


def test_the_list_plants_nothing():
    done = subprocess.run(
        [TOP / ".venv/bin/python3", "-m", "lab.check.mutants", "--list", "--count", "3", "--seed", "2"],
        cwd=TOP, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert len(done.stdout.splitlines()) == len(KEPT) + 3
