"""The commit of this checkout: what draws, for each commit anew and always the same for one, what of much is looked at."""

from __future__ import annotations

import subprocess

from lab.base.paths import TOP

WITHOUT_GIT = "chainwalk"


def head() -> str:
    """Its name, of 40 hexadecimal digits; without git a fixed word."""
    command = ["git", "-C", str(TOP), "rev-parse", "HEAD"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        said = ""
    return said or WITHOUT_GIT
