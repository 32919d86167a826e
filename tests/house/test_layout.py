"""The house is easy to walk through: small folders, and links that lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from lab.base.paths import TOP

pytestmark = pytest.mark.check
MOST_FILES = 12
# Folders of one-file plug-ins: each file is one, and dropping another in is how it is extended.
PLUG_INS = {
    "configs": "a kernel each",
    "experiments": "a table or figure each",
    "results": "an experiment each",
    "docs/results": "an experiment each",
    "hash/any": "a function each",
    "hash/name": "a function each",
    "hosted/tests": "a program of tests each",
    "tests/chainhash/corpus": "an input each",
    "tests/fuzz/found": "a sequence each",
    "tests/mutants": "a planted bug each",
    "user/workload": "a load each",
}


def tree() -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True).stdout.splitlines()
    return [name for name in names if (TOP / name).is_file()]


def large(names: list[str]) -> dict[str, int]:
    """Folders with more files than MOST_FILES beside their folders, but for the top and plug-ins."""
    counts = Counter(os.path.dirname(name) for name in names if not os.path.basename(name).startswith("__init__"))
    return {folder: n for folder, n in counts.items() if n > MOST_FILES and folder and folder not in PLUG_INS}


def test_folders_are_seen_at_a_glance():
    assert not large(tree())
    assert large([f"a/{i}" for i in range(13)]) == {"a": 13} and not large([f"a/{i}" for i in range(12)])


def headings(text: str) -> set[str]:
    """As links name them: lower case, blanks as dashes, nothing but letters, digits and dashes."""
    found = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).strip().replace(" ", "-") for one in found}


def dead_links(page: Path, text: str) -> list[str]:
    dead = []
    for target, anchor in re.findall(r"\]\(([^)\s#]*)(#[^)\s]*)?\)", text):
        if re.match(r"\w+:", target):
            continue
        place = Path(os.path.normpath(page.parent / target)) if target else page
        if not place.exists():
            dead.append(target)
        elif anchor and place.suffix == ".md" and anchor[1:] not in headings(place.read_text()):
            dead.append(target + anchor)
    return dead


@pytest.mark.parametrize("name", [name for name in tree() if name.endswith(".md")])
def test_links_lead_somewhere(name):
    assert not dead_links(TOP / name, (TOP / name).read_text())


def test_a_dead_link_is_noticed():
    text = "[a](core) [b](nowhere.md) [c](README.md#two-commands) [d](README.md#no-such-heading) [e](https://x.y)"
    assert dead_links(TOP / "README.md", text) == ["nowhere.md", "README.md#no-such-heading"]
