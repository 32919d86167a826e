"""Debian packages for an image: found, downloaded and unpacked without being installed anywhere.

A set of packages is resolved by apt with a state of its own, in which nothing is installed: so every
dependency comes along, down to libc6 with its ld.so. (Recommended packages do not: libc6-dev of a compiler is
one to name.) Each package is unpacked once, into the cache folder:

    apt/                          apt's own state: sources, index, no installed package
    unpacked/NAME_VERSION_ARCH/   files/ and manifest.json: modes, owners, links, alternatives
    sets/KEY/                     what one request came to: `packages` (NAME=VERSION, a line each), ld.so.cache

A request that was answered once is answered the same way from then on, versions and all, without apt; `./cw
packages --update` forgets the answers. Maintainer scripts are not run. What they would have done that a
program needs is done here: ld.so.cache, the links of update-alternatives. docs/lab/packages.md says more.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lab.base.paths import LabError, cache_folder
from lab.guest.tree import Entry, Tree

NAME = re.compile(r"[a-z0-9][a-z0-9+.-]+(=[A-Za-z0-9.+~:-]+)?")
INST = re.compile(r"^Inst (\S+) .*?\((\S+) .*?\[(\w+)\]\)", re.MULTILINE)
ALTERNATIVE = re.compile(r"--install\s+(/[\w./+-]+)\s+([\w.+-]+)\s+(/[\w./+-]+)\s+(\d+)")
DEBIAN_URI = re.compile(r"https?://\S+/debian(-security)?/?(?=\s|$)", re.MULTILINE)
PROGRAMS = ("/usr/bin", "/usr/sbin", "/usr/local/bin")
DOCUMENTS = tuple(f"/usr/share/{name}/" for name in "doc man info locale lintian bug doc-base gtk-doc".split())
SHELL = "dash"  # /bin/sh of Debian; busybox's would run its own applets before the packages' programs
KERNEL, KERNEL_FILES = "linux-image-cloud-amd64", r"linux-image-\d.*-cloud-amd64"
KEPT_SETS = 40
FORMAT = "1"  # of the cache's content: another number, another place


@dataclass(frozen=True)
class Package:
    """One package as it was unpacked."""

    name: str
    version: str
    architecture: str

    @property
    def folder(self) -> Path:
        version = self.version.replace(":", "%3a")
        return _cache() / "unpacked" / f"{self.name}_{version}_{self.architecture}"


@dataclass(frozen=True)
class PackageSet:
    """What a request came to: these packages, with all that they depend on."""

    packages: tuple[Package, ...]
    folder: Path

    def versions(self) -> list[str]:
        return [f"{package.name}={package.version}" for package in self.packages]


def _cache() -> Path:
    return cache_folder() / f"packages-{FORMAT}"


def package_set(requested: Iterable[str]) -> PackageSet:
    """The set for these packages (NAME or NAME=VERSION), from the cache where it is there already."""
    names = sorted({*requested, SHELL})
    for name in names:
        if not NAME.fullmatch(name):
            raise LabError(f"--package {name}: give a package's name as Debian writes it, or NAME=VERSION")
    return _set_of(names)


def kernel_package(version: str) -> Package:
    """Debian's cloud kernel, without what it would depend on where it is installed; "" is the newest."""
    if version and not NAME.fullmatch(f"linux={version}"):
        raise LabError(f"--kernel linux={version}: that is no version as Debian writes it")
    return _set_of([f"{KERNEL}={version}" if version else KERNEL], KERNEL_FILES).packages[0]


def _set_of(names: list[str], only: str = "") -> PackageSet:
    """The set that @names come to; of it, the packages whose whole name fits the expression @only."""
    key = hashlib.sha256("\n".join([*names, only]).encode()).hexdigest()[:24]
    folder = _cache() / "sets" / key
    found = _read_set(folder)
    if found is None:
        with _lock():
            found = _read_set(folder) or _make_set(names, only, folder)
    os.utime(folder)
    return found


def add_packages(
    tree: Tree, chosen: PackageSet, documents: bool = False, wanted: Callable[[str], bool] | None = None
) -> None:
    """Put the files of @chosen into @tree (a base_tree(merged=True)), without documents unless wanted.

    @wanted: takes a path; of files and links only those come for which it is true."""
    alternatives: dict[str, tuple[int, str, str]] = {}
    for package in chosen.packages:
        manifest = _manifest(package.folder)
        entries = manifest["entries"]
        if wanted:
            entries = [entry for entry in entries if not stat.S_ISDIR(entry[1]) and wanted(entry[0])]
        _add_files(tree, package, entries, documents)
        for link, name, path, priority in manifest["alternatives"]:
            if (documents or "/man/" not in link) and priority > alternatives.get(link, (-1,))[0]:
                alternatives[link] = (priority, name, path)
    for link, (_, name, path) in sorted(alternatives.items()):
        if tree.has(path):
            _put(tree, link, Entry(stat.S_IFLNK | 0o777, content=os.fsencode(f"/etc/alternatives/{name}")))
            tree.link(f"/etc/alternatives/{name}", path)
    tree.file("/etc/ld.so.cache", chosen.folder / "ld.so.cache")


def _add_files(tree: Tree, package: Package, entries: list, documents: bool) -> None:
    for path, mode, uid, gid, target in entries:
        if path.startswith(DOCUMENTS) and not documents:
            continue
        if stat.S_ISREG(mode):
            _put(tree, path, Entry(mode, uid, gid, source=package.folder / "files" / (target or path).lstrip("/")))
        elif stat.S_ISLNK(mode):
            _put(tree, path, Entry(mode, uid, gid, content=os.fsencode(target)))
        elif not tree.has(path):
            tree.put(path, Entry(mode, uid, gid))


def _put(tree: Tree, path: str, entry: Entry) -> None:
    """Put a file or link; where it is a program, busybox's applet of that name makes room in every folder."""
    path = tree.put(path, entry)
    folder, _, name = path.rpartition("/")
    if folder in PROGRAMS:
        for other in PROGRAMS:
            if other != folder and tree.is_applet(f"{other}/{name}"):
                tree.remove(f"{other}/{name}")


def list_sets() -> list[list[str]]:
    """The versions of each set in the cache, the latest used first."""
    folders = sorted((_cache() / "sets").glob("[0-9a-f]*"), key=lambda path: path.stat().st_mtime, reverse=True)
    return [found.versions() for found in map(_read_set, folders) if found]


def update() -> None:
    """Forget how requests were answered, and get apt's newest index."""
    with _lock():
        shutil.rmtree(_cache() / "sets", ignore_errors=True)
        _update_index()


def clear() -> None:
    """Remove all that the cache holds."""
    with _lock():
        for name in ("sets", "unpacked", "apt"):
            shutil.rmtree(_cache() / name, ignore_errors=True)


# ---- the cache -------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _lock() -> Iterator[None]:
    """One maker of sets at a time. What one that was killed has left half made is removed."""
    folder = _cache()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        for left in folder.glob("*/.new-*"):
            shutil.rmtree(left, ignore_errors=True)
        yield


@contextlib.contextmanager
def _new_folder(final: Path) -> Iterator[Path]:
    """A folder that becomes @final when the block ends well, and nothing otherwise."""
    final.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".new-", dir=final.parent))
    try:
        yield made
        shutil.rmtree(final, ignore_errors=True)
        made.rename(final)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def _read_set(folder: Path) -> PackageSet | None:
    try:
        lines = (folder / "packages").read_text().split("\n")
    except OSError:
        return None
    packages = tuple(Package(*line.split()) for line in lines if line)
    whole = all((package.folder / "manifest.json").exists() for package in packages)
    return PackageSet(packages, folder) if whole else None


@cache
def _manifest(folder: Path) -> dict:
    return json.loads((folder / "manifest.json").read_text())


def _make_set(names: list[str], only: str, folder: Path) -> PackageSet:
    packages = [package for package in _resolve(names) if not only or re.fullmatch(only, package.name)]
    missing = [package for package in packages if not (package.folder / "manifest.json").exists()]
    if missing:
        _say(f"{len(missing)} of {len(packages)} packages to download and unpack")
        _download(missing)
    with _new_folder(folder) as made:
        made.chmod(0o755)
        lines = [f"{package.name} {package.version} {package.architecture}\n" for package in packages]
        (made / "packages").write_text("".join(lines))
        (made / "ld.so.cache").write_bytes(_library_cache(packages))
    _forget_old_sets()
    return PackageSet(tuple(packages), folder)


def _forget_old_sets() -> None:
    folders = sorted((_cache() / "sets").glob("[0-9a-f]*"), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in folders[KEPT_SETS:]:
        shutil.rmtree(old, ignore_errors=True)
    used = {package.folder for kept in map(_read_set, folders[:KEPT_SETS]) if kept for package in kept.packages}
    for unpacked in (_cache() / "unpacked").iterdir():
        if unpacked not in used and unpacked.stat().st_mtime < time.time() - 86400:
            shutil.rmtree(unpacked, ignore_errors=True)


def _library_cache(packages: list[Package]) -> bytes:
    """What ldconfig makes of the libraries of @packages: it looks at a folder of links to them alone."""
    with tempfile.TemporaryDirectory(prefix=".new-", dir=_cache() / "sets") as name:
        root = Path(name)
        for merged in ("lib", "lib64"):
            (root / "usr" / merged).mkdir(parents=True)
            (root / merged).symlink_to(f"usr/{merged}")
        (root / "etc" / "ld.so.conf.d").mkdir(parents=True)
        (root / "etc" / "ld.so.conf").write_text(LIBRARY_FOLDERS)
        for package in packages:
            for path, mode, _, _, target in _manifest(package.folder)["entries"]:
                there = root / path.lstrip("/")
                if ".so" not in there.name or stat.S_ISDIR(mode) or os.path.lexists(there):
                    continue
                there.parent.mkdir(parents=True, exist_ok=True)
                if stat.S_ISLNK(mode):
                    there.symlink_to(target)
                else:
                    os.link(package.folder / "files" / (target or path).lstrip("/"), there)
        _run(["ldconfig", "-X", "-i", "-r", str(root), "-f", "/etc/ld.so.conf", "-C", "/etc/ld.so.cache"])
        return (root / "etc" / "ld.so.cache").read_bytes()


LIBRARY_FOLDERS = "".join(
    f"{folder}\n" for folder in ("/usr/local/lib", "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/usr/lib")
)


# ---- apt -------------------------------------------------------------------------------------------------


def _say(text: str) -> None:
    print(f"cw: packages: {text}", file=sys.stderr, flush=True)


class AptError(LabError):
    """apt could not do it; a fresh index may help."""


def _run(command: list[str], folder: Path | None = None, refreshable: bool = False) -> str:
    environment = {**os.environ, "LC_ALL": "C", "APT_CONFIG": str(_cache() / "apt" / "apt.conf")}
    try:
        result = subprocess.run(
            command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise LabError(
            f"--package needs {command[0]}, of Debian or a system made from it. Elsewhere: put what you need into the"
            " image with --add, or copy ~/.cache/chainwalk of a Debian machine that has run the same command"
        ) from None
    if result.returncode:
        errors = [line[3:] for line in result.stderr.splitlines() if line.startswith("E: ")]
        text = "\n".join(errors) or result.stderr.strip() or f"{command[0]} ended with {result.returncode}"
        raise (AptError if refreshable else LabError)(f"packages: {text}{_advice(text)}")
    return result.stdout


def _advice(text: str) -> str:
    if "Unable to locate package" in text or "has no installation candidate" in text:
        return "\n(apt-cache search WORD finds a package's name; ./cw packages --update gets the newest index)"
    if "was not found" in text and "Version" in text:
        return "\n(apt-cache policy NAME shows the versions there are; ./cw packages --update gets the newest index)"
    if "Could not resolve" in text or "Failed to fetch" in text or "Could not connect" in text:
        return "\n(a set of packages that was used before needs no network; a new one does)"
    return ""


def _prepare_apt() -> Path:
    """apt's state: the Debian sources and the network settings of this machine, and nothing installed."""
    folder = _cache() / "apt"
    for name in ("lists/partial", "archives/partial", "sources"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    environment = {key: value for key, value in os.environ.items() if key != "APT_CONFIG"}
    try:
        dump = subprocess.run(["apt-config", "dump"], env=environment, capture_output=True, text=True, check=True)
    except FileNotFoundError:
        dump = None
    network = [line for line in (dump.stdout if dump else "").splitlines() if NETWORK.match(line)]
    settings = {
        "Dir::Etc::main": "/dev/null", "Dir::Etc::parts": "/dev/null", "Dir::Etc::sourcelist": "/dev/null",
        "Dir::Etc::sourceparts": folder / "sources", "Dir::State": folder, "Dir::State::status": folder / "status",
        "Dir::Cache": folder, "APT::Sandbox::User": "root", "APT::Architecture": "amd64",
        "APT::Install-Recommends": "false", "APT::Get::Assume-Yes": "true", "Acquire::Languages": "none",
        "Acquire::Retries": "2",
    }  # fmt: skip
    lines = [*network, *(f'{name} "{value}";' for name, value in settings.items())]
    (folder / "apt.conf").write_text("\n".join(lines) + "\n")
    if not list((folder / "sources").iterdir()):
        _take_sources(folder / "sources")
    return folder


NETWORK = re.compile(r"Acquire::(http|https|ftp|Proxy|Check-|ForceIPv|By-Hash)")


def _take_sources(target: Path) -> None:
    """The entries of this machine's sources (or of the file $CW_SOURCES) that name a Debian archive."""
    chosen = os.environ.get("CW_SOURCES")
    etc = Path("/etc/apt")
    files = [Path(chosen)] if chosen else [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]
    for path in files:
        if path.suffix not in (".list", ".sources") or not path.exists():
            continue
        separator = "\n" if path.suffix == ".list" else "\n\n"
        parts = [part for part in re.split(separator, path.read_text()) if DEBIAN_URI.search(part)]
        parts = [part for part in parts if not part.lstrip().startswith("#")] if separator == "\n" else parts
        if parts:
            (target / path.name).write_text(separator.join(parts) + "\n")
    if not list(target.iterdir()):
        raise LabError(
            "packages come from Debian's archive, and this machine's apt knows none: write a sources file"
            " (deb http://MIRROR/debian bookworm main) and name it: CW_SOURCES=FILE.list ./cw run --package ..."
        )


def _update_index() -> None:
    folder = _prepare_apt()
    _say("getting the index of packages")
    _run(["apt-get", "update", "-q", "-o", "APT::Update::Error-Mode=any"])
    (folder / "updated").touch()


def _index_age() -> float:
    """Seconds since the index was got."""
    try:
        return time.time() - (_cache() / "apt" / "updated").stat().st_mtime
    except OSError:
        return float("inf")


def _resolve(names: list[str]) -> list[Package]:
    """All packages that @names come to, in the order in which apt would unpack them."""
    _prepare_apt()
    if _index_age() == float("inf"):
        _update_index()
    command = ["apt-get", "install", "-s", "-q", *names]
    try:
        answer = _run(command, refreshable=True)
    except AptError:
        if _index_age() < 600:
            raise
        _update_index()
        answer = _run(command)
    return [Package(name.partition(":")[0], version, arch) for name, version, arch in INST.findall(answer)]


def _download(packages: list[Package]) -> None:
    """Download and unpack; each package is in the cache as soon as it is whole."""
    with tempfile.TemporaryDirectory(prefix=".new-", dir=_cache() / "apt") as name:
        folder = Path(name)
        command = ["apt-get", "download", "-q", *(f"{package.name}={package.version}" for package in packages)]
        try:
            _run(command, folder, refreshable=True)
        except AptError as error:
            if _index_age() < 600:
                raise
            _update_index()  # an old index names versions that are no longer to be had
            raise LabError(f"{error}\n(the index was old and has been renewed: run the command again)") from None
        for package in packages:
            version = package.version.replace(":", "%3a")
            _unpack(package, folder / f"{package.name}_{version}_{package.architecture}.deb")


# ---- unpacking -------------------------------------------------------------------------------------------


def _unpack(package: Package, archive: Path) -> None:
    with _new_folder(package.folder) as made:
        made.chmod(0o755)
        entries = []
        with _tar_of(archive, "--fsys-tarfile") as tar:
            for member in tar:
                entry = _unpack_member(tar, member, made / "files")
                if entry:
                    entries.append(entry)
        manifest = {"entries": entries, "alternatives": _alternatives(archive)}
        (made / "manifest.json").write_text(json.dumps(manifest))


@contextlib.contextmanager
def _tar_of(archive: Path, which: str) -> Iterator[tarfile.TarFile]:
    with subprocess.Popen(["dpkg-deb", which, str(archive)], stdout=subprocess.PIPE) as process:
        with tarfile.open(fileobj=process.stdout, mode="r|") as tar:
            yield tar
        process.communicate()
    if process.returncode:
        raise LabError(f"packages: {archive.name} cannot be unpacked (is the disk full?)")


def _unpack_member(tar: tarfile.TarFile, member: tarfile.TarInfo, files: Path) -> tuple | None:
    """[path, mode, uid, gid, target] of one file, folder or link; a hard link's target is the file it shares."""
    path = os.path.normpath("/" + member.name)
    if path == "/":
        return None
    mode = member.mode & 0o7777
    if member.isdir():
        return path, stat.S_IFDIR | mode, member.uid, member.gid, ""
    if member.issym():
        return path, stat.S_IFLNK | 0o777, member.uid, member.gid, member.linkname
    if member.islnk():
        return path, stat.S_IFREG | mode, member.uid, member.gid, os.path.normpath("/" + member.linkname)
    if not member.isreg():
        return None
    target = files / path.lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    content = tar.extractfile(member)
    assert content is not None
    with target.open("wb") as out:
        shutil.copyfileobj(content, out)
    return path, stat.S_IFREG | mode, member.uid, member.gid, ""


def _alternatives(archive: Path) -> list[tuple[str, str, str, int]]:
    """(link, name, path, priority) of each alternative that the package's postinst would register."""
    found: list[tuple[str, str, str, int]] = []
    with _tar_of(archive, "--ctrl-tarfile") as tar:
        for member in tar:
            if os.path.normpath(member.name) == "postinst":
                script = tar.extractfile(member)
                assert script is not None
                text = script.read().decode(errors="replace").replace("\\\n", " ")
                found += [(link, name, path, int(rank)) for link, name, path, rank in ALTERNATIVE.findall(text)]
    return found
