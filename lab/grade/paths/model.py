"""Where a path leads: a tree of directories, files, links and mounts as Linux has it, as far as the scripts go (guest/asker.c).

Answers are numbers, as the program gives them. A test runs the same program with the same scripts on Linux, and every answer is equal.
"""

from __future__ import annotations

import errno
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field

OTHER = 1 << 60
LEAST_SIZE = 4096  # of a file: below are errors
MOST_LINKS = 40


@dataclass(eq=False)
class Node:
    """An inode: its size tells files apart."""

    mode: int
    uid: int = 0
    gid: int = 0
    size: int = 0
    link: str = ""
    names: dict[str, Node] = field(default_factory=dict)
    parent: Node | None = None  # of a directory; a root's is None

    @property
    def is_directory(self) -> bool:
        return stat.S_ISDIR(self.mode)

    def answer(self) -> int:
        return self.size if stat.S_ISREG(self.mode) else OTHER | self.mode << 40 | self.uid << 20 | self.gid


@dataclass
class User:
    """A worker: who it is, and where it stands."""

    uid: int
    gid: int
    group: int  # one more; 0: none
    place: Node

    def may(self, node: Node, wanted: int) -> bool:
        """@wanted: of the bits of mode's last three."""
        if self.uid == 0:
            return wanted != 1 or node.is_directory or bool(node.mode & 0o111)
        shift = 6 if node.uid == self.uid else 3 if node.gid == self.gid or node.gid == (self.group or None) else 0
        return not wanted & ~(node.mode >> shift)


class Failed(Exception):
    def __init__(self, number: int):
        super().__init__(errno.errorcode[number])
        self.number = number


class Tree:
    """All that there is. Changes are root's."""

    def __init__(self) -> None:
        self.root = Node(stat.S_IFDIR | 0o755)
        self.mounted: dict[int, Node] = {}  # id of the directory that is covered -> root of what covers it
        self.covers: dict[int, Node] = {}  # and the other way
        self.changer = User(0, 0, 0, self.root)

    # ---- the walk ----

    def _into(self, node: Node) -> Node:
        while id(node) in self.mounted:
            node = self.mounted[id(node)]
        return node

    def _up(self, node: Node) -> Node:
        while node.parent is None:
            if node is self.root:
                return node
            node = self.covers[id(node)]
        return self._into(node.parent)

    def walk(self, user: User, path: str, follow: bool = True) -> Node:
        """Failed: why it leads nowhere."""
        if not path:
            raise Failed(errno.ENOENT)
        place = self.root if path.startswith("/") else user.place
        rest = [name for name in path.split("/") if name]
        must_be = path.endswith("/")
        links = 0
        while rest:
            name = rest.pop(0)
            if not place.is_directory:
                raise Failed(errno.ENOTDIR)
            if not user.may(place, 1):
                raise Failed(errno.EACCES)
            if name == ".":
                continue
            if name == "..":
                place = self._up(place)
                continue
            found = place.names.get(name)
            if found is None:
                raise Failed(errno.ENOENT)
            if stat.S_ISLNK(found.mode) and (rest or follow or must_be):
                links += 1
                if links > MOST_LINKS:
                    raise Failed(errno.ELOOP)
                if found.link.startswith("/"):
                    place = self.root
                if not rest and found.link.endswith("/"):
                    must_be = True
                rest = [part for part in found.link.split("/") if part] + rest
                continue
            place = self._into(found)
        if must_be and not place.is_directory:
            raise Failed(errno.ENOTDIR)
        return place

    # ---- questions ----

    def ask(self, user: User, kind: str, path: str) -> int:
        """The answer; a "c" that succeeds moves @user."""
        try:
            return self._answer(user, kind, path)
        except Failed as error:
            return error.number

    def _answer(self, user: User, kind: str, path: str) -> int:
        node = self.walk(user, path, kind != "l")
        if kind == "c":
            if not node.is_directory:
                raise Failed(errno.ENOTDIR)
            if not user.may(node, 1):
                raise Failed(errno.EACCES)
            user.place = node
            return 0
        if kind == "w" and node.is_directory:
            raise Failed(errno.EISDIR)
        if kind in "rw" and not user.may(node, 4 if kind == "r" else 2):
            raise Failed(errno.EACCES)
        return node.answer()

    # ---- changes ----

    def _parent(self, path: str) -> tuple[Node, str]:
        above, _, name = path.rpartition("/")
        return self.walk(self.changer, above or "/"), name

    def change(self, words: Sequence[str]) -> None:
        """@words as the script has them behind `change`. They have to make sense: what drew them has seen to that."""
        what, path, more = words[0], words[1], words[2:]
        if what in ("chmod", "chown"):
            node = self.walk(self.changer, path, what == "chmod")
            if what == "chmod":
                node.mode = stat.S_IFMT(node.mode) | int(more[0], 8)
            else:
                node.uid, node.gid = int(more[0]), int(more[1])
            return
        if what == "umount":
            root = self.walk(self.changer, path)
            covered = self.covers.pop(id(root))
            del self.mounted[id(covered)]
            return
        if what == "mount":
            covered, root = self.walk(self.changer, path), Node(stat.S_IFDIR | 0o755)
            self.mounted[id(covered)], self.covers[id(root)] = root, covered
            return
        above, name = self._parent(path)
        if what in ("unlink", "rmdir"):
            assert not above.names.pop(name).names
        elif what == "rename":
            self._rename(above, name, *self._parent(more[0]))
        elif what == "exchange":
            self._exchange(above, name, *self._parent(more[0]))
        else:
            self._make(above, name, what, more)

    def _make(self, above: Node, name: str, what: str, more: Sequence[str]) -> None:
        assert name not in above.names
        if what == "mkdir":
            above.names[name] = Node(stat.S_IFDIR | int(more[0], 8), parent=above)
        elif what == "file":
            above.names[name] = Node(stat.S_IFREG | int(more[0], 8), size=int(more[1]))
        else:
            above.names[name] = Node(stat.S_IFLNK | 0o777, link=more[0])

    @staticmethod
    def _put(above: Node, name: str, node: Node) -> None:
        above.names[name] = node
        if node.is_directory:
            node.parent = above

    def _rename(self, above: Node, name: str, to: Node, new: str) -> None:
        self._put(to, new, above.names.pop(name))

    def _exchange(self, above: Node, name: str, to: Node, new: str) -> None:
        one, other = above.names[name], to.names[new]
        self._put(above, name, other)
        self._put(to, new, one)
