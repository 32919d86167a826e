"""./cw compare: what stands side by side."""

from __future__ import annotations

from lab.compare.kernels import _print_cache, caches_of

FOUR = {name: {"buckets": 64, "lookups": 3} for name in ("page", "buffer", "inode", "dentry")}
PATH = {"buckets": 128, "lookups": 10}


def test_all_that_either_kernel_has_in_the_order_of_the_report():
    assert caches_of([FOUR, FOUR]) == ["page", "buffer", "inode", "dentry"]
    assert caches_of([FOUR, {**FOUR, "path": PATH}]) == ["page", "buffer", "inode", "dentry", "path"]
    assert caches_of([{**FOUR, "path": PATH}, {}]) == ["page", "buffer", "inode", "dentry", "path"]
    assert caches_of([{**FOUR, "profile": {"functions": 3}}, FOUR]) == ["page", "buffer", "inode", "dentry"]


def test_what_one_has_not_is_left_empty_and_has_no_ratio(capsys):
    _print_cache("path", ["a", "b"], [{}, PATH])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines if line.strip()] == [
        ["path", "a", "b", "ratio"], ["buckets", "128"], ["lookups", "10"],
    ]  # fmt: skip
    _print_cache("page", ["a", "b"], [FOUR["page"], {**FOUR["page"], "lookups": 6}])
    assert capsys.readouterr().out.split()[-1] == "2.000"
