"""Prepared images: what a load of /bin/workload wants to find beside the base system, as ./cw run --image NAME.

An image names Debian packages and which of their files it takes, since it lies in memory where the root is a RAM
disk; and it says how much room the load needs. Nothing of it is in this repository: packages come as with --package,
a source as with the jobs of lab/jobs, both fetched once and checked.
"""

from __future__ import annotations

import fnmatch
import re
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lab.base.paths import LabError
from lab.guest import jobs
from lab.guest.packages import add_packages, package_set
from lab.guest.tree import Tree

SOURCE = "/usr/src/lua"
WORDS = "/usr/share/dict/words"
WORD_LIST = "/usr/share/dict/american-english-small"


@dataclass(frozen=True)
class Image:
    """A recipe."""

    name: str
    about: str
    packages: tuple[str, ...] = ()
    files: tuple[str, ...] = ()  # patterns of the packages' files that are taken; libraries that these need among them
    complete: Callable[[Tree], None] | None = None  # what is put in besides
    free_mb: int = 16  # on a RAM disk, unless --ext2-free
    free_inodes: int = 2048

    def add_to(self, tree: Tree) -> None:
        """Put all of it into @tree, a base_tree(merged=bool(self.packages))."""
        if self.packages:
            add_packages(tree, package_set(self.packages), wanted=self.takes)
        if self.complete:
            self.complete(tree)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(map(fnmatch.translate, self.files)))

    def takes(self, path: str) -> bool:
        return bool(self.files) and self._pattern.match(path) is not None


def _programs(names: str) -> tuple[str, ...]:
    return tuple(f"{folder}/{name}" for name in names.split() for folder in ("/bin", "/usr/bin"))


def _libraries(names: str) -> tuple[str, ...]:
    return tuple(f"*/x86_64-linux-gnu/{name}.so*" for name in names.split())


SDM_PROGRAMS = """
dash sh bash ed tcc make mandoc grep diff cmp tar find
cat chmod comm cp cut head ls mkdir mv rm sort tail tr true uniq wc
"""
SDM_LIBRARIES = "libc libm libpthread libdl libz libselinux libacl libattr libpcre2-8 ld-linux-x86-64"


def _complete_sdm(tree: Tree) -> None:
    """Lua's source, and the words that comm compares with, in the order in which sort has them."""
    _add_lua(tree)
    word_list = tree.follow(WORD_LIST)
    assert word_list is not None
    words = {word for word in word_list.data().decode().split() if word.isascii() and word.isalpha()}
    tree.text(WORDS, "".join(f"{word}\n" for word in sorted({word.lower() for word in words})))
    tree.remove(WORD_LIST)


def _add_lua(tree: Tree) -> None:
    add_source(tree, jobs.find("make").fetched(), SOURCE)


def add_source(tree: Tree, archive: Path, folder: str) -> None:
    """The files of an archive of a source, without its outermost folder, as @folder."""
    with tarfile.open(archive) as members:
        for member in members:
            content = members.extractfile(member) if member.isfile() else None
            if content:
                tree.text(f"{folder}/{member.name.partition('/')[2]}", content.read(), member.mode & 0o755)


IMAGES = (
    Image("base", "busybox and this project's programs, as without --image: lat, miss, small sets of files"),
    Image("files", "the same with room for 100,000 files: files, readdir, mkstemp, maildir, tree", free_mb=96, free_inodes=110000),
    Image("millions", "the same with room for five million empty files, in 1.9 GB", free_mb=512, free_inodes=5_300_000),
    Image(
        "sdm",
        "a C compiler, editor, formatter, make, a source tree, a word list: sdm and sdet",
        packages=(
            "tcc", "libc6-dev", "ed", "mandoc", "make", "coreutils", "findutils", "grep", "diffutils", "tar", "dash", "wamerican-small",
        ),
        files=(
            *_programs(SDM_PROGRAMS), *_libraries(SDM_LIBRARIES), "/lib64/*", WORD_LIST, "*/tcc/*", "/usr/include/*.h",
            "/usr/include/x86_64-linux-gnu/*", "/usr/include/asm-generic/*", "/usr/include/linux/errno.h",
            "/usr/include/linux/limits.h", "*/crt?.o", "*/libc_nonshared.a",
        ),
        complete=_complete_sdm,
        free_mb=96,
        free_inodes=20000,
    ),
    Image(
        "programs",
        "git, find, du, updatedb, tar, rm, a C compiler and make, a source to make: programs, with an archive of a tree (make sourcetree)",
        packages=("git", "findutils", "locate", "coreutils", "tar", "gzip", "make", "tcc", "libc6-dev", "dash"),
        files=(
            *_programs("dash sh git find du tar gzip rm mkdir cp make tcc mv updatedb.findutils sort mktemp cat chmod true"), "*/frcode",
            *_libraries(f"{SDM_LIBRARIES} libcrypto"), "/lib64/*", "*/tcc/*",
            "/usr/include/*.h", "/usr/include/x86_64-linux-gnu/*", "/usr/include/asm-generic/*", "/usr/include/linux/errno.h",
            "/usr/include/linux/limits.h", "*/crt?.o", "*/libc_nonshared.a",
        ),
        complete=_add_lua,
        free_mb=96,
        free_inodes=20000,
    ),
)  # fmt: skip


def names() -> list[str]:
    return [image.name for image in IMAGES]


def find(name: str) -> Image:
    for image in IMAGES:
        if image.name == name:
            return image
    raise LabError(
        f"no image '{name}'. There are:\n" + "\n".join(f"  {image.name:8} {image.about}" for image in IMAGES)
    )
