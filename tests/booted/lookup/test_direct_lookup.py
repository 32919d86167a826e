"""Direct lookup (DCACHE_FASTPATH): whole paths found at once, by whom they may be, and never after it is not so any more."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lab.check.fuzz import calls as fuzz
from tests.musl import static_program

HERE = Path(__file__).parent

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


# Texts through links, with "." and "..", each often enough to be found by an alias; and what makes it lead elsewhere.
ALIASES = """
set -e; mkdir -p /tmp/a/b/c /tmp/z/c; echo one > /tmp/a/b/c/f; echo two > /tmp/z/c/f; ln -s a/b /tmp/l; ln -s /tmp/l/c/f /tmp/last
look() { for i in 1 2 3 4 5 6 7 8 9 10; do cat $1 2> /dev/null || echo none; done | uniq; }
look /tmp/l/c/f; look /tmp/last; look /tmp/a/b/../b/c/f; look /tmp/./a//b/c/f
walked() { sed -n 's/^Dentry cache total lookups: \\([0-9]*\\).*/\\1/p' /proc/hash/dentry; }
steps() { before=$(walked); for i in 1 2 3 4 5 6 7 8 9 10; do cat $1; done > /dev/null 2>&1; echo $(($(walked) - before)); }
steps /tmp/a/b/c/f > /dev/null; echo $(($(steps /tmp/last) - $(steps /tmp/a/b/c/f) < 10))
ln -sfn z /tmp/l; look /tmp/l/c/f; look /tmp/last; readlink /tmp/./l
rm /tmp/l; look /tmp/l/c/f; look /tmp/last
ln -s a/b /tmp/l; look /tmp/l/c/f
mv /tmp/a/b /tmp/b; look /tmp/l/c/f; look /tmp/a/b/../b/c/f
mkdir -p /tmp/a/b/c; echo three > /tmp/a/b/c/f; look /tmp/last
mv /tmp/a/b/c/f /tmp/a/b/c/g; look /tmp/last; echo four > /tmp/a/b/c/f; look /tmp/last
mount -t tmpfs none /tmp/a/b; look /tmp/last; umount /tmp/a/b; look /tmp/last
look /tmp/no/way/f; mkdir /tmp/no; look /tmp/no/way/f; mkdir /tmp/no/way; echo five > /tmp/no/way/f; look /tmp/no/way/f
rm -r /tmp/no; look /tmp/no/way/f
below() { for i in 1 2 3 4 5 6 7 8 9 10; do cat /tmp/thing/below/f 2>&1 | tr -d ' '; done | uniq | sed 's/.*://'; }
touch /tmp/thing; below; below; echo $(($(steps /tmp/thing/below/f) - $(steps /tmp/b/c/f) < 10))
rm /tmp/thing; below; mkdir -p /tmp/thing/below; echo six > /tmp/thing/below/f; below; mv /tmp/thing /tmp/y; touch /tmp/thing; below
ln -sf y /tmp/thing; below
"""
FOUND_BY_ALIAS = (
    "one one one one 1 two two z none none one none none three none four none four none none five none"
    " Notadirectory Notadirectory 1 Nosuchfileordirectory six Notadirectory six"
).split()

# The same text from the same directory, before and after chroot(2): an absolute link leads elsewhere.
JAIL = """
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static void make(const char *name, const char *text)
{
	int fd = open(name, O_CREAT | O_WRONLY, 0644);
	write(fd, text, strlen(text));
	close(fd);
}
static void look(void)
{
	char text[16] = "none";
	for (int i = 0; i < 20; i++) {
		int fd = open("elsewhere/file", O_RDONLY);
		if (fd >= 0)
			text[read(fd, text, 15)] = 0;
		close(fd);
	}
	puts(text);
}
int main(void)
{
	mkdir("/x", 0755); mkdir("/jail", 0755); mkdir("/jail/d", 0755); mkdir("/jail/x", 0755);
	make("/x/file", "outside"); make("/jail/x/file", "inside");
	symlink("/x", "/jail/d/elsewhere");
	chdir("/jail/d");
	look();
	chroot("/jail");
	look();
	look();
	return 0;
}
"""


@pytest.mark.parametrize(("root", "smp"), [("ext2", 1), ("tmpfs", 4)])
def test_aliases_are_true(cw_run, root, smp):
    result = cw_run(script=ALIASES, root=root, smp=smp)
    assert result.output.decode().split() == FOUND_BY_ALIAS


def test_an_alias_is_not_for_who_has_another_root(cw_run, tmp_path):
    (tmp_path / "jail.c").write_text(JAIL)
    static_program(tmp_path / "jail", tmp_path / "jail.c", flags=["-w"])
    result = cw_run(["/root/jail"], add=[f"{tmp_path}/jail:/root/jail"])
    assert result.output.decode().split() == ["outside", "inside", "inside"]


# busybox's own programs: what the child has mounted is seen by it alone, and by who enters its namespace.
APPLETS = """
set -e; cd /tmp; mkfifo ready end; own=$(readlink /proc/self/ns/mnt)
unshare -m sh -c 'mount -t tmpfs inner /mnt; echo x > /mnt/x; cat /mnt/x; grep -c inner /proc/mounts; echo > ready; cat end' &
read line < ready; ls /mnt; grep inner /proc/mounts || echo alone
nsenter -t $! -m ls /mnt; nsenter -t $! -m grep -c " /mnt " /proc/self/mountinfo
[ $(readlink /proc/$!/ns/mnt) != $own ] && [ $(nsenter -t $! -m readlink /proc/self/ns/mnt) = $(readlink /proc/$!/ns/mnt) ]
echo > end; wait; [ $(readlink /proc/self/ns/mnt) = $own ]; echo END
"""


@pytest.mark.parametrize(("root", "smp"), [("tmpfs", 4), ("ext2", 2)])
def test_what_others_have_mounted_on_is_removed(cw_run, tmp_path, root, smp):
    """All at once, and nobody's name is busy for what another namespace has there; and nothing is left."""
    program = tmp_path / "namespaces"
    static_program(program, HERE / "namespaces.c")
    rounds = f"for i in 1 2 3; do setsid /root/namespaces /root/top$i 300 removed; rm -r /root/top$i; {fuzz.SETTLED}; echo ROUND; done"
    result = cw_run(script=rounds, add=[f"{program}:/root/namespaces"], root=root, smp=smp)
    first, second, third, _ = result.output.decode().replace("\r", "").split("ROUND\n")
    assert all("done\n" in text for text in (first, second, third)), result.output
    assert not fuzz.leaks(second, third)


@pytest.mark.parametrize("smp", [1, 4])
def test_namespaces_have_paths_of_their_own(cw_run, tmp_path, smp):
    """One text is another file in each namespace, in turns and at once; and nothing is left of what came and went."""
    program = tmp_path / "namespaces"
    static_program(program, HERE / "namespaces.c")
    rounds = f"for i in 1 2 3; do setsid /root/namespaces /root/top$i 100; {fuzz.SETTLED}; echo ROUND; done"
    hits = "sed -n 's/^ hit: \\([0-9]*\\).*/hits \\1/p' /proc/hash/path"
    result = cw_run(script=f"{APPLETS}{hits}; {rounds}; {hits}", add=[f"{program}:/root/namespaces"], smp=smp)
    applets, rest = result.output.decode().replace("\r", "").split("END\n")
    assert applets.split() == ["x", "1", "alone", "x", "1"]
    first, second, third, last = rest.split("ROUND\n")
    assert all("\ndone\n" in f"\n{text}" for text in (first, second, third)), rest
    assert not fuzz.leaks(second, third)
    assert int(last.split()[1]) - int(first.split()[1]) > 5000
