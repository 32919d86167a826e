"""What chattr sets and lsattr shows, by e2fsprogs' own programs, and debugfs on the disk they left."""

from __future__ import annotations

import re
import subprocess

import pytest

SCRIPT = """
cd /root; echo text > f; mkdir d
chattr +i f; lsattr f; echo more > f || rm -f f || chattr -i f && echo changed
chattr +a f; lsattr f; echo more >> f; echo new > f || cat f
chattr -a +dA f; lsattr f; chattr +S f || lsattr f
chattr -R +d d; touch d/x; lsattr d
lsattr -v f
"""


@pytest.mark.parametrize("root", ["tmpfs", "ext2"])
def test_chattr_and_lsattr(cw_run, root):
    output = cw_run(script=SCRIPT, packages=["e2fsprogs"], root=root, status=None).output.decode()
    shown = re.findall(r"^([-a-zA-Z]{20,}) (\S+)$", output.replace("\r", ""), re.MULTILINE)
    letters = [("".join(sorted(set(flags) - {"-"})), name) for flags, name in shown]
    assert letters == [("i", "f"), ("a", "f"), ("Ad", "f"), ("Ad", "f"), ("d", "d/x")]
    assert output.count("Operation not permitted") == 3 and "changed" in output
    assert re.search(r"^text\r?\nmore\r?$", output, re.MULTILINE)
    # lsattr pads the generation, which is drawn at random, to ten places
    assert bool(re.search(r"^\d+ +[-dA]+ f", output, re.MULTILINE)) == (root == "ext2")


def test_flags_are_on_the_disk(cw_run):
    disk = cw_run(script="cd /root; touch kept; chattr +ia kept", packages=["e2fsprogs"], root="ext2").disk
    told = subprocess.run(["debugfs", "-R", "stat /root/kept", disk], capture_output=True, text=True, check=True)
    assert re.search(r"Flags: 0x30\b", told.stdout), told.stdout
