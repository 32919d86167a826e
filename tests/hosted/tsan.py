"""What the thread sanitizer reports of the hosted kernel, less the races that are meant (hosted/interleave/races.txt)."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from lab.base.paths import TOP

OWN = ("machine/tsan.c",)  # hooks: what they tell of is their caller's
LARGEST_RANDOM_BITS = 28
FRAME = re.compile(r"^ {4}#\d+ (\S+) (\S+)")
ACCESS = re.compile(r"^ {2}(?:Previous )?((?:[Aa]tomic )?(?:[Rr]ead|[Ww]rite)) of size \d+ at ")


@dataclass(frozen=True)
class Access:
    kind: str
    functions: tuple[str, ...]  # innermost first; inlined ones count
    places: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kind}: " + " < ".join(f"{f} {p}" for f, p in zip(self.functions[:4], self.places, strict=False))


@dataclass(frozen=True)
class Race:
    accesses: tuple[Access, ...]
    text: str

    def __str__(self) -> str:
        return "\n    ".join(map(str, self.accesses))


def reports(text: str) -> list[Race]:
    """The reports in the sanitizer's output @text; one that is no data race has no accesses."""
    found = []
    for block in re.findall(r"^WARNING: ThreadSanitizer: .*?^={10,}$", text, re.MULTILINE | re.DOTALL):
        accesses: list[tuple[str, list[tuple[str, str]]]] = []
        inside = False
        for line in block.splitlines():
            if match := ACCESS.match(line):
                accesses.append((match[1].lower(), []))
                inside = True
            elif inside and (match := FRAME.match(line)):
                if not any(own in match[2] for own in OWN):
                    accesses[-1][1].append((match[1], match[2]))
            else:
                inside = False
        every = tuple(Access(kind, *map(tuple, zip(*frames, strict=True))) for kind, frames in accesses if frames)
        found.append(Race(every, block))
    return found


def meant() -> list[tuple[str, str]]:
    """The pairs of functions of races.txt."""
    text = (TOP / "hosted" / "interleave" / "races.txt").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return [(words[0], words[1]) for words in (line.partition(":")[0].split() for line in lines)]


def is_meant(race: Race, pairs: list[tuple[str, str]]) -> bool:
    """Each function of a pair is one of the two innermost frames of an access, `*` any: as for the ring.

    Of the earlier access the sanitizer may have forgotten where it was."""
    if not race.accesses:
        return False
    one, other = (set(access.functions[:2]) for access in (*race.accesses, Access("forgotten", (), ()))[:2])
    return any((a in one and (b == "*" or b in other)) or (a in other and (b == "*" or b in one)) for a, b in pairs)


def unmeant(text: str) -> list[Race]:
    """The races in the output @text that nobody means, each kind once."""
    pairs = meant()
    kinds: dict[frozenset[tuple[str, ...]], Race] = {}
    for race in reports(text):
        if not is_meant(race, pairs):
            kinds.setdefault(frozenset(access.functions[:2] for access in race.accesses), race)
    return list(kinds.values())


def needs_fixed_addresses() -> bool:
    """Where the host spreads addresses further than older sanitizers can follow: they end at once."""
    path = Path("/proc/sys/vm/mmap_rnd_bits")
    try:
        return int(path.read_text(encoding="utf-8")) > LARGEST_RANDOM_BITS and shutil.which("setarch") is not None
    except (OSError, ValueError):
        return False
