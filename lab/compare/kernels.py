"""./cw compare: one program on two kernels, their caches side by side."""

from __future__ import annotations

import re
from typing import Any

from lab.base.paths import LabError, output_folder
from lab.run.listing import defconfigs
from lab.run.machine import Result, run
from lab.run.options import Options
from lab.run.own_folder import own_folder


def kernel_of(specification: str) -> dict[str, Any]:
    """A kernel's options from a defconfig's name and settings, joined by commas."""
    found: dict[str, Any] = {"defconfig": "", "settings": []}
    for word in specification.split(","):
        if "=" in word:
            found["settings"].append(word)
        elif word in defconfigs():
            found["defconfig"] = word
        else:
            names = "\n".join(f"  {name}" for name in defconfigs())
            raise LabError(f"'{word}' is no defconfig and no NAME=VALUE. Defconfigs:\n{names}")
    return found


def compare_kernels(
    a: str,
    b: str,
    job: list[str],
    packages: list[str],
    add: list[str],
    mem: str,
    root: str,
    icount: bool,
    timeout: float,
) -> int:
    kernels = [(name, kernel_of(name)) for name in (a, b)]
    results: list[Result] = []
    for name, kernel in kernels:
        print(f"== {name}", flush=True)
        options = Options(
            job=job, packages=packages, add=add, mem=mem, root=root, icount=icount, timeout=timeout,
            stats=output_folder() / "compare.json", quiet=True, **kernel,
        )  # fmt: skip
        with own_folder("compare-" + re.sub(r"\W+", "_", name), alike=False):
            result = run(options)
        if result.kind != "exit":
            raise LabError(f"{name}: {result.message}")
        results.append(result)
    for cache in caches_of([result.stats for result in results]):
        _print_cache(cache, [a, b], [result.stats.get(cache, {}) for result in results])
    if results[0].output != results[1].output:
        print("The program's output differs between the two.")
    return results[0].status or results[1].status


def caches_of(stats: list[dict[str, Any]]) -> list[str]:
    """The caches that a kernel counted, in the order of its report: the four, and what optional rooms bring, as the table of
    whole paths; of one that only the other has, too."""
    return [
        name
        for name in dict.fromkeys(key for one in stats for key in one)
        if any("buckets" in one.get(name, {}) for one in stats)
    ]


def _flat(value: Any, prefix: str = "") -> dict[str, Any]:
    """Nested statistics as name -> number; histograms are left to ./cw run --stats."""
    if isinstance(value, dict):
        flat: dict[str, Any] = {}
        for key, inner in value.items():
            flat.update(_flat(inner, f"{prefix}{key}."))
        return flat
    return {} if isinstance(value, list) else {prefix.rstrip("."): value}


def _print_cache(cache: str, names: list[str], stats: list[dict[str, Any]]) -> None:
    flat = [_flat(one) for one in stats]
    print(f"\n{cache:24} {names[0][:22]:>22} {names[1][:22]:>22} {'ratio':>8}")
    for key in dict.fromkeys(key for one in flat for key in one):
        left, right = (one.get(key, "") for one in flat)
        numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (left, right))
        ratio = f"{right / left:8.3f}" if numbers and left else ""
        print(f"  {key:22} {left!s:>22} {right!s:>22} {ratio}")
