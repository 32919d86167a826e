"""python3 -m lab.check.style: what make lint says of C. The package's docstring has the options."""

from __future__ import annotations

import subprocess
import sys

from lab.base.paths import KERNEL_FOLDERS, TOP, LabError
from lab.check.lines import code_lines
from lab.check.style import code, known, locks, text
from lab.check.style.fault import Fault


def sources() -> dict[str, str]:
    """Every file of C and of assembly in the checkout."""
    command = ["git", "-C", str(TOP), "ls-files", "*.c", "*.h", "*.S"]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return {name: (TOP / name).read_text(encoding="utf-8") for name in names if (TOP / name).exists()}


def every_fault(files: dict[str, str]) -> list[Fault]:
    found: list[Fault] = []
    for name, content in files.items():
        found += text.faults(name, content)
        if not name.endswith(".S"):
            found += code.faults(name, content)
    found += locks.faults({name: content for name, content in files.items() if not name.endswith(".S")})
    kernel = {name: content for name, content in files.items() if name.split("/")[0] in KERNEL_FOLDERS}
    lines = sum(code_lines(TOP / name) for name in kernel)
    found += code.density_fault({name: content for name, content in kernel.items() if not name.endswith(".S")}, lines)
    return found


def main() -> int:
    found, listed = every_fault(sources()), known.read()
    if "--settle" in sys.argv[1:]:
        try:
            known.FILE.write_text(known.text(known.settled(found, listed)), encoding="utf-8")
        except LabError as error:
            print(f"style: {error}", file=sys.stderr)
            return 1
        return 0
    if "--all" in sys.argv[1:]:
        for rule in sorted({fault.rule for fault in found}):
            those = [fault for fault in found if fault.rule == rule]
            print(f"{rule}: {sum(fault.weight for fault in those)}", *those, "", sep="\n")
        return 0
    fresh = known.new(found, listed)
    for fault in fresh:
        print(fault)
    if not fresh and (slack := known.mended(found, listed)):
        print(f"{len(slack)} entries of {known.FILE.relative_to(TOP)} are mended: -m lab.check.style --settle")
    return 1 if fresh else 0


if __name__ == "__main__":
    sys.exit(main())
