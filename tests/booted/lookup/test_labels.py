"""Security labels (SECURITY_LABELS): who may what, by a model of them, with direct lookup and without, while all of it changes;
the files of /proc, and that a label is kept on the disk."""

from __future__ import annotations

import random
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lab.guest import image
from tests.booted.lookup.test_signatures import build
from tests.musl import static_program

EACCES = 13
READ, WRITE, SEARCH = 4, 2, 1
LETTERS = {"r": READ, "w": WRITE, "x": SEARCH, "-": 0}
USERS = [(0, "clerk"), *((uid, label) for uid in (1000, 2000) for label in ("_", "clerk", "guest", "^"))]
LABELS = ["_", "*", "^", "clerk", "secret", "other"]


@dataclass
class Node:
    mode: int
    uid: int
    label: str = "_"


@dataclass
class Model:
    """What label.h says, written a second time: a tree, and the commands of labels.c that make it with what "ask" is to say."""

    nodes: dict[str, Node] = field(default_factory=dict)
    rules: dict[tuple[str, str], int] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def label_allows(self, subject: str, wanted: str, mask: int) -> bool:
        if wanted in ("*", subject):
            return True
        if not mask & WRITE and (wanted == "_" or subject == "^"):
            return True
        return not mask & ~self.rules.get((subject, wanted), 0)

    def allows(self, uid: int, subject: str, node: Node, mask: int) -> bool:
        if uid == 0:
            return True
        bits = node.mode >> 6 if uid == node.uid else node.mode
        return not mask & ~bits & 7 and self.label_allows(subject, node.label, mask)

    def ways(self, path: str) -> list[Node]:
        """The directories above that have to be searched, as far as they are the model's."""
        parts = path.split("/")
        names = ("/".join(parts[:count]) for count in range(1, len(parts)))
        return [self.nodes[name] for name in names if name in self.nodes]

    def outcome(self, uid: int, subject: str, operation: str, path: str) -> int:
        masks = {
            "stat": 0,
            "read": READ,
            "write": WRITE,
            "list": READ,
            "access": SEARCH,
            "cd": SEARCH,
            "make": WRITE | SEARCH,
        }
        reached = all(self.allows(uid, subject, node, SEARCH) for node in self.ways(path))
        may = reached and self.allows(uid, subject, self.nodes[path], masks[operation])
        # root runs only what somebody may run
        if uid == 0 and operation == "access" and not self.nodes[path].mode & 0o40111:
            may = False
        return 0 if may else EACCES

    def make(self, kind: str, path: str, mode: int, uid: int) -> None:
        self.nodes[path] = Node(mode | (0o40000 if kind == "mkdir" else 0), uid)
        self.commands.append(f"{kind} {path} {mode:o} {uid}")

    def chmod(self, path: str, mode: int) -> None:
        self.nodes[path].mode = self.nodes[path].mode & 0o40000 | mode
        self.commands.append(f"chmod {path} {mode:o}")

    def label(self, path: str, label: str) -> None:
        had = self.nodes[path].label
        self.nodes[path].label = label
        self.commands.append(f"unlabel {path}" if label == "_" and had != "_" else f"label {path} {label}")

    def rule(self, subject: str, wanted: str, access: str) -> None:
        self.rules[subject, wanted] = sum(LETTERS[letter] for letter in set(access))
        self.commands.append(f"rule {subject} {wanted} {access}")

    def ask(self, operation: str, path: str) -> None:
        name = f"cd {path}" if operation == "cd" else f"ask {operation} {path}"
        self.commands.append(name)
        self.expected.append(" ".join(str(self.outcome(uid, label, operation, path)) for uid, label in USERS))


def tree(top: str) -> Model:
    """Three directories in one another and a file, twice; users may all of it by their modes."""
    model = Model()
    model.make("mkdir", top, 0o755, 0)
    for one in "ab":
        path = f"{top}/{one}"
        for name in ("", "/middle-directory", "/middle-directory/inner"):
            model.make("mkdir", f"{path}{name}", 0o777, 0)
        model.make("file", f"{path}/middle-directory/inner/file", 0o777, 0)
    return model


def ask_around(model: Model, top: str, chance: random.Random) -> None:
    for path in (f"{top}/{one}/middle-directory/inner" for one in "ab"):
        for operation in ("stat", *chance.sample(["read", "write", "access"], 1)):
            model.ask(operation, f"{path}/file")
        model.ask(chance.choice(["list", "make", "stat"]), path)


def change(model: Model, top: str, chance: random.Random) -> None:
    paths = [path for path in model.nodes if path != top]
    what = chance.randrange(10)
    if what < 5:
        model.label(chance.choice(paths), chance.choice(LABELS))
    elif what < 9:
        model.rule(
            chance.choice(["_", "clerk", "guest", "^"]),
            chance.choice(["clerk", "secret", "other", "_"]),
            chance.choice(["x", "rx", "rwx", "r", "-", "w"]),
        )
    else:
        model.chmod(chance.choice(paths), chance.choice([0o777, 0o755, 0o711, 0o700]))
    if chance.randrange(12) == 0:
        model.commands.append("drop")


def story(top: str, changes: int, seed: int) -> Model:
    chance = random.Random(seed)
    model = tree(top)
    ask_around(model, top, chance)
    for _ in range(changes):
        change(model, top, chance)
        ask_around(model, top, chance)
    return model


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    return static_program(tmp_path_factory.mktemp("labels") / "labels", Path(__file__).with_name("labels.c"))


def files(folder: Path, program: Path, model: Model) -> list[str]:
    (folder / "commands").write_text("\n".join(model.commands) + "\n")
    (folder / "users").write_text("".join(f"{uid} {label}\n" for uid, label in USERS))
    return [f"{program}:/labels", f"{folder}/commands:/commands", f"{folder}/users:/users"]


def lines(output: bytes) -> list[str]:
    return output.decode(errors="replace").replace("\r", "").splitlines()


@pytest.mark.parametrize(("root", "smp"), [("ext2", 1), ("tmpfs", 4)])
def test_who_may_what(cw_run, program, tmp_path, root, smp):
    """With direct lookup, which the debug kernel has: all users at once, twelve times each."""
    model = story("/tmp/t", 60, 5)
    said = lines(
        cw_run(["/labels", "/commands", "/users"], add=files(tmp_path, program, model), root=root, smp=smp).output
    )
    assert said == model.expected
    assert sum(line.count("13") for line in said) > 300 and sum(line.count("0") for line in said) > 300


@pytest.mark.builds
@pytest.mark.parametrize("lock", ["rcu", "bucket"])
def test_who_may_what_by_the_walk(cw, program, tmp_path, monkeypatch, lock):
    """Without direct lookup: the same, by walks without locks and by those with."""
    build(tmp_path, monkeypatch, "SECURITY_LABELS=y", "DEBUG=y", f"DENTRY_LOCK={lock}")
    model = story("/tmp/t", 60, 5)
    added = [part for name in files(tmp_path, program, model) for part in ("--add", name)]
    for machine in (["--root", "tmpfs", "--smp", "1"], ["--root", "ext2", "--smp", "4"]):
        job = ["--mem", "256M", "--", "/labels", "/commands", "/users"]
        done = cw("run", "--quiet", *added, *machine, *job, timeout=900)
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        assert lines(done.stdout) == model.expected


def test_where_one_stands_one_stands(cw_run, program, tmp_path):
    """A working directory that one could not go to any more: from there all is found, and by its whole path nothing."""
    model = tree("/tmp/t")
    way, below = "/tmp/t/a/middle-directory", "inner/file"
    model.ask("cd", way)
    for path in (f"{way}/{below}", below):
        model.commands.append(f"ask stat {path}")
        model.expected.append(" ".join("0" for _ in USERS))
    model.label("/tmp/t/a", "secret")
    model.ask("stat", f"{way}/{below}")
    model.commands.append(f"ask read {below}")
    model.expected.append(" ".join("0" for _ in USERS))
    model.label(way, "secret")  # where they stand: it has to be searched, as it is by its mode
    model.commands.append(f"ask read {below}")
    model.expected.append(" ".join(str(model.outcome(uid, label, "read", f"{way}/{below}")) for uid, label in USERS))
    said = lines(cw_run(["/labels", "/commands", "/users"], add=files(tmp_path, program, model)).output)
    assert said == model.expected and "13" in said[-1] and "13" in said[-3] and "13" not in said[-2]


FILES = """
echo "u:x:1000:1000:u:/:/bin/sh" >> /etc/passwd
cat /proc/self/attr/current; echo; cat /proc/1/attr/current; echo
try() { ( echo "$2" > $1 ) 2>&1 | sed 's/.*: //'; }
try /proc/self/attr/current "a b"; try /proc/self/attr/current "*"; try /proc/self/attr/current ""; try /proc/1/attr/current a
try /proc/labels "a b"; try /proc/labels "a b q"; try /proc/labels "a/ b r"
printf 'clerk secret x\\nclerk other r-\\n' > /proc/labels; cat /proc/labels
( echo clerk > /proc/self/attr/current; sh -c 'cat /proc/self/attr/current'; echo; cat /proc/$$/attr/current; echo; exec sh -c '
    cat /proc/self/attr/current; echo; su -s /bin/sh u -c "cat /proc/self/attr/current; echo"' )
as_user() { su -s /bin/sh u -c "$1" 2>&1 | sed 's/.*: //'; }
as_user 'echo a > /proc/self/attr/current'; as_user 'cat /proc/self/attr/current'; echo
as_user 'echo "a b r" > /proc/labels'; echo clerk other - > /proc/labels; cat /proc/labels
"""
INVALID = "Invalid argument"
SAID = [
    "_", "_", *[INVALID] * 3, "Permission denied", *[INVALID] * 3, "clerk other r", "clerk secret x",
    "clerk", "_", "clerk", "clerk", "Operation not permitted", "_", "Permission denied", "clerk other -", "clerk secret x",
]  # fmt: skip


def test_files_of_proc(cw_run):
    assert lines(cw_run(script=FILES).output) == SAID


def empty_disk(disk: Path, inode_size: int) -> Path:
    """Of eight megabytes."""
    with disk.open("wb") as file:
        file.truncate(8 << 20)
    subprocess.run(
        ["mke2fs", "-q", "-F", "-t", "ext2", "-b", "1024", "-I", str(inode_size), "-O", "none,filetype,ext_attr", disk],
        check=True, env={"PATH": "/usr/sbin:/sbin:/usr/bin:/bin"},
    )  # fmt: skip
    return disk


def test_kept_on_the_disk(cw_run, program, tmp_path):
    """Labels and what they forbid are there again when the file system is mounted anew, and in another machine."""
    disk = empty_disk(tmp_path / "second", inode_size=256)
    model = tree("/mnt/t")
    for path, label in (("/mnt/t/a", "secret"), ("/mnt/t/b/middle-directory", "clerk"), ("/mnt/t/b", "*")):
        model.label(path, label)
    model.rule("guest", "secret", "x")
    chance = random.Random(1)
    ask_around(model, "/mnt/t", chance)
    first = files(tmp_path, program, model)
    again = Model(model.nodes, model.rules)
    again.rule("guest", "secret", "x")
    for seed in range(4):
        ask_around(again, "/mnt/t", random.Random(seed))
    (tmp_path / "again").mkdir()
    second = files(tmp_path / "again", program, again)[1].replace(":/commands", ":/again")
    run = "mount -t ext2 /dev/vda /mnt; /labels {} /users; umount /mnt"
    script = f"{run.format('/commands')}; {run.format('/again')}"
    said = lines(cw_run(script=script, add=[*first, second], disk=disk, root="tmpfs").output)
    assert said == [*model.expected, *again.expected]
    said = lines(cw_run(script=run.format("/again"), add=[*first, second], disk=disk, root="tmpfs").output)
    assert said == again.expected
    clean, report = image.check(disk)
    assert clean, report


FULL = """mount -t ext2 /dev/vda /mnt
echo clerk > /proc/self/attr/current
dd if=/dev/zero of=/mnt/all bs=1024 2> /dev/null
for i in 1 2 3; do ( : > /mnt/$i ) 2>&1 | sed 's/.*: //'; done
rm /mnt/all
mount -o remount,ro /mnt && echo unused
"""


def test_a_disk_without_room_for_a_label(cw_run, tmp_path):
    """Nothing is made, and nothing is left that is in use for ever: the disk can be made read-only."""
    disk = empty_disk(tmp_path / "second", inode_size=128)
    said = lines(cw_run(script=FULL, disk=disk, root="tmpfs").output)
    assert said == ["No space left on device"] * 3 + ["unused"]
    clean, report = image.check(disk)
    assert clean, report
