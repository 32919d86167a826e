"""Table sizes at boot: each kernel's rule, numbers, fallback, the boot line, and wrong names."""

from __future__ import annotations

import ctypes
import math

import pytest

from tests.hash import compiled

pytestmark = pytest.mark.check

PAGE, MB, GB = 4096, 1 << 20, 1 << 30
CACHES = ("page", "buffer", "inode", "dentry")
RULES = ("2.2.5", "2.2.16", "2.4", "2.6", "6.1")
SCALE = {"page": 12, "buffer": 14, "inode": 14, "dentry": 13}


@pytest.fixture(scope="module")
def library():
    found = compiled.shared("sizes.c", "sizes", defines=["CONFIG_HASH_WORD=64", 'CONFIG_HASH_SIZING="6.1"'])
    found.create.restype = ctypes.c_uint64
    found.said.restype = ctypes.c_char_p
    return found


def create(library, cache, line="", memory=512 * MB, entry=8, block=1 << 62):
    title = cache.capitalize()
    entries = library.create(
        cache.encode(),
        title.encode(),
        line.encode(),
        ctypes.c_uint64(memory // PAGE),
        ctypes.c_uint64(entry),
        ctypes.c_uint64(block),
    )
    return entries, library.said().decode()


def power_above(n):
    return 1 << max(0, math.ceil(n) - 1).bit_length()


def wanted(rule, cache, memory, entry):
    """The rules once more, in bytes of memory."""
    pages = memory // PAGE
    if rule == "2.2.16" and cache == "page":
        return power_above(math.ceil(pages * entry / PAGE)) * PAGE // entry
    if rule in ("2.2.5", "2.2.16"):
        return {"page": 2048, "dentry": 1024, "inode": 256, "buffer": 32 * PAGE // entry}[cache]
    if rule == "2.4":
        if cache == "buffer":
            return power_above(max(1, (pages >> 14) * entry)) * PAGE // entry
        return power_above(max(1, math.ceil(memory / (1 << SCALE[cache]) * entry / PAGE))) * PAGE // entry
    memory = math.ceil(memory / MB) * MB
    scale = SCALE[cache]
    above = 64 * GB
    while rule == "6.1" and above < pages * PAGE:
        scale, above = scale + 1, above * 4
    entries = power_above(memory >> scale)
    return min(entries, 1 << (pages * PAGE // 16 // entry).bit_length() - 1, 1 << 31)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.parametrize("memory", [16 * MB, 64 * MB, 100 * MB, 512 * MB, 4 * GB, 65 * GB, 300 * GB, 2048 * GB])
def test_rules(library, rule, cache, memory):
    for entry in (8, 16):
        found, said = create(library, cache, f"hash_sizing={rule}", memory, entry)
        assert found == wanted(rule, cache, memory, entry)
        assert f"rule {rule}\n" in said


def test_rules_by_the_numbers_of_the_papers(library):
    assert [create(library, c, "hash_sizing=2.2.5")[0] for c in ("page", "inode", "dentry")] == [2048, 256, 1024]
    assert create(library, "buffer", "hash_sizing=2.2.5", entry=4)[0] == 32768  # Lever's machines: pointers of 4 bytes
    assert create(library, "page", "hash_sizing=2.2.16", 64 * MB, 4)[0] == 16384  # Lever 2000, section 3.1
    assert create(library, "dentry", "", 512 * MB)[0] == 65536
    assert create(library, "dentry", "hash_sizing=6.1", 64 * GB)[0] == 1 << 23
    assert create(library, "dentry", "hash_sizing=6.1", 256 * GB)[0] == 1 << 24


def test_the_boot_line_is_linuxs(library):
    _, said = create(library, "dentry")
    assert said.startswith("<6>Dentry cache hash table entries: 65536 (order: 7, 524288 bytes)\n")
    _, said = create(library, "inode", "hash_sizing=2.2.5")
    assert "Inode cache hash table entries: 256 (order: 0, 2048 bytes)\n" in said


@pytest.mark.parametrize(
    ("line", "cache", "entries"),
    [
        ("phash_entries=4096", "page", 4096),
        ("bhash_entries=5000", "buffer", 8192),
        ("ihash_entries=1", "inode", 2),
        ("dhash_entries=1M", "dentry", 1 << 20),
        ("dhash_entries=0x100", "dentry", 256),
        ("dhash_entries=256 hash_sizing=2.2.5 dhash_sizing=6.1", "dentry", 256),
        ("dhash_entries=0", "dentry", 65536),
        ("phash_entries=16G", "page", 1 << 31),
        ("hash_sizing=6.1 dhash_sizing=2.2.5", "dentry", 1024),
        ("hash_sizing=2.2.5 dhash_sizing=6.1", "inode", 256),
        ("ihash_entries=7", "dentry", 65536),
    ],
)
def test_numbers_and_options_of_one_cache(library, line, cache, entries):
    assert create(library, cache, line)[0] == entries


def test_halved_until_it_fits(library):
    found, said = create(library, "page", "phash_entries=1M", block=100000)
    assert found == 8192
    assert "no contiguous memory for 1048576 hash table entries" in said
    assert "Page cache hash table entries: 8192 (order: 4, 65536 bytes)" in said


def test_a_wrong_rule_names_the_right_ones_and_the_default_is_used(library):
    found, said = create(library, "dentry", "hash_sizing=2.3")
    assert found == 65536
    assert "hash_sizing=2.3: there is no such rule" in said
    assert "There are 2.2.5, 2.2.16, 2.4, 2.6 and 6.1." in said
    assert "rule 6.1\n" in said
