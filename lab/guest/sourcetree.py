"""A tree with the shape of a large source tree, as an archive: python -m lab.guest.sourcetree FOLDER.

The paper's trees (Linux 3.14 and 3.19, 51,562 files and folders) are of no use to a machine whose disk is its memory: they
have half a gigabyte. This one has their shape and small files. It grows as such a tree does:

- Folders: one for each fifteen files. A new one goes into one that is there, drawn with a weight of one more than the
  folders it has, so a few have very many; those of the sixth level get none. The top has the kernel's own, in their order
  of size: drivers first.
- Files: each goes into a folder drawn by a weight of the folder's own, 1 / (4 + rank), so that a few have hundreds and most
  a handful. Each folder has a Makefile, half of them a Kconfig; of the others 55 % are .c, 38 % .h, the rest .S, .txt, .dts.
- Names: two to four syllables, two in five with a term behind `_` or `-`: some eight letters, as the paper says of its components.
- Sizes: lognormal, median 1,100 bytes and mean 1,700, a quarter of Linux's. Contents are lines of C, so that an archive of it
  is about a third of its size.

All is drawn from the seed; times are the second 1,000,000,000. The same seed makes the same tree.
"""

from __future__ import annotations

import argparse
import gzip
import io
import random
import tarfile
from collections.abc import Iterator
from pathlib import Path

from lab.base.files import write_whole

TIME = 1_000_000_000
TOP_FOLDERS = (
    "drivers arch include sound net fs documentation tools kernel lib crypto mm block security scripts samples virt init ipc usr"
).split()
MOST_LEVELS = 6
FILES_A_FOLDER = 15
SYLLABLES = "ab ac ad al an ar as at ba be bi bo ca ce ci co da de di do el em en er fa fi fo ga ge go ha he in io is ka ki la le li lo ma me mi mo na ne ni no ol on op or pa pe pi po ra re ri ro sa se si so ta te ti to un ur us va vi xi".split()  # fmt: skip
TERMS = "core main init table queue device driver bus clock page cache node entry list lock timer event buffer stream codec power phy mac link port irq dma bridge trace file block inode super sysfs debug utils common".split()  # fmt: skip
SUFFIXES = ((".c", 55), (".h", 38), (".S", 3), (".txt", 3), (".dts", 1))
MEDIAN, SPREAD = 1100, 0.93  # of sizes: exp(SPREAD ** 2 / 2) times the median is the mean


def name(draw: random.Random) -> str:
    """A component of a path, without suffix."""
    word = "".join(draw.choice(SYLLABLES) for _ in range(draw.choice((2, 2, 3, 4))))
    end = draw.choice(TERMS) if draw.random() < 0.4 else ""
    return f"{word}{draw.choice('_-')}{end}" if end else word


def folders(draw: random.Random, count: int) -> list[str]:
    """Their paths, each before those in it."""
    found = [""]  # one for each time that it may be drawn
    paths = list(TOP_FOLDERS[: max(1, min(len(TOP_FOLDERS), count))])
    for rank, path in enumerate(paths):
        found += [path] * (1 + 40 // (1 + rank))
    taken = set(paths)
    while len(paths) < count:
        parent = draw.choice(found)
        path = f"{parent}/{name(draw)}" if parent else ""
        if not path or path in taken or path.count("/") >= MOST_LEVELS:
            continue
        taken.add(path)
        paths.append(path)
        found += [path, parent]
    return paths


def file_names(draw: random.Random, places: list[str], count: int) -> list[str]:
    """The paths of @count files in the folders @places."""
    found = [f"{place}/Makefile" for place in places] + [f"{place}/Kconfig" for place in places[::2]]
    del found[count:]
    ranked = draw.sample(places, len(places))
    weights = [1 / (4 + rank) for rank in range(len(ranked))]
    taken = {*places, *found}
    kinds, shares = [kind for kind, _ in SUFFIXES], [share for _, share in SUFFIXES]
    while len(found) < count:
        for place in draw.choices(ranked, weights, k=count - len(found)):
            path = f"{place}/{name(draw)}{draw.choices(kinds, shares)[0]}"
            if path not in taken:
                taken.add(path)
                found.append(path)
    return sorted(found)


def contents(draw: random.Random, count: int) -> Iterator[bytes]:
    """The text of @count files, out of a pool of lines."""
    pool = [
        f"\t{draw.choice(('if (', 'return ', 'err = ', 'struct ', ''))}{name(draw)}{draw.choice(('->', '(&', ' = ', ' + '))}"
        f"{name(draw)}{draw.choice((');', ';', ' {', ' = 0;'))}\n"
        for _ in range(4000)
    ]
    mean = sum(map(len, pool)) / len(pool)
    for _ in range(count):
        size = draw.lognormvariate(0, SPREAD) * MEDIAN
        yield "".join(draw.choices(pool, k=max(1, round(size / mean)))).encode()


def tree(seed: int, files: int) -> dict[str, bytes | None]:
    """Path -> content, None for a folder; folders before what is in them."""
    draw = random.Random(seed)
    places = folders(draw, max(1, files // FILES_A_FOLDER))
    names = file_names(draw, places, files)
    found: dict[str, bytes | None] = dict.fromkeys(places)
    found.update(zip(names, contents(draw, files), strict=True))
    return dict(sorted(found.items()))


def archive(entries: dict[str, bytes | None]) -> bytes:
    """@entries as a .tar.gz whose bytes depend on nothing else."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path, content in entries.items():
            member = tarfile.TarInfo(path)
            member.mtime = TIME
            member.type, member.mode = (tarfile.DIRTYPE, 0o755) if content is None else (tarfile.REGTYPE, 0o644)
            member.size = len(content or b"")
            tar.addfile(member, io.BytesIO(content or b""))
    return gzip.compress(plain.getvalue(), compresslevel=6, mtime=TIME)


def write(path: Path, data: bytes) -> None:
    """Left alone where it is the same: it is made before each sweep."""
    if not path.exists() or path.read_bytes() != data:
        write_whole(path, data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where source-FILES.tar.gz are written")
    parser.add_argument("--seed", type=int, default=2015)
    parser.add_argument("--files", type=int, nargs="+", default=[2000, 20000])
    given = parser.parse_args()
    if min(given.files) < 1:
        parser.error("a tree has at least one file")
    given.folder.mkdir(parents=True, exist_ok=True)
    for files in given.files:
        write(given.folder / f"source-{files}.tar.gz", archive(tree(given.seed, files)))


if __name__ == "__main__":
    main()
