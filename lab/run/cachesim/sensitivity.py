"""Other settings of a run with ,sensitivity: costs halved and doubled, other memories, code and TLBs with and without.

Cycles are costs times counts: so other costs need no other run, and what other processors and their caches for
instructions would have missed, the same run has counted beside its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lab.run.cachesim.counts import seen_as
from lab.run.cachesim.specification import Specification, parse_specification

FACTORS = (1.0, 0.5, 2.0)


@dataclass(frozen=True)
class Setting:
    """One of them. @memory: a preset's name; "": as the run itself has it. @code, @tlb: whether these count; None: as
    the run itself has it."""

    factor: float = 1.0
    memory: str = ""
    code: bool | None = None
    tlb: bool | None = None

    @property
    def name(self) -> str:
        words = [f"costs x{self.factor:g}"] if self.factor != 1 else []
        words += [self.memory] if self.memory else []
        for word, on in (("instruction cache", self.code), ("TLB", self.tlb)):
            words += [] if on is None else [f"{'with' if on else 'without'} {word}"]
        return ", ".join(words) or "as measured"


def settings(runs: Sequence[dict[str, Any]]) -> list[Setting]:
    """What all of @runs, values of `cachesim`, can be seen as; the first is as they are. Empty: one of them was not
    simulated with ,sensitivity."""
    if not runs or not all(run.get("counted") for run in runs):
        return []
    asked = [parse_specification(run["specification"]) for run in runs]
    memories = [name for name in asked[0].models if not all(next(iter(one.models)) == name for one in asked)]
    found = []
    for memory in ["", *(name for name in memories if name)]:
        seen = [one.models[memory] if memory else one.whole for one in asked]
        codes = _switch([bool(one.code) for one in asked], all(one.code for one in seen), bool(memory))
        tlbs = _switch([bool(one.tlb) for one in asked], all(one.tlb for one in seen), bool(memory))
        found += [Setting(factor, memory, code, tlb) for code in codes for tlb in tlbs for factor in FACTORS]
    return found


def _switch(asked: list[bool], known: bool, other: bool) -> list[bool | None]:
    """None, as it is, and the other way where that is known. Another memory without it has none, as it was asked."""
    if not known:
        return [False] if other and any(asked) else [None]
    return [None, not asked[0]] if len(set(asked)) == 1 else [None, False, True]


def under(run: dict[str, Any], setting: Setting) -> dict[str, Any]:
    """@run, a value of `cachesim`, as @setting would have it."""
    asked = parse_specification(run["specification"])
    models = asked.models
    number = list(models).index(setting.memory) if setting.memory else 0
    processor: Specification = list(models.values())[number]
    code = bool(asked.code) if setting.code is None else setting.code
    tlb = bool(asked.tlb) if setting.tlb is None else setting.tlb
    seen = processor.plain(code, tlb) if number else _own(asked, code, tlb)
    cost = tuple(setting.factor * one for one in seen.cost)
    changed = replace(seen, cost=cost, tlb_cost=setting.factor * seen.tlb_cost)
    return seen_as(changed, run["counted"], number)


def _own(asked: Specification, code: bool, tlb: bool) -> Specification:
    """The run's own processor, at the costs that it was asked for with."""
    whole = asked.whole
    return replace(whole.plain(code, tlb), cost=asked.cost, clock=asked.clock)


def like(run: dict[str, Any], others: Sequence[tuple[dict[str, Any], dict[str, Any]]]) -> dict[str, Any]:
    """@run, a value of `cachesim` that counted nothing beside itself, as runs of the same kernel and load by other seeds
    tell: the cycles of each region are changed by the factor by which theirs are, the mean of @others, which are pairs
    of what was measured and what a setting would have, one at least; the processor is theirs, and so is its clock.
    Counts stay as they are."""
    changed: dict[str, Any] = {}
    for name, region in run.items():
        if name == "parts":
            each = [
                [(a["parts"][at], b["parts"][at]) for a, b in others if at < len(a["parts"])]
                for at in range(len(region))
            ]
            changed[name] = [like(part, pairs) for part, pairs in zip(region, each, strict=True)]
        elif isinstance(region, dict) and "cycles" in region:
            factors = [b[name]["cycles"] / a[name]["cycles"] for a, b in others if a[name]["cycles"]]
            factor = sum(factors) / len(factors) if factors else 1.0  # none had cycles there
            cycles = {key: value * factor for key, value in region.items() if key.startswith("cycles")}
            changed[name] = {**region, **cycles}
        elif name in ("clock", "specification"):
            changed[name] = others[0][1][name]
        else:
            changed[name] = region
    return changed
