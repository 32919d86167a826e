"""Keys as the caches see them: addresses of slab objects in the direct map, runs of pages, blocks and numbers."""

from __future__ import annotations

import numpy as np

DIRECT_MAP = 0xFFFF888000000000


def slab_addresses(rng, count: int, size: int, order: int = 3) -> np.ndarray:
    """Objects of @size bytes, one after the other in slabs of 2^order pages that lie anywhere in 512 MB."""
    each = (4096 << order) // size
    slabs = rng.choice((512 << 20) >> (12 + order), count // each + 1, replace=False).astype(np.uint64)
    place = np.arange(count, dtype=np.uint64)
    return np.uint64(DIRECT_MAP) + (slabs[place // each] << np.uint64(12 + order)) + (place % each) * np.uint64(size)


def page_keys(rng, count: int):
    """Files of 1 to some hundred pages, read from their beginning."""
    sizes = rng.zipf(1.6, count).clip(1, 500)
    files = int(np.searchsorted(np.cumsum(sizes), count)) + 1
    inodes = slab_addresses(rng, files, 344)
    owner = np.repeat(np.arange(files), sizes[:files])[:count]
    index = np.concatenate([np.arange(n) for n in sizes[:files]])[:count]
    return inodes[owner], index.astype(np.uint64) << np.uint64(12)


def buffer_keys(rng, count: int):
    """ext2 on one disk: the same few metadata blocks of each group of 8192, and runs of data blocks."""
    groups = np.arange(count // 40 + 1, dtype=np.uint64) * np.uint64(8192)
    metadata = (groups[:, None] + np.arange(3, 18, dtype=np.uint64)[None, :]).ravel()
    starts = rng.integers(0, 8192 * len(groups), count // 5 + 1).astype(np.uint64)
    runs = (starts[:, None] + np.arange(5, dtype=np.uint64)[None, :]).ravel()
    blocks = np.unique(np.concatenate([metadata, runs]))
    blocks = np.sort(rng.permutation(blocks)[:count])
    return np.full(len(blocks), 0xFE00, np.uint64), blocks


def inode_keys(rng, count: int):
    """Numbers of two file systems: runs within groups of 2000."""
    group = rng.integers(0, 64, count).astype(np.uint64) * np.uint64(2000)
    numbers = np.unique(group + rng.geometric(0.004, count).astype(np.uint64).clip(11, 1999))
    superblocks = np.uint64(DIRECT_MAP) + np.array([0x1234000, 0x1A56C00], np.uint64)
    which = (np.arange(len(numbers)) % 8 == 0).astype(int)
    return superblocks[which], numbers


def dentry_keys(rng, count: int):
    """Directories that are slab objects, name hashes of 32 good bits."""
    parents = slab_addresses(rng, count // 8 + 1, 192)
    return parents[rng.integers(0, len(parents), count)], rng.integers(0, 1 << 32, count).astype(np.uint64)


def swap_keys(rng, count: int):
    """Slots of two areas in clusters of 16, of each of which most are in memory."""
    clusters = rng.choice(count, count // 12 + 1, replace=False).astype(np.uint64) * np.uint64(16)
    slots = (clusters[:, None] + np.arange(16, dtype=np.uint64)[None, :]).ravel()[1:]
    kept = np.sort(rng.permutation(slots)[:count])
    return (kept // np.uint64(16) % np.uint64(2)), kept


def path_keys(rng, count: int):
    """The bits of signatures that are the index: each 24 bits are as likely (fs/path/direct/signature.h)."""
    index = rng.choice(1 << 24, count, replace=False).astype(np.uint64)
    return index, np.zeros(count, np.uint64)


KEYS = {
    "page": page_keys, "buffer": buffer_keys, "inode": inode_keys, "dentry": dentry_keys, "swap": swap_keys, "path": path_keys,
}  # fmt: skip


def names(count: int) -> list[bytes]:
    """File names as programs make them."""
    stems = ["file", "test", "Makefile", "inode", "lib", "usr", "index.html", "a", "README", "module_", "IMG_"]
    found = [f"{stems[i % len(stems)]}{i // len(stems)}" + (".c", ".h", ".o", "")[i // 3 % 4] for i in range(count)]
    return [name.encode() for name in dict.fromkeys(found)]
