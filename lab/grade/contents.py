"""What a compiled submission consists of, by its ELF file: rooms judge whether that is too much.

A submission's assembler chooses the names in it, blanks and all, so it is read by elftools and not from what nm and objdump print.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

# Code, data, memory that is zero at first, and what unwinds a stack (SHT_X86_64_UNWIND). A note would speak to whoever loads the file.
MOST = 20_000  # sections and symbols; a table's object has some hundred
PLAIN = ("SHT_PROGBITS", "SHT_NOBITS", "SHT_AMD64_UNWIND", 0x70000001)


@dataclass(frozen=True)
class Section:
    """One that takes memory when it runs."""

    name: str
    read_only: bool
    plain: bool  # of a usual kind

    def of(self, *families: str) -> bool:
        """Whether it is a plain one of these: `.text` and `.text.hot` of `.text`, not `.textual`."""
        return self.plain and any(self.name == one or self.name.startswith(f"{one}.") for one in families)


@dataclass(frozen=True)
class Contents:
    """Of an object file."""

    foreign: set[str]  # symbols that it uses and has not
    visible: set[str]  # its own that other files may use
    sections: list[Section]  # those that are not empty


def contents(folder: Path, name: str) -> Contents | None:
    """Of @folder/out/@name; None: it cannot be read, or has more in it than a submission needs."""
    try:
        with (folder / "out" / name).open("rb") as file:
            elf = ELFFile(file)
            if elf.num_sections() + sum(one.num_symbols() for one in _tables(elf)) > MOST:
                return None
            symbols = list(_symbols(elf))
            return Contents(
                {one for one, has_place, _ in symbols if not has_place},
                {one for one, has_place, local in symbols if has_place and not local},
                [
                    _section(one)
                    for one in elf.iter_sections()
                    if one["sh_size"] and one["sh_flags"] & SH_FLAGS.SHF_ALLOC
                ],
            )
    except Exception:  # whatever a damaged file makes the library stumble over
        return None


def _symbols(elf: ELFFile) -> Iterator[tuple[str, bool, bool]]:
    """Name, whether it has a place in the file, and whether it is local; without those that have no name."""
    for table in _tables(elf):
        for symbol in table.iter_symbols():
            if symbol.name:
                yield symbol.name, symbol["st_shndx"] != "SHN_UNDEF", symbol["st_info"]["bind"] == "STB_LOCAL"


def _tables(elf: ELFFile) -> list[SymbolTableSection]:
    return [one for one in elf.iter_sections() if isinstance(one, SymbolTableSection)]


def _section(one: Any) -> Section:
    return Section(one.name, not one["sh_flags"] & SH_FLAGS.SHF_WRITE, one["sh_type"] in PLAIN)


def listed(names: list[str], most: int) -> str:
    """The first @most of @names, which the submission chose, for its feedback."""
    return ", ".join(names[:most])[:200]
