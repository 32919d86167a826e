"""Who uses whom in what is linked: references that go up, and circles (docs/kernel/architecture.md, "What goes up").

    .venv/bin/python3 -m lab.check.links [BUILD_FOLDER]

Reads the symbols of the kernel's objects as `nm` has them. A reference is one symbol that one object takes from another.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from lab.base.graph import circles
from lab.base.house import goes_up, room_of
from lab.base.paths import TOP, LabError, output_folder

MOST_UPWARD = 12
LARGEST_CIRCLE = 12
SYMBOL = re.compile(r"^(?:[0-9a-f]+ )?(\w) (\S+)$")


@dataclass(frozen=True, order=True)
class Reference:
    user: str  # kernel/proc/exit: the source without its ending
    symbol: str
    used: str

    def __str__(self) -> str:
        return f"{self.user} -> {self.symbol} ({self.used})"


def symbols(path: Path) -> list[tuple[str, str]]:
    """(letter of nm, name) of each symbol of the object at @path."""
    said = subprocess.run(["nm", str(path)], capture_output=True, text=True, check=True).stdout
    found = (SYMBOL.match(line.strip()) for line in said.splitlines())
    return [(match[1], match[2]) for match in found if match]


def objects(build: Path) -> list[Path]:
    """The objects of the kernel that was linked last: an older one may lie there still."""
    listed = build / "objects.list"  # lab/build/make/kernel.mk
    if not listed.exists():
        return sorted(build.absolute().rglob("*.o"))
    return sorted(TOP / line for line in listed.read_text().split())


def references(build: Path) -> list[Reference]:
    """All references between objects of the kernel in the build folder @build."""
    defined: dict[str, str] = {}
    wanted: list[tuple[str, str]] = []
    for path in objects(build):
        name = str(path.relative_to(build.absolute()).with_suffix(""))
        if not room_of(name):
            continue
        for letter, symbol in symbols(path):
            if letter == "U":
                wanted.append((name, symbol))
            elif letter == "W":  # what the linker takes if nobody else has it
                defined.setdefault(symbol, name)
            elif letter.isupper():
                defined[symbol] = name
    if not defined:
        raise LabError(f"{build} has no objects of the kernel: make kernel O={build}")
    found = (Reference(user, symbol, defined[symbol]) for user, symbol in wanted if symbol in defined)
    return sorted(found)


def upward(all_references: list[Reference]) -> list[Reference]:
    return [reference for reference in all_references if goes_up(reference.user, reference.used)]


def users(all_references: list[Reference]) -> dict[str, set[str]]:
    """Each object, and the others that it takes something from."""
    graph: dict[str, set[str]] = defaultdict(set)
    for reference in all_references:
        if reference.used != reference.user:
            graph[reference.user].add(reference.used)
    return graph


def main() -> int:
    build = Path(sys.argv[1]) if len(sys.argv) > 1 else output_folder()
    try:
        found = references(build)
    except LabError as error:
        print(f"links: {error}", file=sys.stderr)
        return 2
    up = upward(found)
    loops = circles(users([reference for reference in found if reference not in up]))
    print(f"{len(up)} references go up (at most {MOST_UPWARD})")
    for reference in up:
        print(f"  {reference}")
    print(f"{len(loops)} circles (at most {LARGEST_CIRCLE} files each)")
    for circle in loops:
        print(f"  {len(circle)}: {' '.join(circle)}")
    return 1 if len(up) > MOST_UPWARD or (loops and len(loops[0]) > LARGEST_CIRCLE) else 0


if __name__ == "__main__":
    sys.exit(main())
