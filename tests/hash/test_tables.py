"""Table structures against an array, and what a debug build says of a function that leaves the table."""

from __future__ import annotations

import subprocess

import pytest

from tests.hash import compiled

pytestmark = pytest.mark.check

STRUCTURES = compiled.load_choose().structures()
KINDS = {"rbtree": ["TREE"], "tagged": ["TAGGED"]}  # what of it is checked besides
SCHEMES = compiled.load_choose().schemes()


def defines(structure, *more):
    stem = structure.replace("-", "_")
    found = [f'TABLE_HEADER="hash/table/{structure}.h"', f'TABLE_LINK_HEADER="hash/table/{structure}_link.h"']
    found += [f"TABLE_LINK_STRUCT={stem}_link", f"TABLE_ROOT={stem}_root", "CONFIG_HASH_WORD=64"]
    return [*found, "CONFIG_DCACHE_FASTPATH", *KINDS.get(structure, ()), *more]


@pytest.mark.parametrize("structure", STRUCTURES)
def test_structure_against_an_array(structure):
    program = compiled.sanitized("tables.c", f"table-{structure}", {}, defines(structure, "CONFIG_HASH_STATS"))
    result = subprocess.run([program], capture_output=True, text=True, check=False, timeout=300)
    assert (result.returncode, result.stdout) == (0, "ok\n"), result.stdout + result.stderr


@pytest.mark.parametrize("scheme", SCHEMES)
def test_lock_scheme_under_threads(scheme):
    """The thread sanitizer sees a lock that lets two in; the table, what they did to each other."""
    defined = [f'TABLE_LOCK_HEADER="hash/lock/{scheme}.h"', "CONFIG_HASH_WORD=64"]
    program = compiled.sanitized("schemes.c", f"scheme-{scheme}", {}, defined, sanitizers="thread")
    result = subprocess.run([program], capture_output=True, text=True, check=False, timeout=300)
    assert result.returncode == 0 and result.stdout.startswith("ok, "), result.stdout + result.stderr


def test_a_function_that_leaves_the_table_is_named(tmp_path):
    """Dropped into hash/page, chosen by name: the debug build stops at its first bucket outside the table."""
    folder = compiled.copy_of_hash(tmp_path)
    (folder / "page" / "careless.h").write_text(
        "/* A page hash that forgets the mask.\n *\n */\n#pragma once\n"
        '#include "hash/word.h"\n'
        "static inline u32 page_hash(uintptr_t inode, u64 byte_offset, unsigned bits)\n"
        "{\n\treturn (u32)(inode + byte_offset + bits);\n}\n"
    )
    for structure in ("chained",):
        program = compiled.sanitized(
            "tables.c",
            f"careless-{structure}",
            {"PAGE_HASH": "careless"},
            defines(structure, "CHECKED"),
            hash_folder=folder,
        )
        result = subprocess.run([program, "out-of-range"], capture_output=True, text=True, check=False, timeout=60)
        assert result.returncode == 3, result.stdout + result.stderr
        assert "page_hash of careless.h gives bucket 12292, but the table has 16" in result.stdout
