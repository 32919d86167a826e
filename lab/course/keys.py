"""A course's key: the secret from which all seeds come that students must not know; and numbers for practice, which anyone may."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path

from lab.base.paths import LabError

FORM = """# The key of a Chainwalk course. Whoever has it can make the streams that hand-ins are judged on: keep it to yourself, and not in a
# repository. A new file (./cw lab setup-course) is a new course: other streams, and old answers are worth nothing.
chainwalk-course-key {}
"""
LINE = re.compile(r"^chainwalk-course-key ([0-9a-f]{64})$", re.MULTILINE)


@dataclass(frozen=True)
class Seeds:
    """Where numbers come from: a course's secret, or a number that everybody knows."""

    secret: bytes
    practice: int | None = None  # that number

    @property
    def hidden(self) -> bool:
        return self.practice is None

    def seed(self, *purpose: object) -> int:
        """64 bits for this purpose; from none of them can another, or the secret, be told."""
        words = "/".join(map(str, purpose)).encode()
        return int.from_bytes(hmac.digest(self.secret, words, "sha256")[:8], "little")

    def digest(self) -> str:
        """Tells keys apart, and nothing else."""
        return hashlib.sha256(b"which key " + self.secret).hexdigest()[:16]


def practice(number: int) -> Seeds:
    return Seeds(f"practice {number}".encode(), number)


def make(path: Path) -> None:
    """A new key file, for its owner alone; never in place of one that is there."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(FORM.format(secrets.token_hex(32)))
        os.link(new, path)  # whole, or not at all
    except FileExistsError:
        raise LabError(f"{path} is there already, and a course's key is not made twice: move it away first") from None
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}") from None
    finally:
        new.unlink(missing_ok=True)


def load(path: Path) -> Seeds:
    """The key in @path. Refused where others may read it."""
    try:
        text = path.read_text(encoding="ascii", errors="replace")
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError as error:
        raise LabError(f"--key {path}: {error.strerror}; ./cw lab setup-course FOLDER makes one") from None
    found = LINE.search(text)
    if not found:
        raise LabError(f"--key {path}: this is no key file; ./cw lab setup-course FOLDER makes one")
    if mode & 0o077:
        raise LabError(f"--key {path}: others may read it (mode {mode:o}): chmod 600 {path}")
    return Seeds(bytes.fromhex(found[1]))
