"""DCACHE_NEGATIVE, DCACHE_COMPLETE, DCACHE_SYMLINK_ALIAS: what they are to know is known, and nobody is asked for it.

That it is true what they say, other tests see; a kernel in which they knew nothing would pass those.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.musl import static_program

SCRIPT = "mkdir /root/k && /known /root/k"
NAMES = 100  # of known.c
FEW = 20  # by what else runs meanwhile
# What is below an absent name is remembered in 4096 places, by a signature that is another in each boot: of 100 names
# some share one, and each of those takes two lookups. 20 lookups or more come about in one boot of 80, 50 in none of
# 20,000 that were simulated; what is not known takes 200.
SHARED = 50


@pytest.fixture(scope="module")
def known(tmp_path_factory) -> Path:
    return static_program(tmp_path_factory.mktemp("known") / "known", Path(__file__).with_name("known.c"))


def counts(output: bytes) -> dict[str, tuple[int, int, int]]:
    """Of each kind of names: misses of the dentry cache, lookups in it, lookups of blocks."""
    lines = (line.split() for line in output.decode().replace("\r", "").splitlines())
    return {name: (int(misses), int(lookups), int(blocks)) for name, misses, lookups, blocks in lines}


def test_what_is_known_is_not_asked_for(cw_run, known):
    found = counts(cw_run(script=SCRIPT, root="ext2", full=True, add=[f"{known}:/known"]).output)
    assert len(found) == 9
    # negative dentries: of what is removed while it is open, of what is renamed, of what /proc has not
    assert max(found[name][0] for name in ("removed-in-use", "renamed", "absent-in-proc")) < FEW, found
    # complete directories: by mkdir and by a reading; listed, and asked for what is not there
    complete = ("absent-in-new", "listed-new", "listed-again", "absent-in-read")
    assert max(found[name][2] for name in complete) < FEW, found
    assert min(found[name][0] for name in ("absent-in-new", "absent-in-read")) >= NAMES, found
    # below what is absent, and below a file
    assert max(found[name][1] for name in ("below-absent", "below-file")) < SHARED, found


def test_without_these_rooms_it_is_asked_for(cw_run, known):
    """The same of the default kernel: so that is what the counts above tell."""
    found = counts(cw_run(script=SCRIPT, root="ext2", debug=False, add=[f"{known}:/known"]).output)
    assert min(found[name][0] for name in ("removed-in-use", "renamed", "absent-in-proc")) >= NAMES, found
    complete = ("absent-in-new", "listed-new", "listed-again", "absent-in-read")
    assert min(found[name][2] for name in complete) >= NAMES, found
    assert min(found[name][1] for name in ("below-absent", "below-file")) >= NAMES, found
