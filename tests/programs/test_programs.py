"""Real programs from Debian's packages, dynamically linked: their output and the trees they leave are Linux's.

Each job of lab/jobs runs on Debian's kernel and on Chainwalk, with the same image in the same machine: on tmpfs with four
CPUs, and on ext2, eight at once with four CPUs or, what is not among the eight, alone with one. A script prints what its programs said and the whole tree at the end (types,
modes, owners, links, sizes, checksums). What Linux answered is kept beside the images by what went into it.
"""

from __future__ import annotations

import difflib
import fcntl
import hashlib
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from lab.base.paths import output_folder
from lab.guest import jobs, packages
from lab.run import machine

# Those that take longest are there once.
TOGETHER = ("tools", "git", "make", "sqlite", "perl", "sqlite", "perl", "dbench")

pytestmark = pytest.mark.skipif(not shutil.which("apt-get"), reason="no apt on this machine")


def on_linux(name: str) -> str:
    """What Linux says of a job, asked once for each state of the packages and the scripts."""
    job = jobs.find(name)
    chosen = packages.package_set(list(job.packages))
    digest = hashlib.sha256(repr(sorted(package.folder.name for package in chosen.packages)).encode())
    for source in (Path(jobs.__file__), jobs.COMMON, job.path):
        digest.update(source.read_bytes())
    folder = output_folder() / "on-linux"
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / f"{name}-{digest.hexdigest()[:24]}"
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            options = machine.Options(quiet=True, build=False, timeout=600).with_job(job)
            result = machine.run(replace(options, kernel="linux", settings=[]))
            said = result.output.decode(errors="replace")
            assert result.kind == "exit" and not result.status, f"Linux: {result.message}\n{said[-3000:]}"
            kept.write_text(said)
    return kept.read_text()


def same(job: str, linux: str, found: str) -> None:
    difference = list(difflib.unified_diff(linux.splitlines(), found.splitlines(), "Linux", "Chainwalk", "", "", 1, ""))
    assert not difference, f"{job}: {len(difference)} lines\n" + "\n".join(difference[:80])


ON_EXT2, ON_TMPFS = ("ext2", "/work", 1), ("tmpfs", "/tmp/work", 4)
# Python's takes minutes, and tmpfs has no xattrs of users, which its tests use: it runs on ext2 with four CPUs, once.
SPECIAL = {"python": [("ext2", "/work", 4)]}
WAYS = [
    pytest.param(job, work, cpus, id=f"{job}-{kind}-{cpus}")
    for job in jobs.names()
    for kind, work, cpus in SPECIAL.get(job, [ON_TMPFS] if job in TOGETHER else [ON_EXT2, ON_TMPFS])
]


def chosen(options: machine.Options, **others) -> dict:
    """What a job wants of its machine."""
    return {key: getattr(options, key) for key in ("packages", "add", "mem", "ext2", "environment")} | others


@pytest.mark.turns(10)
@pytest.mark.long
@pytest.mark.parametrize(("name", "work", "cpus"), WAYS)
def test_as_on_linux(cw_run, name, work, cpus):
    """A job that wants optional rooms runs on the kernel that has them all: it stands, and need not be built for the one."""
    options = machine.Options().with_job(jobs.find(name), work)
    result = cw_run(
        options.job, debug=False, full=bool(options.settings), smp=cpus, timeout=600, **chosen(options)
    )  # fmt: skip
    same(name, on_linux(name), result.output.decode(errors="replace"))


@pytest.mark.turns(10)
@pytest.mark.long
def test_eight_at_once_in_128_megabytes(cw_run):
    """With the kernel that checks itself; each of the eight says what it says alone."""
    options = machine.Options()
    for name in sorted(set(TOGETHER)):
        options = options.with_job(jobs.find(name))
    start = "".join(
        f"WORK=/work{n} bash /jobs/{name}.sh </dev/null >/out{n} 2>&1 & " for n, name in enumerate(TOGETHER)
    )
    script = f'{start} wait; for n in 0 1 2 3 4 5 6 7; do echo "== $n"; cat /out$n; done'
    result = cw_run(script=script, smp=4, timeout=900, **chosen(options, mem="128M"))
    parts = result.output.decode(errors="replace").split("== ")[1:]
    assert len(parts) == len(TOGETHER)
    for name, part in zip(TOGETHER, parts, strict=True):
        same(name, on_linux(name), part.partition("\n")[2])
