"""What a compiled submission consists of is read from its file, whatever names its assembler gave."""

from __future__ import annotations

import subprocess

import pytest

from lab.grade import contents as reader
from lab.grade.function.oracle import ONLY_READ
from lab.grade.table.build import DATA


@pytest.fixture
def assembled(tmp_path):
    def assemble(text: str) -> reader.Contents:
        (tmp_path / "out").mkdir()
        subprocess.run(["as", "-o", tmp_path / "out/a.o", "-"], input=text.encode(), check=True)
        found = reader.contents(tmp_path, "a.o")
        assert found is not None
        return found

    return assemble


@pytest.mark.parametrize(
    ("section", "read_only", "plain"),
    [
        ('"a zz","a"', True, True),
        ('".rodata 8 a a a a READONLY","aw"', False, True),
        ('.rodatas,"a"', True, True),
        ('.note.Xen,"a",@note,unique,2', True, False),
        ('.rodata.note,"a",@note', True, False),
        ('.init_array,"aw",@init_array', False, False),
    ],
)
def test_odd_sections_are_of_no_family(assembled, section, read_only, plain):
    found = assembled(f".text\nnop\n.section {section}\n.long 0, 0\n")
    text, odd = found.sections
    assert text.of(*ONLY_READ) and text.of(*DATA)
    assert (odd.read_only, odd.plain) == (read_only, plain)
    assert not odd.of(*ONLY_READ) and not odd.of(*DATA)


def test_usual_sections_are(assembled):
    found = assembled(
        '.section .text.hot,"ax"\nnop\n.section .rodata.str1.1,"aMS",@progbits,1\n.string "a"\n.bss\n.zero 8\n'
    )
    assert [(one.of(*ONLY_READ) and one.read_only, one.of(*DATA)) for one in found.sections] == [
        (False, True), (True, True), (True, True),
    ]  # fmt: skip


def test_symbols_are_whole(assembled):
    found = assembled('.globl "table_find x"\n"table_find x": call "memcpy y"\nlocal: .weak later\njmp later\n')
    assert (found.visible, found.foreign) == ({"table_find x"}, {"memcpy y", "later"})


def test_no_object_is_none(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/a.o").write_bytes(b"\x7fELF" + bytes(60))
    assert reader.contents(tmp_path, "a.o") is None and reader.contents(tmp_path, "absent.o") is None


def test_what_has_very_many_symbols_is_none(tmp_path):
    """It is read outside of the sandbox, so nobody's assembler may make that long."""
    (tmp_path / "out").mkdir()
    text = "".join(f".long symbol{n}\n" for n in range(reader.MOST))
    subprocess.run(["as", "-o", tmp_path / "out/a.o", "-"], input=text.encode(), check=True)
    assert reader.contents(tmp_path, "a.o") is None
