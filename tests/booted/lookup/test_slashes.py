"""A slash at a path's end: the walk without locks goes on from where it is, and no component is looked for twice."""

from __future__ import annotations

SCRIPT = r"""
walked() { sed -n 's/^Dentry cache total lookups: \([0-9]*\).*/\1/p' /proc/hash/dentry; }
lookups() { before=$(walked); for n in $(seq 100); do [ -d $1 ] || echo "no $1"; done; echo $(($(walked) - before)); }
mkdir -p /tmp/a/b; touch /tmp/a/f; ln -s b /tmp/a/link
lookups /tmp/a/b > /dev/null
echo $(lookups /tmp/a/b) $(lookups /tmp/a/b/) $(lookups /tmp/a/b//)
echo $(lookups /tmp/a/link) $(lookups /tmp/a/link/) $(lookups /proc) $(lookups /proc/) $(lookups /proc/self)
[ -e /tmp/a/f/ ] && echo below a file
[ -L /tmp/a/link/ ] && echo a link
[ -d /tmp/a/link/ ] && [ -L /tmp/a/link ] && cd /tmp/a/link/ && pwd -P
"""


def test_a_slash_at_the_end_costs_no_lookup(cw_run):
    counted, others, *rest = cw_run(script=SCRIPT, root="ext2", debug=False).output.decode().split("\n")
    without, *with_slash = map(int, counted.split())
    assert without >= 300, "three components, a hundred times"
    assert all(abs(count - without) < 50 for count in with_slash), counted
    link, link_slash, proc, proc_slash, self = map(int, others.split())
    assert link >= 400 and abs(link_slash - link) < 50, others
    assert proc >= 100 and abs(proc_slash - proc) < 50, others
    # the link, whose text is not in memory, and what it leads to: proc, self, the process's number
    assert 300 <= self < 350, others
    assert [line.strip() for line in rest if line.strip()] == ["/tmp/a/b"]


NAMES = r"""
cd /tmp && mkdir dir
for n in $(seq 40); do [ -e /tmp/dir/name/ ] || [ -e /tmp/dir/link/ ] || [ -e /tmp/dir/to ]; done
ln -s later/ /tmp/dir/to
for n in $(seq 40); do [ -e /tmp/dir/to ]; done
touch /tmp/dir/name /tmp/dir/later
ln -s /etc /tmp/dir/link
[ -e /tmp/dir/name/ ] && echo a file by a name with a slash
(: > /tmp/dir/name/) 2>/dev/null && echo a file opened by it
[ -e /tmp/dir/to ] && echo a file by a link with a slash
stat -c %F /tmp/dir/link/ /tmp/dir/link
"""


def test_a_slash_asks_for_a_directory_also_where_there_was_nothing(cw_run):
    """With direct lookup and its aliases: a path that led nowhere is remembered, and then there is a file of that name."""
    printed = cw_run(script=NAMES, root="tmpfs", full=True).output.decode().splitlines()
    lines = [line for line in printed if line.strip() and "name/" not in line]
    assert lines == ["directory", "symbolic link"], printed
