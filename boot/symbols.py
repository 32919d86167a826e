#!/usr/bin/env python3
"""Turn `nm -n` output on standard input into the kernel's symbol table, as assembly.

The table serves backtraces: the addresses of all functions, ascending, as offsets from text_start, and
their names. Empty input gives an empty table, for the first of the two links.
"""

import re
import sys


def main() -> None:
    base = None
    functions: dict[int, str] = {}
    for line in sys.stdin:
        match = re.match(r"([0-9a-f]{16}) ([tT]) (\S+)$", line)
        if not match:
            continue
        address, name = int(match[1], 16), match[3]
        if name == "text_start":
            base = address
        elif name != "text_end" and not name.startswith("."):
            functions.setdefault(address, name)
    if base is None:
        functions = {}
    lines = ['\t.section .symbols, "a"', "\t.balign 4", "\t.globl symbol_count, symbol_table, symbol_names"]
    lines += ["symbol_count:", f"\t.long {len(functions)}", "symbol_table: /* offset of address, of name */"]
    offset = 0
    for address, name in sorted(functions.items()):
        lines.append(f"\t.long {address - (base or 0):#x}, {offset}")
        offset += len(name) + 1
    lines.append("symbol_names:")
    lines += [f'\t.asciz "{name}"' for _, name in sorted(functions.items())]
    lines.append('\t.section .note.GNU-stack, "", @progbits')
    print("\n".join(lines))


if __name__ == "__main__":
    main()
