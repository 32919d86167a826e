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
from lab.run.cachesim.several import MACHINES, is_several, parse_machine
from lab.run.cachesim.several import digest as several_digest
from lab.run.cachesim.specification import Specification, parse_specification
from lab.run.options import SHORT_TURNS, Options
from lab.run.own_folder import lacks, own_folder
from lab.run.qemu.plugin import INSTRUCTION, plugin

FOLDER = TOP / "lab/run/cachesim"
COHERENT = FOLDER / "coherent"
GUEST = (FOLDER / "guest.h", INSTRUCTION)
EVENTS = TOP / "core/lock/turn_event.h"
MARKS = "REGION_MARKS=y"


def check_options(options: Options) -> None:
    """Refuse what cannot be simulated, before anything is built."""
    if is_several(options.cache_sim):
        machine = parse_machine(options.cache_sim)
        if options.smp > machine.cpus:
            raise LabError(
                f"--cache-sim {options.cache_sim}: that machine has {machine.cpus} CPUs, fewer than --smp {options.smp}"
            )
        if not options.icount:
            raise LabError("--cache-sim with several CPUs is fed by CPUs that run in turn: add --icount")
    else:
        parse_specification(options.cache_sim)
        if options.smp != 1:
            names = ", ".join(MACHINES)
            raise LabError(
                f"--cache-sim {options.cache_sim} has the caches of one CPU: leave out --smp, or take {names}"
            )
    if options.accel != "tcg":
        raise LabError("--cache-sim sees the accesses of translated instructions: leave out --accel")
    if "REGION_MARKS=n" in options.settings:
        raise LabError("--cache-sim needs the marks that REGION_MARKS=n leaves out: leave that out")


@contextlib.contextmanager
def prepared(options: Options) -> Iterator[tuple[Options, Path]]:
    """@options for a machine that has the caches, and the file in which the counts are when it has ended."""
    check_options(options)
    with tempfile.TemporaryDirectory(prefix="cachesim-") as folder, _marked(options) as marked:
        out = Path(folder) / "counts"
        feeder = _of_several(options) if is_several(options.cache_sim) else _of_one(options.cache_sim)
        given = ["-plugin", feeder.replace(",", f",out={out},", 1)]
        yield replace(marked, cache_sim="", extra_qemu=[*marked.extra_qemu, *given]), out


def _of_one(text: str) -> str:
    """The plugin with the caches of one CPU, and its arguments."""
    specification = parse_specification(text)
    library = plugin(FOLDER / "cachesim.c", *GUEST, FOLDER / "regions.h", FOLDER / "model.h")
    models = "".join(map(_model, specification.models.values()))
    return f"file={library}{',from=mark' * specification.from_mark}{models}"


def _of_several(options: Options) -> str:
    """The same with those of as many CPUs as the machine has."""
    sources = [COHERENT / f"{name}.c" for name in ("coherentsim", "mesi", "clocks", "bus")]
    headers = [COHERENT / f"{name}.h" for name in ("mesi", "clocks", "bus", "feed", "tally")]
    library = plugin(*sources, *headers, *GUEST, EVENTS)
    return f"file={library}{parse_machine(options.cache_sim).arguments(options.smp)}"


def _model(processor: Specification) -> str:
    """The plugin's arguments of one processor."""
    levels = [f",level={level.size}/{level.ways}/{level.line}" for level in processor.levels]
    code, tlb = processor.code, processor.tlb
    levels += [f",code={code.size}/{code.ways}/{code.line}"] if code else []
    return ",model=on" + "".join(levels) + (f",tlb={tlb}" if tlb else "")


def read_counts(text: str, out: Path) -> dict[str, Any]:
    """What the caches of --cache-sim @text counted, for Result.cachesim."""
    try:
        counted = json.loads(out.read_text())
    except OSError:
        raise LabError(
            "this QEMU has counted nothing: was it built with plugins (qemu-system-x86_64 -plugin)?"
        ) from None
    except ValueError as error:
        raise LabError(f"what the simulation of the caches wrote at the machine's end is no JSON: {error}") from None
    several = parse_machine(text) if is_several(text) else None
    specification = several or parse_specification(text)
    if specification.from_mark and not counted["by_program"]:
        raise LabError(
            f"--cache-sim {text}: the program has set no mark (user/region.h), so nothing was counted: "
            "leave out from=mark"
        )
    return several_digest(several, counted) if several else digest(parse_specification(text), counted)


@contextlib.contextmanager
def _marked(options: Options) -> Iterator[Options]:
    """@options for a kernel that has the marks: in another build folder, unless the one that is there has them."""
    wanted = [MARKS, *[SHORT_TURNS] * is_several(options.cache_sim)]
    if options.linux or not lacks(options, wanted):
        yield options
        return
    with own_folder("turns" if SHORT_TURNS in wanted else "marks"):
        yield replace(options, settings=[*dict.fromkeys([*options.settings, *wanted])], build=True)
