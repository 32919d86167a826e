"""Direct lookup (DCACHE_FASTPATH): whole paths found at once, by whom they may be, and never after it is not so any more."""

from __future__ import annotations

import re

import pytest

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


# The kernel of the checks has this room, too: so the scenarios of tests/differential, each path of which comes up more than
# once, are found to be as on Linux with it.
@pytest.mark.parametrize(("root", "smp"), [("ext2", 1), ("tmpfs", 4)])
def test_nobody_gets_where_he_may_not(cw_run, root, smp):
    result = cw_run(script=SCRIPT, root=root, smp=smp)
    said = result.output.decode().replace("\r", "")
    assert said.split("Path cache")[0].split() == FOUND
    hits = re.search(r"^ hit: (\d+)", said, re.MULTILINE)
    assert hits and int(hits[1]) > 200, said
