"""Direct lookup (DCACHE_FASTPATH): whole paths found at once, by whom they may be, and never after it is not so any more."""

from __future__ import annotations

import re

import pytest

from lab.build.kernel import build
from tests.differential.test_differential import DIFFERENT_ON_EXT2, RECORD, by_name, compile_scenarios

# A second user reads a file four directories down while rights, names and mounts above it change. He does so often
# enough that his credential has a prefix cache. What is printed in capitals should not have happened.
SCRIPT = """
set -e; echo "u:x:1000:1000:u:/:/bin/sh" >> /etc/passwd
as_user() { su -s /bin/sh u -c "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do cat /tmp/p/q/r/s/f $1; done; true"; }
mkdir -p /tmp/p/q/r/s; echo x > /tmp/p/q/r/s/f; chmod 755 /tmp/p /tmp/p/q /tmp/p/q/r /tmp/p/q/r/s; chmod 644 /tmp/p/q/r/s/f
as_user "> /dev/null || echo LOST"
for directory in /tmp/p /tmp/p/q /tmp/p/q/r /tmp/p/q/r/s; do
    chmod 700 $directory; as_user "> /dev/null 2>&1 && echo LEAK"
    chmod 755 $directory; as_user "> /dev/null || echo LOST"
    chown 1000 $directory; chmod 700 $directory; as_user "> /dev/null || echo LOST"
    chown 0 $directory; as_user "> /dev/null 2>&1 && echo LEAK"
    chmod 755 $directory
done
cd /tmp/p/q/r; chmod 700 /tmp/p; cat s/f; chmod 755 /tmp/p
mv /tmp/p/q /tmp/p/z; cat s/f /tmp/p/z/r/s/f; cat /tmp/p/q/r/s/f 2> /dev/null && echo STALE
mkdir -p /tmp/p/q/r/s; echo y > /tmp/p/q/r/s/f; cat /tmp/p/q/r/s/f s/f
mount -t tmpfs none /tmp/p/q/r; cat /tmp/p/q/r/s/f 2> /dev/null && echo STALE
mkdir /tmp/p/q/r/s; echo z > /tmp/p/q/r/s/f; cat /tmp/p/q/r/s/f; umount /tmp/p/q/r; cat /tmp/p/q/r/s/f
rm /tmp/p/q/r/s/f; cat /tmp/p/q/r/s/f 2> /dev/null && echo STALE
rmdir /tmp/p/q/r/s; cat /tmp/p/q/r/s/f 2> /dev/null && echo STALE
cat /proc/hash/path
"""
FOUND = ["x", "x", "x", "y", "x", "z", "y"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A debug kernel with all rooms, and this one."""
    folder = tmp_path_factory.mktemp("direct") / "kernel"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CW_OUTPUT", str(folder))
        build(("DEBUG=y", "DCACHE_FASTPATH=y"), "full", True)
    return folder


@pytest.mark.parametrize(("root", "smp"), [("ext2", 1), ("tmpfs", 4)])
def test_nobody_gets_where_he_may_not(cw_run, folder, monkeypatch, root, smp):
    monkeypatch.setenv("CW_OUTPUT", str(folder))
    result = cw_run(script=SCRIPT, root=root, smp=smp, debug=False)
    said = result.output.decode().replace("\r", "")
    assert said.split("Path cache")[0].split() == FOUND
    hits = re.search(r"^ hit: (\d+)", said, re.MULTILINE)
    assert hits and int(hits[1]) > 200, said


def test_calls_do_as_on_linux(cw_run, folder, monkeypatch, tmp_path):
    """The scenarios of the differential test, once more, each path twice and more often in all."""
    monkeypatch.setenv("CW_OUTPUT", str(folder))
    program = compile_scenarios(tmp_path)
    script = "mkdir /root/scratch && /root/scenarios /root/scratch"
    result = cw_run(script=script, add=[f"{program}:/root/scenarios"], root="ext2", timeout=240, debug=False)
    found = by_name(result.output.decode(errors="replace").splitlines())
    wrong = [
        f"Linux:     {line}\nChainwalk: {found.get(name, 'nothing')}"
        for name, line in by_name(RECORD.read_text().splitlines()).items()
        if found.get(name) != line and name.split()[-1] not in DIFFERENT_ON_EXT2
    ]
    assert not wrong, f"{len(wrong)} scenarios differ:\n" + "\n".join(wrong)
