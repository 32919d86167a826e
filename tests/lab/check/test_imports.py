"""The lab's packages stand on one another in one direction, without circles; and the checker sees what breaks that."""

from __future__ import annotations

import pytest

from lab.check import imports

TABLE = """A house.

    package  stands on
    base     -
    run      base
    cli      everything
"""
HOUSE = {
    "lab": "",
    "lab.__main__": "from lab.cli.root import main\n",
    "lab.base": "",
    "lab.base.paths": "import os\n",
    "lab.run": "",
    "lab.run.machine": "from lab.base.paths import TOP\n",
    "lab.run.result": "from lab.run import machine\n",
    "lab.cli": "",
    "lab.cli.root": "def main():\n    from lab.run import machine, result\n",
}


@pytest.mark.check
def test_the_lab_is_as_its_table_says():
    sources = imports.modules()
    assert len(sources) > 60 and not imports.faults(sources, imports.table(sources["lab"]))


@pytest.mark.check
def test_a_package_says_what_it_is_for_and_does_nothing():
    """What a package's __init__ imported would be imported by whoever imports any module of it."""
    sources = imports.modules()
    packages = {name for name in sources if any(other.startswith(f"{name}.") for other in sources)}
    assert len(packages) > 12
    for name in packages:
        text = sources[name]
        assert text.startswith('"""') and text.rstrip().endswith('"""') and text.count('"""') == 2, name


@pytest.mark.parametrize(
    ("module", "text", "words"),
    [
        ("lab.base.paths", "from lab.run import machine\n", "base does not stand on run"),
        ("lab.base.paths", "def f():\n    from lab.run.machine import x\n", "base does not stand on run"),
        ("lab.base.paths", "if X:\n    import lab.run.machine\n", "base does not stand on run"),
        ("lab.base.paths", "from ..run import machine\n", "base does not stand on run"),
        ("lab.base.paths", "import lab\n", "base does not stand on the root"),
        ("lab.run.machine", "from lab.base import paths\ndef f():\n    from lab.run import result\n", "a circle"),
        ("lab.run.machine", "", "lets run use base, and nothing of it does"),
        ("lab.sweep.plan", "", "sweep is not in the table"),
    ],
)
def test_what_breaks_the_rules_is_found(module, text, words):
    assert not imports.faults(HOUSE, imports.table(TABLE))
    found = imports.faults({**HOUSE, module: text}, imports.table(TABLE))
    assert found and any(words in fault for fault in found), found


def test_a_table_that_is_wrong_by_itself_is_found():
    circle = TABLE.replace("base     -", "base     run")
    assert any("the table has a circle" in fault for fault in imports.faults(HOUSE, imports.table(circle)))
    more = TABLE.replace("    cli ", "    moon     base\n    cli ")
    assert any("not there: moon" in fault for fault in imports.faults(HOUSE, imports.table(more)))
