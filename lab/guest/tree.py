"""The guest's file tree as a plain description, and the base system: busybox, its links, /etc, init.

A Tree maps guest paths to entries; image.py makes an ext2 image or a cpio archive of it. Owners and modes
are what the entry says, whoever runs the lab, and every time stamp is SOURCE_DATE_EPOCH, so that the same
tree gives the same image anywhere.
"""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from lab.base.paths import TOP, LabError, output_folder

BUSYBOX = b"/bin/busybox"
EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "1767225600"))  # 2026-01-01 00:00:00 UTC


@dataclass(frozen=True)
class Entry:
    """One file, folder or symbolic link of the guest."""

    mode: int
    uid: int = 0
    gid: int = 0
    source: Path | None = None  # a file of the host with the content
    content: bytes = b""  # or the content itself; a link's target

    @property
    def size(self) -> int:
        return self.source.stat().st_size if self.source else len(self.content)

    def data(self) -> bytes:
        return self.source.read_bytes() if self.source else self.content

    def identity(self) -> str:
        """Changes whenever the content may have changed."""
        if self.source:
            status = self.source.stat()
            what = f"{self.source}:{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}:{status.st_ino}"
        else:
            what = hashlib.sha256(self.content).hexdigest()
        return f"{self.mode:o} {self.uid} {self.gid} {what}"


@dataclass(frozen=True)
class User:
    """A user of the guest, as its /etc/passwd has it."""

    uid: int = 0
    gid: int = 0
    home: str = "/root"


ROOT = User()


class Tree:
    """Guest path (absolute, normalised) -> Entry; the folders above an entry are made as needed."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {"/": Entry(stat.S_IFDIR | 0o755)}

    def put(self, path: str, entry: Entry) -> str:
        """Place @entry; its path with the links among the folders above followed (/bin -> usr/bin)."""
        path = self.resolved(os.path.normpath("/" + path.lstrip("/")))
        there = self.entries.get(path)
        if stat.S_ISDIR(entry.mode) and there and stat.S_ISLNK(there.mode):
            return path  # a link to a folder serves as that folder
        parent = os.path.dirname(path)
        if parent not in self.entries:
            self.put(parent, Entry(stat.S_IFDIR | 0o755))
        self.entries[path] = entry
        return path

    def resolved(self, path: str) -> str:
        """@path with every link of the tree followed, but for a last name that is one itself."""
        parent, name = os.path.split(path)
        if parent == path:
            return path
        parent = self.resolved(parent)
        for _ in range(8):
            entry = self.entries.get(parent)
            if entry is None or not stat.S_ISLNK(entry.mode):
                break
            target = os.path.join(os.path.dirname(parent), os.fsdecode(entry.content))
            parent = self.resolved(os.path.normpath(target))
        return os.path.join(parent, name)

    def has(self, path: str) -> bool:
        return self.resolved(path) in self.entries

    def follow(self, path: str) -> Entry | None:
        """The file or folder that @path names, links followed to their end."""
        for _ in range(8):
            path = self.resolved(os.path.normpath(path))
            entry = self.entries.get(path)
            if entry is None or not stat.S_ISLNK(entry.mode):
                return entry
            path = os.path.join(os.path.dirname(path), os.fsdecode(entry.content))
        return None

    def is_applet(self, path: str) -> bool:
        """Is this one of busybox's links?"""
        entry = self.entries.get(path)
        return entry is not None and entry.content == BUSYBOX

    def remove(self, path: str) -> None:
        del self.entries[self.resolved(path)]

    def folder(self, path: str, mode: int = 0o755, uid: int = 0, gid: int = 0) -> None:
        self.put(path, Entry(stat.S_IFDIR | mode, uid, gid))

    def link(self, path: str, target: str) -> None:
        self.put(path, Entry(stat.S_IFLNK | 0o777, content=os.fsencode(target)))

    def text(self, path: str, content: str | bytes, mode: int = 0o644) -> None:
        data = content.encode() if isinstance(content, str) else content
        self.put(path, Entry(stat.S_IFREG | mode, content=data))

    def file(self, path: str, source: Path, mode: int | None = None, owner: User = ROOT) -> None:
        bits = mode if mode is not None else (0o755 if os.access(source, os.X_OK) else 0o644)
        self.put(path, Entry(stat.S_IFREG | bits, owner.uid, owner.gid, source=source))

    def user(self, name: str) -> User:
        """The user of this name; root's numbers for one that the tree does not know (yet)."""
        passwd = self.follow("/etc/passwd")
        for line in passwd.data().decode(errors="replace").splitlines() if passwd else []:
            words = line.split(":")
            if words[0] == name and len(words) >= 6:
                return User(int(words[2]), int(words[3]), words[5])
        return ROOT

    def add(self, specification: str, owner: User = ROOT) -> None:
        """HOSTPATH[:GUESTPATH]: a file or a whole folder; without GUESTPATH it keeps its own path's name
        in the home of @owner.

        Files keep their modes and are @owner's, as they are here his who adds them: what only the owner may read
        (made under umask 077, say) he may read there, too."""
        host, colon, guest = specification.rpartition(":")
        if not colon or not guest.startswith("/"):
            host, guest = specification, ""
        source = Path(host)
        if not source.exists():
            raise LabError(f"--add {specification}: there is no '{host}' on this machine")
        if not guest:
            guest = f"{owner.home.rstrip('/')}/{source.resolve().name}"
        elif guest.endswith("/"):
            guest += source.resolve().name
        self._add_host(source.absolute(), guest, owner)

    def _add_host(self, source: Path, guest: str, owner: User) -> None:
        status = source.lstat()
        if stat.S_ISLNK(status.st_mode) and guest not in self.entries and not source.is_file():
            self.link(guest, os.readlink(source))
        elif stat.S_ISREG(status.st_mode) or (stat.S_ISLNK(status.st_mode) and source.is_file()):
            self.file(guest, source, stat.S_IMODE(source.stat().st_mode) & 0o777, owner)
        elif stat.S_ISDIR(status.st_mode):
            there = self.follow(guest)
            if there is None or not stat.S_ISDIR(there.mode):
                self.folder(guest, 0o755, owner.uid, owner.gid)
            for child in sorted(source.iterdir()):
                status = child.lstat()
                if stat.S_ISLNK(status.st_mode):
                    self.link(f"{guest}/{child.name}", os.readlink(child))
                else:
                    self._add_host(child, f"{guest}/{child.name}", owner)
        # Sockets, devices and pipes of the host have no business in an image.

    def items(self) -> list[tuple[str, Entry]]:
        """Entries in an order that puts a folder before what it holds."""
        return sorted(self.entries.items(), key=lambda item: PurePosixPath(item[0]).parts)

    def signature(self) -> str:
        """Names the content: equal trees have equal signatures."""
        digest = hashlib.sha256(f"chainwalk tree 1 {EPOCH}\n".encode())
        for path, entry in sorted(self.entries.items()):
            digest.update(f"{path}\0{entry.identity()}\n".encode("utf-8", "surrogateescape"))
        return digest.hexdigest()[:24]


def find_busybox() -> Path:
    """The static busybox of the host (or $BUSYBOX)."""
    for candidate in (os.environ.get("BUSYBOX"), "/bin/busybox", "/usr/bin/busybox", "/bin/busybox.static"):
        if candidate and Path(candidate).exists():
            return Path(candidate).resolve()
    raise LabError("no static busybox: install busybox-static (make setup), or set BUSYBOX=FILE")


@cache
def applets(busybox: Path) -> list[str]:
    """The paths of busybox's applets, kept beside the images since asking takes a process."""
    status = busybox.stat()
    kept = output_folder() / "images" / f"applets-{status.st_size}-{status.st_mtime_ns}"
    try:
        return kept.read_text().split()
    except OSError:
        pass
    listing = subprocess.run([busybox, "--list-full"], capture_output=True, text=True, check=True).stdout
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(listing)
    return listing.split()


PASSWD = "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/home/user:/bin/sh\n"
GROUP = "root:x:0:\ntty:x:5:\nuser:x:1000:\n"
MERGED = ("bin", "sbin", "lib", "lib64")
# What Debian's programs look up besides: the users and groups of base-passwd that own files or are dropped to.
DEBIAN_PASSWD = """\
daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
bin:x:2:2:bin:/bin:/usr/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
"""
DEBIAN_GROUP = """\
daemon:x:1:
bin:x:2:
adm:x:4:
disk:x:6:
mail:x:8:
utmp:x:43:
staff:x:50:
shadow:x:42:
nogroup:x:65534:
"""
PROFILE = """\
export PS1='\\u@chainwalk:\\w\\$ '
alias ll='ls -l'
"""


def base_tree(merged: bool = False) -> Tree:
    """A small system: busybox with a link for each applet, init, root and an ordinary user.

    @merged: with Debian's layout, where /bin, /sbin and /lib are links into /usr."""
    tree = Tree()
    if merged:
        for name in MERGED:
            tree.folder(f"/usr/{name}")
            tree.link(f"/{name}", f"usr/{name}")
    for name in ("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/etc", "/mnt", "/var/tmp"):
        tree.folder(name)
    for name in ("/dev", "/proc"):
        tree.folder(name, 0o555 if name == "/proc" else 0o755)
    tree.folder("/tmp", 0o1777)
    tree.folder("/var/tmp", 0o1777)
    tree.folder("/root", 0o700)
    tree.folder("/home/user", 0o755, 1000, 1000)
    busybox = find_busybox()
    tree.file("/bin/busybox", busybox, 0o755)
    for applet in applets(busybox):
        if applet not in ("bin/busybox", "linuxrc"):
            tree.link(applet, "/bin/busybox")
    tree.file("/init", output_folder() / "user" / "init", 0o755)
    tree.text("/etc/passwd", PASSWD + (DEBIAN_PASSWD if merged else ""))
    tree.text("/etc/group", GROUP + (DEBIAN_GROUP if merged else ""))
    tree.text("/etc/profile", PROFILE)
    tree.text("/etc/hostname", "chainwalk\n")
    tree.text("/etc/os-release", 'NAME="Chainwalk"\nID=chainwalk\nPRETTY_NAME="Chainwalk"\n')
    for program in sorted((output_folder() / "user").glob("*")):
        if program.name not in ("init", "linuxinit") and program.is_file() and _has_source(program.name):
            tree.file(f"/usr/local/bin/{program.name}", program, 0o755)
    tree.link("/bin/workload", "/usr/local/bin/workload")
    return tree


def _has_source(program: str) -> bool:
    """What was built once of a source that is gone is in no image."""
    return (TOP / "user" / f"{program}.c").exists() or (TOP / "user" / program).is_dir()


__all__ = ["EPOCH", "Entry", "Tree", "applets", "base_tree", "find_busybox", "TOP"]
