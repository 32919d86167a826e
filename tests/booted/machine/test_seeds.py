"""What --seed does to a counted run: the same one repeats it to the byte, another one varies what varies between runs."""

from __future__ import annotations

import json

WORK = (
    "echo $$; basename $(mktemp); find / -xdev -type f | head -n 300 | xargs cat | wc -c; ls -lR /etc /usr /bin | wc -l"
)


def test_a_seed_repeats_a_run_and_another_varies_it(cw_run, tmp_path):
    """Tables keyed by addresses fill differently, though they hold the same objects in as many buckets."""

    def run(seed):
        result = cw_run(
            script=WORK, icount=True, seed=seed, stats=tmp_path / "s", debug=False, cmdline="hash_sizing=2.2.5"
        )
        return result.output.decode().split(), result.stats

    first, again = run(1), run(1)
    others = [run(seed) for seed in (2, 3, 4)]
    assert json.dumps(first) == json.dumps(again)
    assert int(first[0][0]) > 1
    for other in others:
        assert first[0][0] != other[0][0] and first[0][1] != other[0][1]
        assert first[0][2:] == other[0][2:]
    for cache in ("page", "inode", "dentry"):
        one, more = first[1][cache], [stats[cache] for _, stats in others]
        assert all(one["buckets"] == two["buckets"] for two in more)
        assert all(abs(one["objects"] - two["objects"]) <= one["objects"] / 100 for two in more)
        # two seeds in a row may meet in the inode table, which has few ways to be filled
        assert any(one["histogram"]["buckets"] != two["histogram"]["buckets"] for two in more), cache


def test_a_seed_that_cannot_be(cw):
    for arguments, word in ((["--seed", "1"], b"--icount"), (["--icount", "--seed", "-1"], b"not negative")):
        result = cw("run", *arguments, "--", "/bin/true")
        assert result.returncode == 125 and word in result.stderr
