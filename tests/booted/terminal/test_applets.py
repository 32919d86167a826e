"""About a hundred applets and the shell itself: the same commands, by the same busybox, on Linux and on Chainwalk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lab.base import offspring
from lab.guest.tree import applets, find_busybox

COMMANDS = [
    line
    for line in (Path(__file__).parent / "applets.txt").read_text().splitlines()
    if line.strip() and not line.startswith("#")
]


def script(folder: str) -> str:
    """Each command in a shell of its own, its output framed and followed by its status."""
    lines = [f"export B={folder} PATH=$APPLETS TZ=UTC0 LC_ALL=C; umask 022; mkdir -p $B; cd $B || exit 9"]
    for number, command in enumerate(COMMANDS):
        quoted = command.replace("'", "'\\''")
        lines.append(f"echo '== {number}'; sh -c '{quoted}' < /dev/null 2>&1; echo \"== status $?\"")
    return "\n".join(lines) + "\n"


def sections(text: str) -> list[str]:
    return text.split("== ")[1:]


@pytest.fixture(scope="session")
def on_linux(tmp_path_factory) -> str:
    """What Linux says: the host's kernel with nothing but busybox's applets in the path."""
    links = tmp_path_factory.mktemp("applets")
    busybox = find_busybox()
    for applet in applets(busybox):
        (links / os.path.basename(applet)).symlink_to(busybox)
    folder = tmp_path_factory.mktemp("linux") / "work"
    environment = {"APPLETS": str(links), "HOME": "/root", "PATH": str(links)}
    result = offspring.run([links / "sh", "-c", script(str(folder))], timeout=120, env=environment)
    return result.stdout.decode(errors="replace")


@pytest.mark.parametrize("where", ["/root/work", "/tmp/work"], ids=["ext2", "tmpfs"])
def test_applets_as_on_linux(cw_run, on_linux, tmp_path, where):
    if os.getuid() != 0:
        pytest.skip("the host's half wants root, as the guest's has")
    path = tmp_path / "applets.sh"
    path.write_text(script(where))
    environment = {"APPLETS": "/bin:/sbin:/usr/bin:/usr/sbin"}
    result = cw_run(
        script="/bin/sh /applets.sh 2>&1 | cat", add=[f"{path}:/applets.sh"], environment=environment, timeout=240
    )
    ours, theirs = sections(result.output.decode(errors="replace")), sections(on_linux)
    assert len(theirs) == 2 * len(COMMANDS)
    differences = []
    for index, (our, their) in enumerate(zip(ours, theirs, strict=False)):
        if our != their:
            differences.append(f"{COMMANDS[index // 2]}\n  Linux:     {their!r}\n  Chainwalk: {our!r}")
    assert not differences, f"{len(differences)} differences:\n" + "\n".join(differences)
    assert len(ours) == len(theirs)
