"""The reports of a booted kernel: they agree with themselves, and can be had in every way that docs/kernel/counters.md names."""

from __future__ import annotations

import json
import re

import pytest

CACHES = ("page", "buffer", "inode", "dentry")
WORK = "find / -xdev -type f | head -n 200 | xargs cat | wc -c; mkdir /tmp/d; cp -r /etc /tmp/d; ls -lR /tmp; rm -r /tmp/d; ls /no"


def check(found):
    """What holds of any cache's report at any moment when nothing else runs."""
    assert found["lookups"] == found["hits"] + found["misses"]
    assert found["objects"] == found["inserts"] - found["removes"]
    histogram = found["histogram"]
    assert sum(histogram["objects"]) == found["objects"]
    assert sum(histogram["buckets"]) == found["buckets" if "buckets" in found else "trees"]
    assert histogram["objects"][:16] == [size * n for size, n in enumerate(histogram["buckets"][:16])]
    assert found["hit_steps"] >= found["hits"]
    assert found["compares"] >= found["hits"]
    assert found["compares"] <= found["hit_steps"] + found["miss_steps"]
    if "buckets" in found:
        assert sum(histogram["expected"]) == pytest.approx(found["buckets"], abs=0.02)
        assert histogram["buckets"][0] == found["empty"]


def reports(text):
    return {r["cache"]: r for r in map(json.loads, re.findall(r"^\{.*\}\r?$", text, re.MULTILINE))}


@pytest.mark.check
def test_reports_agree_with_themselves(cw_run):
    result = cw_run(script=f"{WORK}; cd /proc/hash; cat page.json buffer.json inode.json dentry.json")
    found = reports(result.output.decode())
    assert set(found) == set(CACHES)
    for report in found.values():
        check(report)
    assert min(found[cache]["hits"] for cache in ("page", "dentry")) > 100


def test_reports_of_four_cpus(cw_run):
    busy = "for i in 1 2 3 4; do (find / -xdev | wc -l; ls -lR /etc | wc -l) & done; wait"
    result = cw_run(script=f"{busy}; cd /proc/hash; cat page.json buffer.json inode.json dentry.json", smp=4)
    found = reports(result.output.decode())
    assert set(found) == set(CACHES)
    for report in found.values():
        check(report)
    assert min(found[cache]["hits"] for cache in ("page", "dentry")) > 400


def test_text_has_levers_layout(cw_run):
    text = cw_run(script="ls -lR /etc; cat /proc/hash/dentry").output.decode().replace("\r", "")
    head = (
        r"Dentry cache total lookups: \d+  \(hit rate: \d+%\)\n hash table size is \d+ buckets\n"
        r" hash table contains \d+ objects\n largest bucket contains \d+ dentries\n"
        r" d_lookup\(\) iterations/lookup: \d+/1000\n hash table histogram:\n  size  buckets dentries  sum-pct\n"
    )
    rows = "".join(rf"{size:>6}[ \d]{{9}}[ \d]{{9}}[ \d]{{9}}\n" for size in [*range(16), ">15"])
    assert re.search(head + rows + " hash function: ", text), text


def test_a_write_a_period_and_the_shutdown_print_all_four(cw_run):
    titles = [f"{cache.capitalize()} cache total lookups: " for cache in CACHES]
    once = cw_run(script="echo > /proc/hash/dump").output.decode()
    assert [once.count(title) for title in titles] == [1] * 4
    periodic = cw_run(script="sleep 3.5", cmdline="stats_period=1").output.decode()
    assert all(periodic.count(title) >= 2 for title in titles)
    assert all(cw_run(script="true", cmdline="stats=text").output.decode().count(title) == 1 for title in titles)


def test_sizes_from_the_command_line(cw_run):
    options = "hash_sizing=2.2.5 bhash_entries=4096 dhash_sizing=6.1"
    found = reports(cw_run(script="cat /proc/hash/*.json", cmdline=options).output.decode())
    assert {c: (found[c]["buckets"], found[c]["rule"]) for c in CACHES} == {
        "page": (2048, "2.2.5"),
        "buffer": (4096, "number"),
        "inode": (256, "2.2.5"),
        "dentry": (32768, "6.1"),
    }


@pytest.mark.builds
def test_pages_in_trees_and_ticket_locks(cw, tmp_path, monkeypatch):
    """Two choices that know nothing of each other, in one debug kernel: it is for four CPUs, and the machine has six.

    PAGE_TABLE=rbtree over real files; the other caches stay as they are. SPINLOCK=ticket: CPUs that want the same locks, and
    what they did is whole. CPUs beyond the kernel's are left alone.
    """
    monkeypatch.setenv("CW_OUTPUT", str(tmp_path / "build"))
    settings = ("PAGE_TABLE=rbtree", "SPINLOCK=ticket", "NR_CPUS=4", "DEBUG=y")
    options = [*(word for setting in settings for word in ("--set", setting)), "--smp", "6", "--mem", "256M"]
    together = "for i in 1 2 3 4; do (cp -r /etc /tmp/$i; ls -lR /tmp/$i | wc -l; rm -r /tmp/$i) & done; wait; ls /tmp"
    script = f"{WORK}; cat /proc/hash/page.json; echo; rm -r /tmp/*; echo TOGETHER; {together}; nproc"
    result = cw("run", *options, "--quiet", "--timeout", "380", "--", "/bin/sh", "-c", script, timeout=900)
    assert result.returncode == 0, result.stdout.decode() + result.stderr.decode()
    alone, _, all_at_once = result.stdout.decode().replace("\r", "").partition("TOGETHER\n")
    found = reports(alone)["page"]
    check(found)
    assert found["structure"] == "rbtree"
    assert found["trees"] > 4
    # No chain is this long: the steps of a hit are bounded by the depth of the largest tree.
    assert found["steps_per_hit"] <= 2 * (found["largest"] + 1).bit_length()
    *lines, cpus = all_at_once.split()
    assert len(lines) == 4 and len(set(lines)) == 1, all_at_once
    assert cpus == "4"
