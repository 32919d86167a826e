"""make lines: lines of code by folder, without comments and blank lines. At most LIMIT for the kernel."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from lab.base.paths import KERNEL_FOLDERS, TOP

KERNEL = KERNEL_FOLDERS
OTHERS = ("hosted", "user", "lab", "tests")
C_LIKE = {".c", ".h", ".S", ".ld", ".def"}
LIMIT = 22_500  # of the kernel, so that it can be read in a term
HASH_LIKE = {".py", ".sh", ".mk"}


def code_lines(path: Path) -> int:
    """Lines that hold code: comments and blank lines do not count."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix in C_LIKE:
        pattern = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*'
        text = re.sub(pattern, lambda m: " " if m[0].startswith("/") else m[0], text, flags=re.DOTALL)
    elif path.suffix in HASH_LIKE:
        text = re.sub(r'^\s*(?:r?""".*?""")\s*$', "", text, flags=re.DOTALL | re.MULTILINE)
        text = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    else:
        return 0
    return sum(1 for line in text.splitlines() if line.strip())


def count(folder: str) -> int:
    command = ["git", "-C", str(TOP), "ls-files", "--cached", "--others", "--exclude-standard", folder]
    names = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    paths = [TOP / name for name in names] or [p for p in (TOP / folder).rglob("*") if p.is_file()]
    c_only = folder.split("/")[0] in KERNEL  # hash/choose.py is a tool of the build
    return sum(code_lines(path) for path in paths if path.exists() and (path.suffix in C_LIKE or not c_only))


def main() -> None:
    total = 0
    for folder in KERNEL:
        lines = count(folder)
        total += lines
        print(f"{folder:10} {lines:7}")
        if folder == "kernel":
            for part in sorted(p for p in (TOP / folder).iterdir() if p.is_dir()):
                print(f"  {part.name:8} {count(f'{folder}/{part.name}'):7}")
    print(f"{'the kernel':10} {total:7}   (at most {LIMIT})")
    for folder in OTHERS:
        print(f"{folder:10} {count(folder):7}")


if __name__ == "__main__":
    main()
