"""One direction, read off the objects of the kernel that make test has built (lab/check/links.py)."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from lab.base.house import FLOORS, floor_of, goes_up, room_of
from lab.base.paths import KERNEL_FOLDERS, TOP, output_folder
from lab.check import links
from lab.check.kernels import full_output

pytestmark = pytest.mark.check
PAGE = TOP / "docs" / "kernel" / "architecture.md"


@pytest.fixture(scope="module", params=["plain", "full"])
def found(request) -> list[links.Reference]:
    """Of the kernel as it ships, and of that with all optional rooms."""
    return links.references(Path(full_output()) if request.param == "full" else output_folder())


def told() -> set[tuple[str, str]]:
    """The table of the page: object and symbol of what goes up."""
    rows = re.findall(r"^\| `([\w/]+)` \| `(\w+)` \| .+ \|$", PAGE.read_text(), re.MULTILINE)
    return set(rows)


def test_what_goes_up_is_told_with_its_reason(found):
    up = {(reference.user, reference.symbol) for reference in links.upward(found)}
    assert up == told() and len(up) <= links.MOST_UPWARD


def test_circles_are_small(found):
    up = links.upward(found)
    circles = links.circles(links.users([reference for reference in found if reference not in up]))
    assert circles and len(circles[0]) <= links.LARGEST_CIRCLE, circles[0]


def test_every_file_of_the_kernel_has_a_floor():
    names = subprocess.run(
        ["git", "ls-files", *KERNEL_FOLDERS], cwd=TOP, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert names and all(room_of(name) for name in names)


def test_up_and_down():
    assert room_of("kernel/proc/exit.c") == "kernel/proc/" and room_of("kernel/main.c") == "kernel/"
    assert floor_of("core/") == floor_of("arch/") == 0 and floor_of("kernel/") == len(FLOORS) - 1
    assert goes_up("fs/path/namei", "kernel/proc/exit") and not goes_up("kernel/proc/exit", "fs/path/namei")
    assert not goes_up("lab/x", "kernel/proc/exit")


def build(folder, sources: dict[str, str]) -> list[links.Reference]:
    for name, text in sources.items():
        path = folder / f"{name}.c"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        subprocess.run(["cc", "-c", path, "-o", path.with_suffix(".o")], check=True)
    return links.references(folder)


def test_a_planted_reference_is_found(tmp_path):
    """Up from core to fs, down from fs to core; a static function of the same name is nobody else's."""
    found = build(
        tmp_path,
        {
            "core/low": "void high(void); void low(void) { high(); }",
            "fs/high": "void low(void); void high(void) { low(); }",
            "mm/own": "static void high(void) {} void (*user)(void) = high;",
        },
    )
    assert [str(reference) for reference in links.upward(found)] == ["core/low -> high (fs/high)"]
    assert links.circles(links.users(found)) == [["core/low", "fs/high"]]


def test_circles_of_a_graph():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d"}, "f": {"a"}}
    assert links.circles(graph) == [["a", "b", "c"], ["d", "e"]]
    assert not links.circles({"a": {"b"}, "b": set()})
