"""Optional rooms: folders of the kernel with a Kconfig of their own, whose first symbol says whether they are compiled."""

from __future__ import annotations

import re
from pathlib import Path

from lab.base.paths import KERNEL_FOLDERS, TOP


def optional_rooms(top: Path = TOP) -> dict[str, str]:
    """Each such folder, as kernel/socket, and the symbol without CONFIG_ that brings it."""
    found = {}
    for folder in KERNEL_FOLDERS:
        for path in sorted((top / folder).rglob("Kconfig")):
            symbol = re.search(r"^config (\w+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            if symbol:
                found[str(path.parent.relative_to(top))] = symbol[1]
    return found
