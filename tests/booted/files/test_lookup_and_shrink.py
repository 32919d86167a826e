"""Two things that Lever varies beside the hash functions: how dentries are pruned, and whether lookups are inlined."""

from __future__ import annotations

import subprocess

import pytest

from lab.base.paths import output_folder
from lab.build.kernel import build
from lab.guest.image import Ext2
from lab.run import machine
from tests.conftest import PATIENCE

# 6,000 small files' names compete with a file of more pages than there is memory for.
PRESSURE = """
    cd /root; i=0
    while [ $i -lt 60 ]; do
        mkdir d$i; for n in 0 1 2 3 4 5 6 7 8 9; do for m in 0 1 2 3 4 5 6 7 8 9; do echo x > d$i/f$n$m; done; done
        i=$((i + 1))
    done
    dd if=/dev/zero of=big bs=64k count=640 2> /dev/null
    for r in 1 2 3; do cat big | wc -c; ls -lR . | wc -l; done
"""


@pytest.fixture
def kernel_of(tmp_path, monkeypatch):
    """Build a kernel of these settings, and have the lab boot it; without any, the one that stands.

    All of a test's are built in one folder: of the next only what it has otherwise.
    """

    def make(*settings):
        if settings:
            monkeypatch.setenv("CW_OUTPUT", str(tmp_path / "kernel"))
            build(settings, "", True)
        return output_folder()

    return make


def symbols(output, name):
    command = ["nm", "--defined-only", f"{output}/{name}.o"]
    return {
        line.split()[-1] for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    }  # fmt: skip


LOOKUPS = {
    "fs/regular/file_io": "page_lookup", "mm/cache/page_cache": "page_lookup", "mm/space/fault": "page_lookup", "fs/block/buffer": "lookup",
    "fs/inode/icache": "find_inode", "fs/path/lockless/lockless": "find_child", "fs/path/namei": "d_lookup", "fs/path/names": "d_lookup",
}  # fmt: skip


@pytest.mark.builds
def test_policies_prune_differently(kernel_of, tmp_path):
    """Counted runs: what is pruned and made again under memory pressure; what programs see is the same."""
    removed, outputs = {}, set()
    for policy in ("stock", "aggressive", "priority"):
        kernel_of(*([] if policy == "stock" else [f"DENTRY_SHRINK={policy}"]))
        result = machine.run(
            machine.Options(
                job=["/bin/sh", "-c", PRESSURE],
                icount=True,
                quiet=True,
                build=False,
                mem="128M",
                stats=tmp_path / "s",
                ext2=Ext2(free_bytes=56 << 20, free_inodes=16384),
                timeout=120 * PATIENCE,
            )
        )
        assert (result.kind, result.status) == ("exit", 0), result.output[-2000:]
        removed[policy] = result.stats["dentry"]["removes"]
        outputs.add(result.output)
    assert len(outputs) == 1
    assert removed["aggressive"] > 1.05 * removed["stock"], removed  # by how much depends on the memory left
    assert len(set(removed.values())) == 3, removed


@pytest.mark.builds
def test_lookups_are_inlined_or_called(kernel_of):
    inlined, called = kernel_of(), kernel_of("CACHE_LOOKUP_INLINE=n")
    for name, symbol in LOOKUPS.items():
        assert symbol not in symbols(inlined, name), name
        assert symbol in symbols(called, name), name
    result = machine.run(machine.Options(job=["/bin/ls", "/"], icount=True, quiet=True, build=False, mem="128M"))
    assert result.kind == "exit" and b"proc" in result.output
