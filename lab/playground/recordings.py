"""The key streams that come with the playground, and how each is made: a script beside it, with its options.

streams/NAME.sh is the job; its line `# record:` holds the options of ./cw record, `# about:` what the page calls it.
streams/NAME.keys is what came of it (docs/lab/key-streams.md).
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from lab.base.paths import TOP, LabError

STREAMS = Path(__file__).parent / "streams"


@dataclass(frozen=True)
class Recording:
    """A job and its stream."""

    name: str
    about: str
    options: tuple[str, ...]

    @property
    def script(self) -> Path:
        return STREAMS / f"{self.name}.sh"

    @property
    def keys(self) -> Path:
        return STREAMS / f"{self.name}.keys"

    def command(self) -> list[str]:
        """What makes it, as words behind ./cw at the top of the tree."""
        guest = f"/{self.name}.sh"
        files = ["--output", str(self.keys.relative_to(TOP)), "--add", f"{self.script.relative_to(TOP)}:{guest}"]
        return ["record", "--quiet", *files, *self.options, "--", "sh", guest]


def record(names: list[str]) -> None:
    """Make the streams of @names anew; "all": every one."""
    for one in recordings() if names == ["all"] else [recording(name) for name in names]:
        print(f"./cw {shlex.join(one.command())}", file=sys.stderr)
        if subprocess.run([str(TOP / "cw"), *one.command()], cwd=TOP, check=False).returncode:
            raise LabError(f"the recording of {one.name} failed: see above")


def recording(name: str) -> Recording:
    """That of streams/@name.sh."""
    path = STREAMS / f"{name}.sh"
    if not path.exists():
        raise LabError(f"there is no recording {name}. There are: {', '.join(one.name for one in recordings())}")
    said = dict(re.findall(r"^# (about|record): (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE))
    return Recording(name, said["about"], tuple(shlex.split(said["record"])))


def recordings() -> list[Recording]:
    """All, by name."""
    return [recording(path.stem) for path in sorted(STREAMS.glob("*.sh"))]
