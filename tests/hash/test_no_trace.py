"""HASH_STATS=n, RECORD_KEYS=n, REGION_MARKS=n: nothing of counting, recording and marking is left in the object code of a lookup.

The objects that look things up are built as they are and from a copy whose counting lines are taken out: the
instructions must be the same, one after the other. That this would notice a counter is seen by planting one.
"""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from lab.base.paths import KERNEL_FOLDERS, TOP

# Those whose every function must come out alike. In the others the compiler weighs inlining and the order of blocks by the
# lines that it throws away later, so they are only looked through for counters.
ALIKE = ("mm/cache/page_cache", "fs/regular/file_io", "fs/block/buffer")
OBJECTS = (*ALIKE, "fs/path/namei", "fs/inode/icache", "fs/path/lockless/lockless", "fs/path/names")
LOOKUPS = ("mm/cache/page_cache", "fs/block/buffer", "fs/path/lockless/lockless", "fs/path/namei", "fs/path/names")
SOURCES = (
    "hash/table/chained.h",
    "mm/cache/page_lookup.h",
    "fs/path/dcache.h",
    "fs/block/buffer.c",
    "fs/inode/icache.c",
)
COUNTING = re.compile(
    r"^\s*(\+\+\*steps|(key->)?counts->\w+(\+\+| \+= \w+)|\+\+\*key->compares|(HASH_(COUNT\w*|RECORD)|REGION_MARK)\([^;]*\)|hash_record\([^;]*\));",
    re.MULTILINE,
)


def make(tree, output, *settings):
    names = [f"{output}/{name}.o" for name in OBJECTS]
    command = ["make", "-s", "-j2", f"O={tree / output}", *settings, *names]
    result = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def instructions(tree, output, name):
    """The mnemonics of every function in order: operands may change places where nothing else does."""
    command = ["objdump", "-d", "--no-show-raw-insn", f"{output}/{name}.o"]
    text = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True).stdout
    lines = [line.split("\t")[1].split() for line in text.splitlines() if line.count("\t") == 1]
    mnemonics = [words[0] for words in lines if not words[0].startswith(("nop", "data16", "xchg"))]
    # a comparison whose operands changed places has its condition mirrored
    return [
        re.sub(r"^(j|set|cmov)([lb])(e?)$", lambda m: m[1] + {"l": "g", "b": "a"}[m[2]] + m[3], word)
        for word in mnemonics
    ]


def counters_used(tree, output, name):
    text = subprocess.run(["nm", f"{output}/{name}.o"], cwd=tree, capture_output=True, text=True, check=True).stdout
    return re.findall(r"\w*_counters\b", text)


@pytest.fixture
def tree(tmp_path):
    """A copy of the sources."""
    folder = tmp_path / "tree"
    ignored = shutil.ignore_patterns("__pycache__")
    for name in (*KERNEL_FOLDERS, "lab", "configs", "user", "hosted"):
        shutil.copytree(TOP / name, folder / name, ignore=ignored)
    for name in ("Makefile", "Kconfig"):
        shutil.copy2(TOP / name, folder / name)
    (folder / ".venv").symlink_to(TOP / ".venv")
    return folder


def make_stripped(tree):
    """Without statistics, from sources that have no counting in them."""
    copies = {name: (tree / name).read_text() for name in SOURCES}
    for name, text in copies.items():
        bare, count = COUNTING.subn("", text)
        assert count, f"{name} counts nothing: take it off the list here"
        (tree / name).write_text(bare)
    make(tree, "stripped", "HASH_STATS=n")
    for name, text in copies.items():
        (tree / name).write_text(text)


def make_planted(tree):
    """Without statistics, but with a counter that somebody forgot."""
    path = tree / "hash/table/chained.h"
    text = path.read_text()
    path.write_text(text.replace("++*steps;", "++*steps;\n\t\ttable->cache->bytes++;"))
    assert path.read_text() != text
    make(tree, "planted", "HASH_STATS=n")
    path.write_text(text)


@pytest.mark.builds
def test_nothing_of_the_counting_is_left(tree):
    """One test, since all of it needs the same builds."""
    make(tree, "without", "HASH_STATS=n")
    make(tree, "with", "HASH_STATS=y")
    make_stripped(tree)
    make_planted(tree)
    for name in OBJECTS:
        assert counters_used(tree, "without", name) == [], name
    for name in ALIKE:
        without = instructions(tree, "without", name)
        assert len(without) > 50
        assert without == instructions(tree, "stripped", name), f"{name}: not as without counting"
    for name in LOOKUPS:
        without = instructions(tree, "without", name)
        assert counters_used(tree, "with", name), name
        assert without != instructions(tree, "with", name), f"{name}: counts nothing with HASH_STATS=y either"
        assert without != instructions(tree, "planted", name), f"{name}: a planted counter goes unnoticed"
