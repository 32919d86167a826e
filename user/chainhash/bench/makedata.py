#!/usr/bin/env python3
"""The data of Seltzer and Yigit 1991, made anew: a dictionary of 24,474 words and a password file of 300 accounts.

    makedata.py FOLDER [--seed N] [--words N] [--accounts N]

writes FOLDER/dictionary, a word a line in sorted order, and FOLDER/passwd in the form of passwd(5). The paper's own files
(an online dictionary, the accounts of a machine in Berkeley) are lost; these have what matters to a hash table: short keys
that share beginnings and ends, data of four or five digits, and lines of some 60 bytes. The same seed writes the same bytes.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

BEGINNINGS = (
    "b c d f g h j k l m n p r s t v w bl br ch cl cr dr fl fr gl gr pl pr qu sc sh sk sl sp st str th tr wh".split()
)
VOWELS = "a e i o u a e i o e ai ea ee io ou".split()
ENDS = "b d g l m n p r s t ck ct ft ld ll lt mp nd ng nk nt rd rk rm rn rt ss st".split()
SUFFIXES = "able al ed en er est ful ing ion ish ist ity ive ize less ly ment ness ous s".split()
NAMES = "ann ben carl dana eric fay gus hal ida jack kim leo mary ned olga pat rosa sam tess walt".split()
SHELLS = ["/bin/sh", "/bin/csh", "/bin/csh", "/usr/local/bin/tcsh"]
ITOA64 = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def syllable(draw: random.Random) -> str:
    return draw.choice(BEGINNINGS) + draw.choice(VOWELS) + (draw.choice(ENDS) if draw.random() < 0.5 else "")


def word(draw: random.Random) -> str:
    """One to three syllables; two in five words have a suffix, as most pages of a dictionary do."""
    text = "".join(syllable(draw) for _ in range(draw.choice((1, 2, 2, 2, 3))))
    return text + draw.choice(SUFFIXES) if draw.random() < 0.4 else text


def dictionary(draw: random.Random, count: int) -> list[str]:
    words: set[str] = set()
    while len(words) < count:
        words.add(word(draw))
    return sorted(words)


def passwd(draw: random.Random, count: int) -> list[str]:
    """Accounts with names of at most eight letters, the V7 limit, and user ids with gaps."""
    logins: dict[str, str] = {}
    while len(logins) < count:
        first, last = draw.choice(NAMES), syllable(draw) + draw.choice(ENDS)
        logins.setdefault((first[0] + last)[:8], f"{first.title()} {last.title()}")
    lines, uid = [], 100
    for login, name in logins.items():
        uid += draw.randint(1, 9)
        secret = "".join(draw.choice(ITOA64) for _ in range(13))
        room, phone = draw.randint(200, 699), draw.randint(0, 9999)
        lines.append(
            f"{login}:{secret}:{uid}:{draw.randint(10, 30)}:{name},{room} Evans,x{phone:04}:"
            f"/usr/home/{login}:{draw.choice(SHELLS)}"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1991)
    parser.add_argument("--words", type=int, default=24_474)
    parser.add_argument("--accounts", type=int, default=300)
    given = parser.parse_args()
    if not 1 <= given.words <= 1_000_000 or not 1 <= given.accounts <= 2000:
        parser.error("there are 1 to 1,000,000 words and 1 to 2,000 accounts")
    given.folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(given.seed)
    for name, lines in (("dictionary", dictionary(draw, given.words)), ("passwd", passwd(draw, given.accounts))):
        (given.folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="ascii")


if __name__ == "__main__":
    main()
