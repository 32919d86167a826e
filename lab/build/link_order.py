"""link_order.py LAYOUT: the object files of standard input, a line each, in the order in which LAYOUT has them linked.

0 leaves them as they are; of any other number the order is drawn, the same each time. What must come first, the loader's
header, boot/kernel.ld puts first by its section.
"""

from __future__ import annotations

import random
import sys


def link_order(objects: list[str], layout: int) -> list[str]:
    """@objects, shuffled by @layout; 0: as they are."""
    found = list(objects)
    if layout:
        random.Random(layout).shuffle(found)
    return found


if __name__ == "__main__":
    print(*link_order(sys.stdin.read().split(), int(sys.argv[1])), sep="\n")
