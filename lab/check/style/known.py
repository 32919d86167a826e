"""known.toml: by rule, the files that break it, and how much. What is there may only become less."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from lab.base.paths import LabError
from lab.check.style.fault import Fault

FILE = Path(__file__).with_name("known.toml")
HEAD = """# What breaks a rule of lab.check.style and was there before the rule: by rule, the file and how much of it there is
# (faults; of long functions and files the lines too many). It may only become less: --settle takes out what was mended.
"""
Counts = dict[str, dict[str, int]]


def read(path: Path = FILE) -> Counts:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def counts(faults: Iterable[Fault]) -> Counts:
    """The same of what there is."""
    found: Counts = {}
    for fault in faults:
        rule = found.setdefault(fault.rule, {})
        rule[fault.file] = rule.get(fault.file, 0) + fault.weight
    return found


def new(faults: list[Fault], known: Mapping[str, Mapping[str, int]]) -> list[Fault]:
    """The faults of each rule and file of which there are more than @known has: which of them is new nobody can tell."""
    there = counts(faults)
    return [fault for fault in faults if there[fault.rule][fault.file] > known.get(fault.rule, {}).get(fault.file, 0)]


def mended(faults: list[Fault], known: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Of what @known has too many, in words."""
    there = counts(faults)
    return [
        f"{file}: {rule}: {count} known, {there.get(rule, {}).get(file, 0)} there"
        for rule, files in known.items()
        for file, count in files.items()
        if there.get(rule, {}).get(file, 0) < count
    ]


def settled(faults: list[Fault], known: Mapping[str, Mapping[str, int]]) -> Counts:
    """What there is, as the list to be; LabError where a rule is broken more than before. Files may have moved."""
    there = counts(faults)
    for rule, files in there.items():
        before, now = sum(known.get(rule, {}).values()), sum(files.values())
        if now > before:
            raise LabError(f"{rule}: {now}, and {before} were known: the list may only become shorter")
    return there


def text(found: Mapping[str, Mapping[str, int]]) -> str:
    """@found as known.toml has it."""
    parts = [HEAD]
    for rule in sorted(found):
        parts.append(f'\n["{rule}"]\n' if " " in rule else f"\n[{rule}]\n")
        parts += [f'"{file}" = {count}\n' for file, count in sorted(found[rule].items())]
    return "".join(parts)
