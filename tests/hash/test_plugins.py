"""Dropping a file in is all it takes; what cannot work is refused with the reason. On copies of hash/."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from tests.hash import compiled
from tests.hash.reference import REFERENCE

pytestmark = pytest.mark.check

STUDENT = """\
/*
 * A student's first buffer hash: three times the block.
 *
 * Source: none. Cost: two instructions. Weakness: we shall see.
 */
#pragma once

#include "hash/word.h"

static inline u32 buffer_hash(u32 device, u64 block, unsigned bits)
{
	return (u32)(3 * block + device) & hash_mask(bits);
}
"""


def choose(folder, *arguments, status=0):
    command = [
        sys.executable,
        str(folder / "choose.py"),
        "-o",
        str(folder.parent / "out" / "hash_choice.h"),
        *arguments,
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode != 0) == (status != 0), result.stderr
    return result.stderr


def test_a_dropped_in_function_is_found_chosen_and_works(tmp_path):
    folder = compiled.copy_of_hash(tmp_path)
    (folder / "buffer" / "student.h").write_text(STUDENT)
    choices = compiled.load_choose(folder).choices()
    assert choices["BUFFER_HASH"]["student"] == "A student's first buffer hash: three times the block."
    choose(folder, "--buffer-hash", "student")
    written = (tmp_path / "out" / "hash_functions.h").read_text()
    assert '#define CONFIG_BUFFER_HASH "student"' in written
    assert '#include "hash/buffer/student.h"' in written
    function = compiled.Function("buffer", "student", 64, folder)
    blocks = np.arange(100, dtype=np.uint64)
    assert function.many(np.ones(100, np.uint64), blocks, 8).tolist() == [(3 * b + 1) % 256 for b in range(100)]


@pytest.mark.parametrize("cache", ("page", "buffer", "inode", "dentry", "swap", "name"))
def test_a_wrong_name_prints_the_right_ones(tmp_path, cache):
    folder = compiled.copy_of_hash(tmp_path)
    said = choose(folder, f"--{cache}-hash", "nonsense", status=1)
    assert f"no {cache} hash function 'nonsense'" in said
    for name in compiled.headers(cache):
        assert f"  {name}\n" in said


def test_a_header_without_its_function_is_refused(tmp_path):
    folder = compiled.copy_of_hash(tmp_path)
    (folder / "buffer" / "empty.h").write_text("/* u32 buffer_hash() is only spoken of here. */\n")
    (folder / "buffer" / "wrong.h").write_text(STUDENT.replace("buffer_hash", "bufer_hash"))
    for name in ("empty", "wrong"):
        said = choose(folder, "--buffer-hash", name, status=1)
        assert f"hash/buffer/{name}.h does not define" in said
        assert "buffer_hash" in said


def test_a_structure_that_cannot_serve_a_cache_is_refused_with_the_reason(tmp_path):
    folder = compiled.copy_of_hash(tmp_path)
    said = choose(folder, "--dentry-table", "rbtree", status=1)
    assert "DENTRY_TABLE=rbtree cannot work: rbtree serves the caches page, swap only" in said
    assert "no table structure 'heap'" in choose(folder, "--page-table", "heap", status=1)
    choose(folder, "--page-table", "rbtree")


def test_a_lock_scheme_that_cannot_work_is_refused_with_the_reason(tmp_path):
    folder = compiled.copy_of_hash(tmp_path)
    assert "no lock scheme 'spin'" in choose(folder, "--page-lock", "spin", status=1)
    said = choose(folder, "--page-lock", "rcu", status=1)
    assert "PAGE_LOCK=rcu cannot work: rcu serves the caches dentry, path only" in said
    said = choose(folder, "--page-table", "rbtree", "--page-lock", "global", status=1)
    assert "PAGE_LOCK=global cannot work with PAGE_TABLE=rbtree, which has bucket (hash/table/rbtree.h" in said
    choose(folder, "--page-table", "rbtree", "--page-lock", "bucket")


def test_a_structure_that_readers_cannot_walk_without_locks_gets_the_locks_of_buckets(tmp_path):
    folder = compiled.copy_of_hash(tmp_path)
    text = (folder / "table" / "chained.h").read_text()
    (folder / "table" / "mine.h").write_text(text.replace("global bucket rwlock sequence rcu", "bucket"))
    (folder / "table" / "mine_link.h").write_text((folder / "table" / "chained_link.h").read_text())
    choose(folder, "--dentry-table", "mine")
    assert '#define CONFIG_DENTRY_LOCK "bucket"' in (tmp_path / "out" / "hash_choice.h").read_text()
    assert "DENTRY_LOCK=rcu cannot work with DENTRY_TABLE=mine" in choose(
        folder, "--dentry-table", "mine", "--dentry-lock", "rcu", status=1
    )
    choose(folder)
    assert '#define CONFIG_DENTRY_LOCK "rcu"' in (tmp_path / "out" / "hash_choice.h").read_text()


def test_a_lock_scheme_is_a_file_dropped_in(tmp_path):
    folder = compiled.copy_of_hash(tmp_path)
    (folder / "lock" / "mine.h").write_text((folder / "lock" / "global.h").read_text())
    table = folder / "table" / "chained.h"
    assert "chained" in choose(folder, "--inode-lock", "mine", status=1)  # which has to know it
    table.write_text(table.read_text().replace("Locks: global bucket", "Locks: mine global bucket"))
    choose(folder, "--inode-lock", "mine")
    header = (tmp_path / "out" / "hash_choice.h").read_text()
    assert '#define INODE_LOCK_HEADER "hash/lock/mine.h"' in header and "INODE_LOCK_RCU" not in header
    choose(folder, "--dentry-lock", "rcu")
    assert "#define CONFIG_DENTRY_LOCK_RCU" in (tmp_path / "out" / "hash_choice.h").read_text()


def test_the_swap_cache_has_the_page_caches_table_or_its_own(tmp_path):
    folder = compiled.copy_of_hash(tmp_path)
    (folder / "swap" / "student.h").write_text(
        "static inline u32 swap_hash(u32 type, u64 slot, unsigned bits)\n"
        "{\n\treturn (u32)(5 * slot + type) & hash_mask(bits);\n}\n"
    )
    assert "student" in compiled.load_choose(folder).choices()["SWAP_HASH"]
    assert list(compiled.load_choose(folder).choices()["SWAP_TABLE"]) == ["page", "chained", "rbtree"]
    function = compiled.Function("swap", "student", 64, folder)
    slots = np.arange(100, dtype=np.uint64)
    assert function.many(np.ones(100, np.uint64), slots, 8).tolist() == [(5 * s + 1) % 256 for s in range(100)]
    out = tmp_path / "out"
    choose(folder, "--swap-table", "page", "--swap-hash", "student")
    assert "swap" not in (out / "hash_choice.h").read_text().lower() + (out / "hash_functions.h").read_text().lower()
    choose(folder, "--swap-table", "chained", "--swap-hash", "student")
    assert '#define SWAP_TABLE_HEADER "hash/table/chained.h"' in (out / "hash_choice.h").read_text()
    assert "  page\n" in choose(folder, "--swap-table", "nonsense", status=1)


def test_an_unsalted_name_hash_under_linux_6_1_gets_a_note(tmp_path):
    folder = compiled.copy_of_hash(tmp_path)
    assert "one name in all directories is one chain" in choose(
        folder, "--dentry-hash", "linux-6.1", "--name-hash", "xnu"
    )
    assert choose(folder, "--dentry-hash", "linux-2.4", "--name-hash", "xnu") == ""
    # one by HASH_BYTES(), which has no list of parameters to name it in
    assert choose(folder, "--dentry-hash", "linux-6.1", "--name-hash", "solaris") == ""
    assert choose(folder) == ""


def test_headers_are_rewritten_only_when_they_change(tmp_path):
    folder = compiled.copy_of_hash(tmp_path)
    choose(folder)
    files = [tmp_path / "out" / name for name in ("hash_choice.h", "hash_functions.h")]
    before = [f.stat().st_mtime_ns for f in files]
    choose(folder)
    assert [f.stat().st_mtime_ns for f in files] == before
    choose(folder, "--page-hash", "mult")  # another function: what objects embed stays
    assert files[0].stat().st_mtime_ns == before[0]
    assert files[1].stat().st_mtime_ns != before[1]


def test_our_headers_say_what_they_are():
    """Formula, source, cost, known weakness in the opening comment. A student's file need not."""
    for cache, functions in REFERENCE.items():
        for name in functions:
            comment = compiled.load_choose().header(cache, name).read_text().split("*/")[0]
            comment = " ".join(line.strip(" *") for line in comment.splitlines())
            for word in ("Source: ", "Cost: ", "Weakness: "):
                assert word in comment, f"hash/{cache}/{name}.h does not say its {word}"


def test_list_as_json():
    command = [sys.executable, str(compiled.TOP / "hash" / "choose.py"), "--list", "--json"]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert list(found["BUFFER_HASH"]) == compiled.headers("buffer")
    assert "rbtree" in found["PAGE_TABLE"]
    assert "rbtree" not in found["INODE_TABLE"]
