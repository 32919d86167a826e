"""Kernels that an experiment waits for: left out, with what compares them, as long as they can't be built."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.base.paths import LabError
from lab.sweep.experiment import parse

TEXT = """
name = "small"
title = "Small"
reference = "there"
seeds = [1]
notes = "What is different here."

[[kernel]]
name = "there"

[[workload]]
name = "w"
run = ["true"]

[[measure]]
name = "m"
from = "run:seconds"

[[kernel]]
name = "other"
awaited = true
WHAT

[[histogram]]
kernel = "other"
cache = "page"

[[figure]]
title = "F"
kernels = '(?P<x>other)'
x = "x"
measures = ["m"]

[[expect]]
text = "{more}"
measure = "m"
more = ["other", "there"]
than = "there"

[[expect]]
text = "the other is less"
measure = "m"
more = "there"
than = "other"

[[expect]]
text = "the other is at most"
measure = "m"
than = "other"
at_most = 2
"""


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ('defconfig = "nowhere"', "nowhere"),
        ('settings = ["NO_SUCH_ROOM=y"]', "NO_SUCH_ROOM"),
        ('settings = ["DENTRY_LOCK=prayer"]', "prayer"),
    ],
)
def test_what_is_not_there_yet_is_left_out_and_told(what, why):
    found = parse(TEXT.replace("WHAT", what), Path("small.toml"))
    assert [kernel.name for kernel in found.kernel] == ["there"]
    assert [one.text for one in found.expect] == ["there"], "what compares it is gone with it"
    assert not found.histogram and not found.figure
    assert found.notes.startswith("What is different here.\nLeft out, with what compares it: other (")
    assert why in found.notes


def test_what_is_there_is_as_any_other():
    found = parse(TEXT.replace("WHAT", 'settings = ["DENTRY_LOCK=bucket"]'), Path("small.toml"))
    assert [kernel.name for kernel in found.kernel] == ["there", "other"]
    assert [one.text for one in found.expect] == ["other", "there", "the other is less", "the other is at most"]
    assert len(found.histogram) == len(found.figure) == 1 and found.notes == "What is different here."


def test_the_reference_cannot_be_awaited():
    text = TEXT.replace("WHAT", "").replace('reference = "there"', 'reference = "other"')
    with pytest.raises(LabError, match=r"small.toml:\d+: kernel.awaited: it is the reference"):
        parse(text, Path("small.toml"))


def test_a_name_that_is_nowhere_is_a_fault_even_if_its_kernel_is_left_out():
    text = TEXT.replace("WHAT", 'defconfig = "nowhere"').replace('than = "other"', 'than = "otter"', 1)
    with pytest.raises(LabError, match="there is no kernel 'otter'"):
        parse(text, Path("small.toml"))
