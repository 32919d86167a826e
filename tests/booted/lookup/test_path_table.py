"""PATH_TABLE, PATH_LOCK, DIRECT_PATHS: direct lookup with another structure, lock scheme, and two paths of a file.

The debug kernel checks the table at its end."""

from __future__ import annotations

import re

import pytest

from tests.booted.lookup.test_direct_lookup import FOUND, SCRIPT
from tests.booted.lookup.test_signatures import build

# A hundred files, found again and again: with sixteen words most of them are behind the places of two tagged buckets. Then
# some by two mounts in turns, with other names meanwhile, and by none.
MANY = """
mkdir -p /tmp/many/files; for i in $(seq 100); do echo $i > /tmp/many/files/$i; done
for pass in 1 2 3 4; do for i in $(seq 100); do read there < /tmp/many/files/$i; [ $there = $i ] || echo OTHER; done; done
cd /tmp/many; mkdir bound; mount -o bind files bound
for pass in 1 2 3 4; do for i in 1 2 3 4 5; do for way in files bound; do read there < /tmp/many/$way/$i; [ $there = $i ] || echo OTHER; done; done; done
mv files/1 files/x; mv bound/3 bound/1; rm files/4
for pass in 1 2; do for way in files bound; do
    read there < /tmp/many/$way/1; [ $there = 3 ] || echo OTHER; read there < /tmp/many/$way/x; [ $there = 1 ] || echo OTHER
    [ -e /tmp/many/$way/3 ] && echo STALE; [ -e /tmp/many/$way/4 ] && echo STALE
done; done
umount bound; [ -e /tmp/many/bound/1 ] && echo STALE
cat /proc/hash/path
"""
KERNELS = {"tagged": ["PATH_TABLE=tagged", "DIRECT_PATHS=2"], "locked": ["PATH_TABLE=tagged", "PATH_LOCK=rwlock"]}
MACHINES = (
    ("tagged", "ext2", 1, ""),
    ("tagged", "tmpfs", 4, "dlhash_entries=16"),
    ("locked", "tmpfs", 4, "dlhash_entries=16"),
)


@pytest.mark.builds
@pytest.mark.parametrize(("kernel", "root", "smp", "cmdline"), MACHINES)
def test_nobody_gets_where_he_may_not(cw, tmp_path, monkeypatch, kernel, root, smp, cmdline):
    """As with the default structure and scheme, in a table as large as usual and in the smallest, on one and on four CPUs."""
    build(tmp_path, monkeypatch, "DEBUG=y", "DCACHE_FASTPATH=y", "DCACHE_SYMLINK_ALIAS=y", *KERNELS[kernel])
    options = ["--mem", "256M", "--quiet", "--timeout", "200", "--root", root, "--smp", str(smp), "--cmdline", cmdline]
    result = cw("run", *options, "--", "/bin/sh", "-c", f"{MANY}\n{SCRIPT}", timeout=600)
    said = result.stdout.decode(errors="replace").replace("\r", "")
    assert result.returncode == 0, said + result.stderr.decode(errors="replace")
    many, _, rest = said.partition("Path cache total lookups")
    assert many == "" and rest.partition("Path cache")[0].split("\n")[-len(FOUND) - 1 : -1] == FOUND, said
    assert "structure: tagged\n" in rest
    hits = [int(number) for number in re.findall(r"^ hit: (\d+)", rest, re.MULTILINE)]
    assert hits[0] > 250 and hits[1] > hits[0] + 200, said
