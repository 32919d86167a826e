#!/usr/bin/env python3
"""Write functions.h: every hash function of hash/name as one of the library's.

    functions.py HASH_FOLDER OUTPUT

Each header defines name_hash(); it is included under a name of its own, and the list FUNCTIONS names it.
"""

import re
import sys
from pathlib import Path

DEFAULT = "package-33"
TEXT = ("package-37", "package-phong", "package-65599")


def main() -> None:
    folder, output = Path(sys.argv[1]), Path(sys.argv[2])
    names = sorted(path.stem for path in (folder / "name").glob("*.h"))
    first = [name for name in (DEFAULT, *TEXT) if name in names]
    lines = ["/* Written by functions.py from hash/name. */"]
    rows = []
    for name in [*first, *(name for name in names if name not in first)]:
        symbol = "name_" + re.sub(r"\W", "_", name)
        lines += [f"#define name_hash {symbol}", f'#include "hash/name/{name}.h"', "#undef name_hash"]
        rows.append(f'\t{{"{name}", {symbol}}}')
    lines += ["", "#define FUNCTIONS \\", ", \\\n".join(rows), ""]
    output.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
