"""What a kernel is asked, and what it has to answer: scripts drawn from a seed (guest/asker.c), with the model's answers beside.

Everything comes several times over: a path is asked for, so that a cache may learn it; something changes; it is asked for again, by
those who may and those who may not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from lab.course.draw import Draw
from lab.grade.paths.model import LEAST_SIZE, Tree, User
from lab.grade.paths.themselves import change_themselves

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_"

# uid, gid, another group.
USERS = ((0, 0, 0), (1000, 1000, 0), (1002, 1002, 2000), (1003, 1003, 0), (1004, 2000, 0))
OWNERS = ((0, 0), (1000, 1000), (1000, 2000), (0, 2000), (1003, 1003))


@dataclass(frozen=True)
class Asked:
    """One question, in the order of the script."""

    about: str  # what it is to show
    worker: int
    kind: str
    path: str
    expected: int
    measured: str = ""  # for which sum its instructions count


@dataclass
class Script:
    """Lines, and what has to come of them."""

    draw: Draw
    lines: list[str] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    tree: Tree = field(default_factory=Tree)
    workers: list[User] = field(default_factory=list)
    questions: list[tuple[str, str]] = field(default_factory=list)
    top: str = ""
    _names: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.top = f"/{self.name()}"
        self.change("mkdir", self.top, "755")

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)

    def name(self, least: int = 2, most: int = 14) -> str:
        """One that no other is."""
        while True:
            made = "".join(self.draw.pick(LETTERS) for _ in range(self.draw.between(least, most)))
            if made not in self._names:
                self._names.add(made)
                return made

    def change(self, *words: str) -> None:
        self.tree.change(words)
        self.lines.append(f"change {' '.join(words)}")

    def user(self, which: int, place: str) -> int:
        """A worker who is USERS[which], in @place: its number."""
        uid, gid, group = USERS[which]
        self.workers.append(User(uid, gid, group, self.tree.walk(self.tree.changer, place)))
        self.lines.append(f"user {uid} {gid} {group} {place}")
        return len(self.workers) - 1

    def ask(self, about: str, worker: int, path: str, kind: str = "s", measured: str = "") -> None:
        answer = self.tree.ask(self.workers[worker], kind, path)
        self.asked.append(Asked(about, worker, kind, path, answer, measured))
        self.lines.append(f"ask {worker} {kind} {path}")

    def everybody(self, about: str, paths: list[str], kinds: str = "s") -> None:
        """All workers ask for all @paths, in a drawn order, twice."""
        for _ in range(2):
            each = [(worker, path) for worker in range(len(self.workers)) for path in paths]
            for worker, path in self.draw.shuffled(each):
                self.ask(about, worker, path, self.draw.pick(kinds))

    # ---- what there is ----

    def folder(self, above: str, mode: str = "755", owner: tuple[int, int] = (0, 0), name: str = "") -> str:
        path = f"{above}/{name or self.name()}"
        self.change("mkdir", path, mode)
        if owner != (0, 0):
            self.change("chown", path, *map(str, owner))
        return path

    def file(self, above: str, mode: str = "644", name: str = "") -> str:
        path = f"{above}/{name or self.name()}"
        self.change("file", path, mode, str(self.draw.between(LEAST_SIZE, 1 << 30)))
        return path

    def chain(self, above: str, depth: int, least: int = 2, most: int = 14) -> list[str]:
        """Directories below each other, then a file; their names of so many letters."""
        paths = []
        for _ in range(depth):
            above = self.folder(above, name=self.name(least, most))
            paths.append(above)
        return [*paths, self.file(above, name=self.name(least, most))]

    def long_chain(self) -> list[str]:
        """As long as what is measured: eight components, that of the top included, with names as long as there."""
        return self.chain(self.top, COMPONENTS - 2, 5, 9)


def below(path: str, above: str) -> str:
    """@path as it is from @above."""
    return path.removeprefix(f"{above}/")


# ---- episodes: each begins with what was asked for, and ends so that another can follow ------------

MODES = ("755", "700", "711", "750", "710", "705", "701", "070", "010", "007", "001", "111", "644", "000")


def rights(script: Script) -> None:
    """Users × modes × owners: who may reach what."""
    draw, paths = script.draw, []
    for mode in (*draw.shuffled(MODES)[:10], draw.pick(("710", "750")), draw.pick(("701", "711"))):
        above = script.folder(script.folder(script.top))
        closed = script.folder(above, mode, draw.pick(OWNERS))
        paths.append(script.file(script.folder(closed), draw.pick(("644", "600", "060", "004", "640"))))
    script.everybody("who may search which directory", paths, "ssslrw")


def _changed(script: Script, about: str, change: list[str], back: list[str], paths: list[str]) -> None:
    script.everybody(about, paths)
    script.change(*change)
    script.everybody(about, paths)
    if back:
        script.change(*back)
        script.everybody(about, paths)


def mode_above(script: Script) -> None:
    paths = script.chain(script.top, 6)
    where = script.draw.pick(paths[:5])
    mode = script.draw.pick(("700", "000", "710", "644"))
    _changed(script, "after a chmod of a directory above", ["chmod", where, mode], ["chmod", where, "755"], paths[-2:])


def owner_above(script: Script) -> None:
    paths = script.chain(script.top, 5)
    where = script.draw.pick(paths[:4])
    script.change("chmod", where, "710")
    owner, other = script.draw.shuffled(OWNERS[1:])[:2]
    about = "after a chown of a directory above"
    _changed(script, about, ["chown", where, *map(str, owner)], ["chown", where, *map(str, other)], paths[-2:])


def moved_above(script: Script) -> None:
    """A directory goes elsewhere, another comes to its place, with a file of the same name."""
    about = "after a rename of a directory above"
    paths = script.chain(script.top, 6)
    which = script.draw.between(1, 4)
    where, to = paths[which], f"{script.top}/{script.name()}"
    there = f"{to}/{below(paths[-1], where)}"
    script.everybody(about, [paths[-1], there])
    script.change("rename", where, to)
    script.everybody(about, [paths[-1], there])
    above = script.folder(where.rpartition("/")[0], "755", name=where.rpartition("/")[2])
    for path in paths[which + 1 : -1]:
        above = script.folder(above, name=path.rpartition("/")[2])
    script.file(above, name=paths[-1].rpartition("/")[2])
    script.everybody(about, [paths[-1], there])
    script.change("exchange", where, to)
    script.everybody(about, [paths[-1], there])


def another_file(script: Script) -> None:
    """A name is removed, and is another file's; then one is renamed over it."""
    about = "after a name was removed and made again"
    path = script.chain(script.top, 3)[-1]
    above, _, name = path.rpartition("/")
    script.everybody(about, [path], "sr")
    script.change("unlink", path)
    script.everybody(about, [path])
    script.file(above, name=name)
    script.everybody(about, [path], "sr")
    other = script.file(above)
    script.everybody("after a file was renamed over another", [path, other])
    script.change("rename", other, path)
    script.everybody("after a file was renamed over another", [path, other])
    script.change("chmod", path, "600")
    script.everybody("after a chmod of a file", [path], "srw")


def another_folder(script: Script) -> None:
    about = "after a directory was removed and made again"
    *folders, path = script.chain(script.top, 4)
    script.everybody(about, [path, folders[-1]])
    script.change("unlink", path)
    script.change("rmdir", folders[-1])
    script.everybody(about, [path, folders[-1]])
    above, _, name = folders[-1].rpartition("/")
    script.folder(above, script.draw.pick(("700", "755")), name=name)
    script.file(folders[-1], name=path.rpartition("/")[2])
    script.everybody(about, [path, folders[-1]])


def links(script: Script) -> None:
    """By a link, which then leads elsewhere; and back."""
    about = "through a symbolic link, which leads elsewhere then"
    one, other = script.chain(script.top, 3), script.chain(script.top, 3)
    name = one[-1].rpartition("/")[2]
    script.file(other[-2], name=name)
    link = f"{script.top}/{script.name()}"
    relative = script.draw.below(2)
    targets = [one[-2], other[-2]]
    if relative:
        targets = [below(target, script.top) for target in targets]
    texts = [f"{link}/{name}", f"{link}/../{below(one[-2], script.top).rpartition('/')[2]}/{name}"]
    script.change("link", link, targets[0])
    script.everybody(about, [*texts, link], "sl")
    script.change("unlink", link)
    script.change("link", link, targets[1])
    script.everybody(about, [*texts, link], "sl")
    script.change("chmod", one[-2], "700")
    script.change("chmod", other[-2], "700")
    script.everybody(about, texts)


def texts(script: Script) -> None:
    """Dots and slashes: what a path goes through counts, though it does not stay there."""
    about = 'by texts with "..", "." and slashes'
    closed = script.folder(script.top)
    path = script.chain(script.top, 3)[-1]
    rest = below(path, script.top)
    name = closed.rpartition("/")[2]
    file = script.file(script.top)
    tried = [f"{closed}/../{rest}", f"{script.top}/./{rest}", f"{script.top}//{rest}", f"{path}/", f"{path}/..",
             f"{file}/../{rest}", f"{path.rpartition('/')[0]}/../../../{name}/../{rest}", f"{closed}/", f"{closed}/."]  # fmt: skip
    script.everybody(about, [*tried, path])
    script.change("chmod", closed, "700")
    script.everybody(about, [*tried, path])


def mounts(script: Script) -> None:
    about = "after a mount, and an umount"
    *folders, path = script.chain(script.top, 4)
    over = script.draw.pick(folders[1:])
    inside = below(path, over)
    script.everybody(about, [path])
    script.change("mount", over)
    script.everybody(about, [path, over])
    above, made = over, []
    for name in inside.split("/")[:-1]:
        above = script.folder(above, name=name)
        made.append(above)
    again = script.file(above, name=path.rpartition("/")[2])
    script.everybody(about, [path, over])
    to = f"{script.top}/{script.name()}"
    script.change("rename", folders[0], to)
    moved = f"{to}/{below(path, folders[0])}"
    script.everybody("after a directory with a mount below was moved", [path, moved])
    script.change("rename", to, folders[0])
    script.everybody("after a directory with a mount below was moved", [path, moved])
    assert again == path
    script.change("umount", over)
    script.everybody(about, [path, over])


def starts(script: Script) -> None:
    """One text, from several working directories."""
    about = "by the same text from another working directory"
    one, other = script.folder(script.top), script.folder(script.top)
    inner = script.folder(one)
    text = f"{inner.rpartition('/')[2]}/{script.name()}"
    name = text.rpartition("/")[2]
    script.file(inner, name=name)
    script.file(script.folder(other, name=inner.rpartition("/")[2]), name=name)
    for place in (one, other, one):
        for worker in range(len(script.workers)):
            script.ask(about, worker, place, "c")
        script.everybody(about, [text])
    script.ask(about, 1, other, "c")
    script.everybody(about, [text, f"../{below(one, script.top)}/{text}"])
    to = f"{script.top}/{script.name()}"
    script.change("rename", one, to)
    script.change("chmod", script.top, "700")
    script.everybody("from a working directory that was moved, below one that was closed", [text])
    script.change("chmod", script.top, "755")
    script.everybody(about, [text])
    for worker in range(len(script.workers)):
        script.ask(about, worker, script.top, "c")


EPISODES = (mode_above, owner_above, moved_above, another_file, another_folder, links, texts, mounts, starts)

# ---- what is measured ------------------------------------------------------------------------------

COMPONENTS, PATHS = 8, 80


def deep_paths(script: Script) -> list[str]:
    """Eight components each, that of the top included."""
    above, found = script.top, []
    for _ in range(COMPONENTS - 3):
        above = script.folder(above, name=script.name(5, 9))
    for _ in range(PATHS // 10):
        within = script.folder(above, name=script.name(5, 9))
        found += [script.file(within, name=script.name(5, 9)) for _ in range(10)]
    return found


def measured(script: Script) -> Iterator[None]:
    """Asked for again and again: a piece at a time, with what is not measured in between."""
    paths, draw = deep_paths(script), script.draw
    who = draw.shuffled(range(1, len(script.workers)))[:2]
    for number in range(3):
        for measure in ("" if number else "first", "deep"):
            for worker in who:
                for path in draw.shuffled(paths):
                    script.ask("eight components", worker, path, "s", measure)
        yield
    other, folder = script.folder(script.top), script.folder(script.top)
    inside = script.folder(folder)
    for number in range(4):
        for worker in who:
            for path in draw.shuffled(paths)[:20]:
                script.ask("eight components", worker, path)
        file = script.file(other)
        script.ask("eight components", who[0], file)
        script.change("chmod", inside, ("700", "755")[number % 2])
        script.change("unlink", file)
        script.change("rename", folder, to := f"{script.top}/{script.name()}")
        folder, inside = to, f"{to}/{inside.rpartition('/')[2]}"
        for worker in who:
            for path in draw.shuffled(paths)[:40]:
                script.ask("eight components, after changes elsewhere", worker, path, "s", "elsewhere")
    yield
    change_themselves(script, paths)
    yield
    for worker in who:
        script.ask("one component", worker, script.top, "c")
    names = [below(script.file(script.top), script.top) for _ in range(20)]
    for number in range(6):
        for worker in who:
            for name in names:
                script.ask("one component", worker, name, "s", "short" if number > 1 else "")


def sequence(draw: Draw) -> Script:
    """Episodes and what is measured, mixed: nobody can tell by what came before which is which."""
    script = Script(draw)
    for which in range(len(USERS)):
        script.user(which, script.top)
    pieces = measured(script)
    for episode in script.draw.shuffled((rights, *EPISODES)):
        episode(script)
        next(pieces, None)
    for _ in pieces:
        pass
    return script


# ---- memory ----------------------------------------------------------------------------------------


LEARNING, COUNTED = 3, 2  # times that all is asked for so that a cache may know it, and then is counted


@dataclass
class Many:
    """What is asked for where memory is short."""

    script: Script
    expected: list[int]  # all answers
    before: int  # of these are questions that come before the many users
    between: int  # questions of the many


def _again(script: Script, paths: list[str], measured: str) -> None:
    for number in range(LEARNING + COUNTED):
        for worker in range(len(script.workers)):
            for path in script.draw.shuffled(paths):
                script.ask("in little memory", worker, path, "s", measured if number >= LEARNING else "")


def many(draw: Draw, users: int, room: int) -> Many:
    """Forty paths, asked for by each of @users; a program that needs @room MB; then what is asked as before.

    Some users ask for these paths again and again, in the beginning; and in the end, when all that anybody may have kept of them is
    gone by its name, so that there is room even in a table that throws nothing out."""
    script = Script(draw)
    for which in (1, 3):
        script.user(which, script.top)
    chains = [script.long_chain() for _ in range(40)]
    paths = [chain[-1] for chain in chains]
    _again(script, paths, "before")
    before = len(script.asked)
    script.questions = [("s", path) for path in paths]
    script.lines += [f"question {kind} {path}" for kind, path in script.questions]
    script.lines.append(f"many {users} 0 {len(paths) - 1}")
    total = 0
    for _ in range(users):
        for _, path in script.questions:
            total = (total * 31 + script.tree.ask(script.workers[1], "s", path)) & ((1 << 64) - 1)
    script.lines.append(f"room {room}")
    for chain in chains[:10]:
        _changed(script, "after many other paths", ["chmod", chain[2], "700"], ["chmod", chain[2], "755"], [chain[-1]])
    for path in paths:
        above, _, name = path.rpartition("/")
        script.change("unlink", path)
        script.file(above, name=name)
    _again(script, paths, "after")
    answers = [one.expected for one in script.asked]
    return Many(script, [*answers[:before], total, 0, *answers[before:]], before, users * len(paths))
