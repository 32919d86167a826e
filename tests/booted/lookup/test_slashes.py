"""A slash at a path's end: the walk without locks goes on from where it is, and no component is looked for twice."""

from __future__ import annotations

SCRIPT = r"""
walked() { sed -n 's/^Dentry cache total lookups: \([0-9]*\).*/\1/p' /proc/hash/dentry; }
lookups() { before=$(walked); for n in $(seq 100); do [ -d $1 ] || echo "no $1"; done; echo $(($(walked) - before)); }
mkdir -p /tmp/a/b; touch /tmp/a/f; ln -s b /tmp/a/link
lookups /tmp/a/b > /dev/null
echo $(lookups /tmp/a/b) $(lookups /tmp/a/b/) $(lookups /tmp/a/b//)
[ -e /tmp/a/f/ ] && echo below a file
[ -L /tmp/a/link/ ] && echo a link
[ -d /tmp/a/link/ ] && [ -L /tmp/a/link ] && cd /tmp/a/link/ && pwd -P
"""


def test_a_slash_at_the_end_costs_no_lookup(cw_run):
    counted, *rest = cw_run(script=SCRIPT, root="ext2", debug=False).output.decode().split("\n")
    without, *with_slash = map(int, counted.split())
    assert without >= 300, "three components, a hundred times"
    assert all(abs(count - without) < 50 for count in with_slash), counted
    assert [line.strip() for line in rest if line.strip()] == ["/tmp/a/b"]
