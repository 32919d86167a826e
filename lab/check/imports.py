"""Which module of the lab imports which, inside functions too, against the table of lab/__init__.py.

.venv/bin/python3 -m lab.check.imports
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from lab.base.graph import circles
from lab.base.paths import TOP

ROW = re.compile(r"^ {4}(\w+) +((?:\w+ ?)+|-)$", re.MULTILINE)
EVERYTHING = "everything"


def table(text: str) -> dict[str, set[str]]:
    """The table in @text, lab/__init__.py's: each package, and those that it stands on."""
    rows = {name: set(words.split()) - {"-"} for name, words in ROW.findall(text) if name != "package"}
    return {name: set(rows) - {name} if EVERYTHING in words else words for name, words in rows.items()}


def modules(top: Path = TOP) -> dict[str, str]:
    """Every module below lab/ by its dotted name, and its text."""
    found = {}
    for path in sorted((top / "lab").rglob("*.py")):
        name = ".".join(path.relative_to(top).with_suffix("").parts).removesuffix(".__init__")
        found[name] = path.read_text(encoding="utf-8")
    return found


def imports_of(name: str, text: str, names: Mapping[str, str]) -> Iterator[str]:
    """The modules among @names that the module @name imports, wherever in its @text."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in names)
        elif isinstance(node, ast.ImportFrom):
            package = node.module or ""
            if node.level:  # from . import x
                base = ".".join(name.split(".")[: -node.level])
                package = f"{base}.{package}".rstrip(".")
            for alias in node.names:
                inner = f"{package}.{alias.name}"
                if inner in names or package in names:
                    yield inner if inner in names else package


def graph_of(sources: Mapping[str, str]) -> dict[str, set[str]]:
    return {name: set(imports_of(name, text, sources)) - {name} for name, text in sources.items()}


def package_of(name: str) -> str:
    """ "run" of lab.run.qemu.kvm; "" for lab itself and lab.__main__."""
    words = name.split(".")
    return words[1] if len(words) > 2 or (len(words) == 2 and words[1] != "__main__") else ""


def faults(sources: Mapping[str, str], allowed: Mapping[str, set[str]]) -> list[str]:
    """Everything that breaks a rule: circles, imports that the table has not, packages and rows of it that are idle."""
    graph = graph_of(sources)
    found = [f"a circle: {' '.join(circle)}" for circle in circles(graph)]
    found += [f"the table has a circle: {' '.join(circle)}" for circle in circles(allowed)]
    used: dict[str, set[str]] = {}
    for name, others in graph.items():
        here = package_of(name)
        for other in sorted(others):
            there = package_of(other)
            if here and there != here:
                used.setdefault(here, set()).add(there)
                if there not in allowed.get(here, set()):
                    found.append(
                        f"{name} imports {other}: {here} does not stand on {there or 'the root'} (lab/__init__.py)"
                    )
    packages = {package_of(name) for name in sources} - {""}
    found += [f"{name} is not in the table of lab/__init__.py" for name in sorted(packages - set(allowed))]
    found += [f"the table has a package that is not there: {name}" for name in sorted(set(allowed) - packages)]
    for name, others in allowed.items():
        everything = others == set(allowed) - {name}
        idle = set() if everything else others - used.get(name, set())
        found += [f"the table lets {name} use {other}, and nothing of it does" for other in sorted(idle)]
    return found


def main() -> None:
    sources = modules()
    found = faults(sources, table(sources["lab"]))
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
