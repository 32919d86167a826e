"""Experiments that are another's on another machine: what they take over, and what they don't."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.base.paths import LabError
from lab.report.reproduce import group
from lab.sweep.experiment import load, parse
from lab.sweep.toml import like
from lab.sweep.toml.files import FOLDER, like_of

OTHERS = [path.stem for path in sorted(FOLDER.glob("*.toml")) if like_of(path)]


def test_what_is_given_stands_in_place_of_the_others():
    other = {
        "name": "a",
        "seeds": [1],
        "sensitivity_seeds": [1],
        "machine": {"mem": "128M", "smp": 1, "full": {"timeout": 9, "mem": "1G"}},
        "kernel": [{"name": "k", "settings": ["B=1"], "paper": {"x": {"v": 1}, "y": {"v": 2}}}],
        "workload": [{"name": "x"}, {"name": "y"}],
        "expect": [{"measure": "m", "workload": "x"}, {"measure": "m", "workload": ["x", "y"]}, {"measure": "m"}],
    }
    given = {"name": "b", "like": "a", "settings": ["A=1"], "machine": {"smp": 4, "full": {"mem": "2G"}}}
    found = like.with_settings(like.completed(given, other))
    assert found["name"] == "b" and found["seeds"] == [1] and "sensitivity_seeds" not in found
    assert found["machine"] == {"mem": "128M", "smp": 4, "full": {"timeout": 9, "mem": "2G"}}
    assert found["kernel"] == [{"name": "k", "settings": ["A=1", "B=1"], "paper": {"x": {"v": 1}, "y": {"v": 2}}}]
    assert found["workload"] == other["workload"] and found["expect"] == other["expect"]

    fewer = like.completed(given | {"workload": [{"name": "z", "cases": ["y"]}]}, other)
    assert fewer["kernel"][0]["paper"] == {"y": {"v": 2}}
    assert fewer["expect"] == [{"measure": "m", "workload": ["y"]}], "without a name it is of the other's first"
    assert other["kernel"][0]["settings"] == ["B=1"], "nothing of the other is changed"


@pytest.mark.parametrize("name", OTHERS)
def test_the_same_kernels_on_another_machine(name):
    """Theirs but for the settings that all have; the paper's rows are there to be compared with."""
    ours, other = load(name), load(like_of(FOLDER / f"{name}.toml"))
    assert [kernel.name for kernel in ours.kernel] == [kernel.name for kernel in other.kernel]
    assert ours.machine != other.machine and ours.measure == other.measure and ours.paper == other.paper
    for mine, its in zip(ours.kernel, other.kernel, strict=True):
        assert mine.settings == [*ours.settings, *its.settings] and mine.defconfig == its.defconfig
        assert mine.paper and set(mine.paper) <= set(its.paper)


@pytest.mark.parametrize(
    ("named", "reason"),
    [("nowhere", "no experiment 'nowhere' in experiments/"), (OTHERS[0], "is itself like another one: name one that")],
)
def test_like_what_cannot_be(named, reason):
    text = f'name = "small"\ntitle = "Small"\nlike = "{named}"\n'
    with pytest.raises(LabError) as caught:
        parse(text, Path("small.toml"))
    assert str(caught.value).startswith("small.toml:3: like: ") and reason in str(caught.value)


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("machine = 4", "machine: wanted is a table"),
        ('workload = "scripts"', "workload: wanted are tables, [[workload]]"),
        ("kernel = [3]", "kernel: wanted are tables, [[kernel]]"),
        ('settings = "A=1"', "settings: wanted is a list"),
    ],
)
def test_what_is_no_table_is_told_by_its_line(line, wanted):
    with pytest.raises(LabError) as caught:
        parse(f'name = "small"\nlike = "lever-table6"\n{line}\n', Path("small.toml"))
    assert str(caught.value) == f"small.toml:3: {wanted}"


def test_a_demonstration_leaves_them_out():
    assert not set(OTHERS) & set(group("lever")) and set(OTHERS) <= set(group("lever", full=True))
