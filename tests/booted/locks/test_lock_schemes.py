"""Walks without locks, and lock schemes other than the default, as debug kernels on four CPUs (lockless.c)."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from lab.base.paths import TOP
from lab.check.fuzz import both
from lab.check.kernels import debug_output
from tests.musl import static_program

HERE = Path(__file__).parent
SCHEMES = {"others": ["DENTRY_LOCK=bucket", "INODE_LOCK=sequence", "BUFFER_LOCK=sequence", "PAGE_LOCK=rwlock"]}

OTHERS = [pytest.param(name, marks=pytest.mark.builds(f"a kernel of {name} lock schemes")) for name in SCHEMES]

# Files are read and found, and new ones come and go, while all caches are dropped again and again and the disk under
# the file system is read, block by block.
LOOKUPS = """
cd /root
for i in $(seq 60); do echo text $i > file$i; done
sync
drop() { for n in $(seq 30); do echo 3 > /proc/sys/vm/drop_caches; done; }
look() { for n in $(seq 6); do for i in $(seq 60); do read found < file$i; [ "$found" = "text $i" ] || echo wrong: $found; done; done; }
make() { for n in $(seq 16); do for i in 1 2 3 4 5 6 7 8; do echo new > new$i; done; rm new?; done; }
scan() { cat /dev/ram0 > /dev/null; }
drop & look & look & make & scan & wait
echo looked
"""


@pytest.fixture(scope="session")
def lockless(tmp_path_factory) -> Path:
    return static_program(tmp_path_factory.mktemp("lockless") / "lockless", HERE / "lockless.c")


@pytest.fixture(scope="module")
def kernel(tmp_path_factory) -> Callable[[str], str]:
    """Where a debug kernel with these schemes is, and all that Linux's programs ask for: built when first asked for."""
    folder = tmp_path_factory.mktemp("schemes")

    @cache
    def build(schemes: str) -> str:
        output = str(folder / schemes)
        settings = f"SET={' '.join((*SCHEMES[schemes], 'DEBUG=y'))}"
        command = ["make", "-j2", "kernel", "user", "DEFCONFIG=full", settings, f"O={output}"]
        done = subprocess.run(command, cwd=TOP, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        return output

    return build


@pytest.mark.turns(4)
@pytest.mark.parametrize("schemes", ["default", *OTHERS])
def test_walks(cw, schemes, kernel, lockless, monkeypatch):
    """Nobody misses what always exists, or reaches what is forbidden; the debug kernel finds nothing at the end, and what was removed is gone."""
    monkeypatch.setenv("CW_OUTPUT", debug_output() if schemes == "default" else kernel(schemes))
    monkeypatch.setenv("CW_BUILD", "no")
    options = ["--add", f"{lockless}:/lockless", "--smp", "4", "--mem", "128M", "--quiet", "--timeout", "120"]
    free = "df -i / | awk 'END {print $4}'"
    script = f"mkdir /root/w && chmod 755 /root /root/w && before=$({free}) && /lockless /root/w 8 && rm -r /root/w && sync && "
    script += f"after=$({free}) && [ $after -ge $before ] || echo lost $before - $after inodes"
    result = cw("run", *options, "--", "/bin/sh", "-c", script, timeout=600)
    output = result.stdout.decode(errors="replace")
    assert result.returncode == 0, output + result.stderr.decode(errors="replace")
    assert "lockless: ok" in output and "lost" not in output, output


@pytest.mark.turns(2)
@pytest.mark.parametrize("schemes", ["default", *OTHERS])
def test_lookups(cw, schemes, kernel, monkeypatch):
    """What is there is found, and is what was looked for, while it is dropped and comes back; the disk is sound."""
    monkeypatch.setenv("CW_OUTPUT", debug_output() if schemes == "default" else kernel(schemes))
    monkeypatch.setenv("CW_BUILD", "no")
    options = ["--root", "ext2", "--smp", "4", "--mem", "128M", "--quiet", "--timeout", "200"]
    result = cw("run", *options, "--", "/bin/sh", "-c", LOOKUPS, timeout=600)
    output = result.stdout.decode(errors="replace")
    assert result.returncode == 0 and output == "looked\n", output + result.stderr.decode(errors="replace")


@pytest.mark.turns(2)
@pytest.mark.parametrize("schemes", OTHERS)
@pytest.mark.parametrize("root", both.ROOTS)
def test_sequences_as_on_linux(kernel, monkeypatch, root, schemes):
    """Links, mounts and dots in paths that are walked with references alone lead where Linux's walk leads."""
    if why := both.cannot_judge():
        pytest.skip(why)
    monkeypatch.setenv("CW_OUTPUT", kernel(schemes))
    work = both.Work(first=0, count=1000)
    ours = both.run_here(root, work, 1)
    assert not ours.ended, ours.ended
    assert ours.absent == both.ABSENT[root]
    linux = both.run_on_linux(root, work, ours.absent)
    wrong = [seed for seed in range(work.count) if ours.sums.get(seed) != linux.sums.get(seed)]
    settings = " ".join(f"--set {choice}" for choice in SCHEMES[schemes])
    assert not wrong, f"sequences that differ on {root}: {wrong[:50]}; ./cw fuzz {settings} shrinks them"
