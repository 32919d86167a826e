"""The playground's WebAssembly module: every hash function and table structure of hash/, from the kernel's own headers.

Each function is an object of its own (wasm/function.c), each cache in each structure another (wasm/engine.c); all are
linked with the kernel's statistics (wasm/base.c) into one module. What hash/choose.py finds is in it: a file dropped
into hash/ needs nothing else. The module is kept in build/playground/ under a digest of all that it is made of.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.base.choose import load_choose
from lab.base.paths import TOP, LabError, made_folder
from lab.build.setup import need_playground

HERE = Path(__file__).parent / "wasm"
CACHES = ("page", "buffer", "inode", "dentry", "swap", "path")  # those that have a table, of their own or by choice
WORDS = (64, 32)
FLAGS = (
    "--target=wasm32", "-mbulk-memory", "-std=gnu11", "-O2", "-ffreestanding", "-fno-strict-aliasing", "-fno-strict-overflow",
    "-fno-delete-null-pointer-checks", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Wno-unused-function",
    "-DCONFIG_HASH_STATS=1", f"-include{HERE}/words.h", f"-I{HERE}", f"-I{TOP}/hosted/include", f"-I{TOP}",
)  # fmt: skip
LINKED = ("--no-entry", "--export-dynamic", "--export-table", "--growable-table", "--strip-all", "--gc-sections", "-O2")


@dataclass(frozen=True)
class Part:
    """An object of the module."""

    symbol: str
    source: str
    settings: tuple[tuple[str, str], ...]  # what of hash/choose.py's choices is not the default
    defines: tuple[str, ...]
    word: int = 64


def symbol_of(*words: str | int) -> str:
    """A name for C: linux-6.1 has two characters that C has not."""
    return "_".join(re.sub(r"\W", lambda found: f"x{ord(found[0]):02x}", str(word)) for word in words)


def functions(cache: str) -> dict[str, dict[str, Any]]:
    """Each function of @cache (or "name") with what the page says of it, and its symbol for each word."""
    choose = load_choose()
    found = {}
    for name in choose.functions(cache):
        symbols = {str(word): symbol_of(cache, name, word) for word in WORDS}
        found[name] = {"about": choose.summary(choose.header(cache, name)), "symbols": symbols}
    return found


def structures(cache: str) -> dict[str, dict[str, str]]:
    """Each table structure that serves @cache."""
    choose = load_choose()
    headers = {name: choose.HASH / "table" / f"{name}.h" for name in choose.structures()}
    return {
        name: {"about": choose.summary(path), "engine": symbol_of(cache, name)}
        for name, path in headers.items()
        if cache in choose.served_caches(path)
    }


def own_table(cache: str) -> tuple[tuple[str, str], ...]:
    """What gives @cache a table, and so a function, of its own."""
    table = f"{cache.upper()}_TABLE"
    return () if cache == "name" else ((table, "chained"),) if load_choose().DEFAULTS[table] != "chained" else ()


def parts() -> list[Part]:
    """All objects but base.c's."""
    found = []
    for cache in (*CACHES, "name"):
        for name, function in functions(cache).items():
            for word in WORDS:
                symbol = function["symbols"][str(word)]
                settings = (*own_table(cache), (f"{cache.upper()}_HASH", name))
                found.append(
                    Part(symbol, "function.c", settings, (f"-DFUNCTION_{cache.upper()}", f"-DFUNCTION={symbol}"), word)
                )
    for cache in CACHES:
        for name, structure in structures(cache).items():
            defines = (f"-DREPLAY_{cache.upper()}", f"-DREPLAY_{name.upper()}", f"-DENGINE={structure['engine']}")
            found.append(Part(structure["engine"], "engine.c", ((f"{cache.upper()}_TABLE", name),), defines))
    return found


def digest() -> str:
    """Of all that the module is made of."""
    said = subprocess.run(["clang", "--version"], capture_output=True, text=True, check=False).stdout
    total = hashlib.sha256(f"{said} {FLAGS} {LINKED}".encode())
    rooms = [TOP / "hash", TOP / "core", HERE, TOP / "lab/record", TOP / "hosted/include"]
    files = sorted(path for room in rooms for path in room.rglob("*") if path.suffix in (".c", ".h", ".def"))
    for path in (*files, TOP / "hash/choose.py", Path(__file__)):
        total.update(str(path.relative_to(TOP)).encode() + b"\0" + path.read_bytes())
    return total.hexdigest()[:16]


def built() -> Path:
    """The module's file, built unless it is there."""
    need_playground()
    target = made_folder("playground") / f"{digest()}.wasm"
    target.parent.mkdir(parents=True, exist_ok=True)
    with (target.parent / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two commands at once: the second one waits and finds it
        if not target.exists():
            _build(target)
    return target


def _build(target: Path) -> None:
    with tempfile.TemporaryDirectory(prefix=".build-", dir=target.parent) as name:
        folder = Path(name)
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            objects = list(pool.map(lambda part: _compiled(part, folder), [*parts(), Part("base", "base.c", (), ())]))
        made = folder / "playground.wasm"
        _run(["wasm-ld", *LINKED, "-o", str(made), *map(str, objects)], "the playground's module cannot be linked")
        made.replace(target)


def _compiled(part: Part, folder: Path) -> Path:
    choose = load_choose()
    settings = choose.with_defaults(dict(part.settings))
    generated = folder / part.symbol / "generated"
    generated.mkdir(parents=True)
    (generated / "hash_choice.h").write_text(choose.choice_header(settings))
    (generated / "hash_functions.h").write_text(choose.functions_header(settings))
    made = folder / f"{part.symbol}.o"
    command = ["clang", *FLAGS, f"-DCONFIG_HASH_WORD={part.word}", *part.defines, f"-I{generated.parent}"]
    what = " ".join(value for _, value in part.settings[-1:]) or part.source
    _run([*command, "-c", "-o", str(made), str(HERE / part.source)], f"{what} cannot be compiled for the playground")
    return made


def _run(command: list[str], failure: str) -> None:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise LabError(f"{failure}:\n{result.stderr}")
