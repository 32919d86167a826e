"""Read the control port: the records that the kernel sends on COM2 (core/log/export.h).

One record a line: `@CW SEQUENCE LENGTH CHECKSUM TYPE JSON`. Nothing is believed that is not whole: a gap in
the sequence, a wrong length or checksum, or no `end` record makes `complete` False.
"""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import dataclass, field
from typing import Any

RECORD = re.compile(rb"@CW (\d{1,10}) (\d{1,10}) ([0-9a-f]{8}) ([a-z_]+) (.*)", re.DOTALL)


@dataclass
class ControlLog:
    """All that one run said on its control port."""

    records: list[tuple[str, Any]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def last(self, kind: str) -> Any:
        """The value of the last record of @kind, or None."""
        for found, value in reversed(self.records):
            if found == kind:
                return value
        return None

    def all(self, kind: str) -> list[Any]:
        return [value for found, value in self.records if found == kind]

    @property
    def complete(self) -> bool:
        """Did an orderly run end, with nothing lost on the way?"""
        return not self.faults and bool(self.records) and self.records[-1][0] == "end"


def parse(data: bytes) -> ControlLog:
    """Read the bytes that came over the port."""
    log = ControlLog()
    expected = 0
    for line in data.split(b"\n"):
        line = line.rstrip(b"\r")
        if not line:
            continue
        match = RECORD.fullmatch(line)
        if not match:
            log.faults.append(f"not a record: {line[:80]!r}")
            continue
        sequence, length, checksum, kind_bytes, text = match.groups()
        if int(sequence) != expected:
            log.faults.append(f"record {int(sequence)} where {expected} was due")
        expected = int(sequence) + 1
        if len(text) != int(length) or zlib.crc32(text) != int(checksum, 16):
            log.faults.append(f"record {int(sequence)} is damaged")
            continue
        kind = kind_bytes.decode()
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            log.faults.append(f"record {int(sequence)}: {error}")
            continue
        log.records.append((kind, value))
        if kind == "end" and not isinstance(value, dict):
            log.faults.append(f"the end record is {text[:80]!r}")
        elif kind == "end" and value.get("records") not in (None, int(sequence), int(sequence) + 1):
            log.faults.append(f"the end record counts {value.get('records')}, {int(sequence)} came")
    return log
