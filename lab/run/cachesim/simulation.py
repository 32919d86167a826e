"""A machine with memory caches: the kernel with marks around its lookups, QEMU with the plugin, and what that counts."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from lab.base.paths import TOP, LabError
from lab.run.cachesim.counts import digest
from lab.run.cachesim.specification import Specification, parse_specification
from lab.run.options import Options
from lab.run.own_folder import lacks, own_folder
from lab.run.qemu.plugin import plugin

FOLDER = TOP / "lab/run/cachesim"
MARKS = "REGION_MARKS=y"


def check_options(options: Options) -> None:
    """Refuse what cannot be simulated, before anything is built."""
    parse_specification(options.cache_sim)
    if options.smp != 1:
        raise LabError("--cache-sim has the caches of one CPU: leave out --smp")
    if options.accel != "tcg":
        raise LabError("--cache-sim sees the accesses of translated instructions: leave out --accel")
    if "REGION_MARKS=n" in options.settings:
        raise LabError("--cache-sim needs the marks that REGION_MARKS=n leaves out: leave that out")


@contextlib.contextmanager
def prepared(options: Options) -> Iterator[tuple[Options, Path]]:
    """@options for a machine that has the caches, and the file in which the counts are when it has ended."""
    check_options(options)
    specification = parse_specification(options.cache_sim)
    library = plugin(FOLDER / "cachesim.c", FOLDER / "regions.h", FOLDER / "model.h")
    with tempfile.TemporaryDirectory(prefix="cachesim-") as folder, _marked(options) as marked:
        out = Path(folder) / "counts"
        models = "".join(map(_model, specification.models.values()))
        given = ["-plugin", f"file={library},out={out}{',from=mark' * specification.from_mark}{models}"]
        yield replace(marked, cache_sim="", extra_qemu=[*marked.extra_qemu, *given]), out


def _model(processor: Specification) -> str:
    """The plugin's arguments of one processor."""
    levels = [f",level={level.size}/{level.ways}/{level.line}" for level in processor.levels]
    code, tlb = processor.code, processor.tlb
    levels += [f",code={code.size}/{code.ways}/{code.line}"] if code else []
    return ",model=on" + "".join(levels) + (f",tlb={tlb}" if tlb else "")


def read_counts(text: str, out: Path) -> dict[str, Any]:
    """What the caches of --cache-sim @text counted, for Result.cachesim."""
    specification = parse_specification(text)
    try:
        counted = json.loads(out.read_text())
    except (OSError, ValueError):
        raise LabError(
            "this QEMU has counted nothing: was it built with plugins (qemu-system-x86_64 -plugin)?"
        ) from None
    if specification.from_mark and not counted["by_program"]:
        raise LabError(
            f"--cache-sim {text}: the program has set no mark (user/region.h), so nothing was counted: "
            "leave out from=mark"
        )
    return digest(specification, counted)


@contextlib.contextmanager
def _marked(options: Options) -> Iterator[Options]:
    """@options for a kernel that has the marks: in another build folder, unless the one that is there has them."""
    if options.linux or not lacks(options, [MARKS]):
        yield options
        return
    with own_folder("marks"):
        yield replace(options, settings=[*dict.fromkeys([*options.settings, MARKS])], build=True)
