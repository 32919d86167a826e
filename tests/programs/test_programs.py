"""Real programs from Debian's packages, dynamically linked: their output and the trees they leave are Linux's.

Each script of jobs/ runs on Debian's kernel and on Chainwalk, with the same image in the same machine: on ext2 and
on tmpfs, with one CPU and with four. A script prints what its programs said and the whole tree at the end (types,
modes, owners, links, sizes, checksums). What Linux answered is kept beside the images by what went into it.
"""

from __future__ import annotations

import difflib
import fcntl
import hashlib
import os
import shutil
import urllib.request
from pathlib import Path

import pytest

from lab import machine, packages
from lab.image import Ext2
from lab.paths import cache_folder, output_folder

JOBS = Path(__file__).parent / "jobs"
PACKAGES = {
    "tools": "bash coreutils findutils grep sed gawk tar gzip diffutils patch perl-modules-5.36",
    "git": "bash coreutils findutils git",
    "build": "bash coreutils findutils make tcc gcc libc6-dev tar gzip",
    "sqlite": "bash coreutils sqlite3",
    "python": "bash coreutils findutils grep sed python3 libpython3.11-testsuite",
    "perl": "bash coreutils perl",
    "dbench": "bash coreutils findutils dbench",
}
TOGETHER = ("tools", "git", "build", "sqlite", "perl", "tools", "git", "dbench")
# Lua 5.4.4 as Debian has it: the C program that make and tcc build.
LUA = "http://deb.debian.org/debian/pool/main/l/lua5.4/lua5.4_5.4.4.orig.tar.gz"
LUA_SHA256 = "164c7849653b80ae67bec4b7473b884bf5cc8d2dca05653475ec2ed27b9ebf61"

pytestmark = pytest.mark.skipif(not shutil.which("apt-get"), reason="no apt on this machine")


@pytest.fixture(scope="session")
def lua() -> Path:
    """The source archive, fetched once and checked."""
    archive = cache_folder() / "lua-5.4.4.tar.gz"
    if not archive.exists():
        with urllib.request.urlopen(LUA, timeout=60) as answer:
            data = answer.read()
        assert hashlib.sha256(data).hexdigest() == LUA_SHA256, f"{LUA} is not what it was"
        new = archive.with_name(f".new-{os.getpid()}")
        new.write_bytes(data)
        new.replace(archive)
    return archive


def wanted(*jobs: str) -> list[str]:
    return sorted({name for job in jobs for name in PACKAGES[job].split()})


def given(lua: Path, *jobs: str, **options) -> dict:
    options.setdefault("mem", "1G")
    options["ext2"] = Ext2(free_bytes=512 << 20, free_inodes=30000)
    return {"packages": wanted(*jobs), "add": [f"{JOBS}:/jobs", f"{lua}:/root/lua.tar.gz"], "timeout": 600, **options}


def script_of(job: str, work: str) -> str:
    return f"WORK={work} exec bash /jobs/{job}.sh </dev/null 2>&1 | cat"


def on_linux(job: str, lua: Path) -> str:
    """What Linux says of @job, asked once for each state of the packages and the scripts."""
    chosen = packages.package_set(wanted(job))
    digest = hashlib.sha256(repr(sorted(package.folder.name for package in chosen.packages)).encode())
    for source in (Path(__file__), JOBS / "common.sh", JOBS / f"{job}.sh"):
        digest.update(source.read_bytes())
    folder = output_folder() / "on-linux"
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / f"{job}-{digest.hexdigest()[:24]}"
    with (folder / f"{job}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            result = machine.run(
                machine.Options(
                    kernel="linux", job=["/bin/sh", "-c", script_of(job, "/work")], quiet=True, build=False,
                    **given(lua, job),
                )
            )  # fmt: skip
            said = result.output.decode(errors="replace")
            assert result.kind == "exit", f"Linux: {result.message}\n{said[-3000:]}"
            kept.write_text(said)
    return kept.read_text()


def same(job: str, linux: str, found: str) -> None:
    difference = list(difflib.unified_diff(linux.splitlines(), found.splitlines(), "Linux", "Chainwalk", "", "", 1, ""))
    assert not difference, f"{job}: {len(difference)} lines\n" + "\n".join(difference[:80])


# All four ways for each but python's: its tests take minutes, and tmpfs has no xattrs of users, which they use.
WAYS = [
    pytest.param(job, work, cpus, id=f"{job}-{kind}-{cpus}")
    for job in PACKAGES
    for kind, work in (("ext2", "/work"), ("tmpfs", "/tmp/work"))
    for cpus in (1, 4)
    if job != "python" or (kind, cpus) in (("ext2", 1), ("ext2", 4))
]


@pytest.mark.parametrize(("job", "work", "cpus"), WAYS)
def test_as_on_linux(cw_run, lua, job, work, cpus):
    result = cw_run(script=script_of(job, work), debug=False, smp=cpus, **given(lua, job))
    same(job, on_linux(job, lua), result.output.decode(errors="replace"))


def test_eight_at_once_in_128_megabytes(cw_run, lua):
    """With the kernel that checks itself; each of the eight says what it says alone."""
    start = "".join(f"WORK=/work{n} bash /jobs/{job}.sh </dev/null >/out{n} 2>&1 & " for n, job in enumerate(TOGETHER))
    script = f'{start} wait; for n in 0 1 2 3 4 5 6 7; do echo "== $n"; cat /out$n; done'
    result = cw_run(script=script, smp=4, **given(lua, *TOGETHER, mem="128M", timeout=900))
    parts = result.output.decode(errors="replace").split("== ")[1:]
    assert len(parts) == len(TOGETHER)
    for job, part in zip(TOGETHER, parts, strict=True):
        same(job, on_linux(job, lua), part.partition("\n")[2])
