"""What a hash function costs: counts that are known beforehand, and those of straight code from the code itself."""

from __future__ import annotations

import json

import pytest

from lab.base.choose import load_choose
from lab.base.paths import LabError
from lab.measure import cost

# Assembly, so that no compiler decides how many there are.
STRAIGHT = """static inline u32 page_hash(uintptr_t inode, u64 byte_offset, unsigned bits)
{
	u32 h;

	__asm__ volatile("nop\\n\\tnop\\n\\tnop\\n\\tnop\\n\\tmovl $7, %0" : "=a"(h));
	return h;
}
"""
LOOP = """static inline u32 buffer_hash(u32 device, u64 block, unsigned bits)
{
	u32 h;

	__asm__ volatile("movl %1, %0\\n1:\\tdecl %0\\n\\tjnz 1b" : "=&a"(h) : "r"(bits) : "cc");
	return h;
}
"""
NAME = """static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)
{
	u64 h = length;

	__asm__ volatile("1:\\tnop\\n\\tnop\\n\\tdecq %0\\n\\tjnz 1b" : "+a"(h) : : "cc");
	return (u32)h;
}
"""


@pytest.fixture
def measured(tmp_path):
    def measure(cache, text, word=64, bits=14):
        folder = tmp_path / cache
        folder.mkdir(exist_ok=True)
        header = folder / "mine.h"
        header.write_text(text)
        return cost.measure([(cache, "mine", header)], [word], bits)[0]

    return measure


def test_straight_code_of_known_length(measured):
    """Four that do nothing and a move: the fifth gives the result. Called, a return."""
    found = measured("page", STRAIGHT)
    assert (found.instructions, found.most, found.called, found.in_code, found.branches) == (5, 5, 6, 6, 0)
    assert found.code_bytes == 4 + 5 + 1


def test_a_loop_is_executed(measured):
    """A move, then two instructions for each bit of the table's size."""
    for bits in (1, 9, 14):
        found = measured("buffer", LOOP, bits=bits)
        assert (found.instructions, found.branches, found.in_code) == (1 + 2 * bits, 1, 4)


def test_instructions_a_byte_of_a_name(measured):
    found = measured("name", NAME)
    setup = found.by_length[1] - 4
    assert setup in (1, 2)  # the length into the register, perhaps a move of the result
    assert found.by_length == {length: setup + 4 * length for length in cost.LENGTHS}
    assert found.per_byte == 4 and found.instructions == found.by_length[8]


def test_straight_functions_execute_what_stands_there():
    """Without a branch the stops of the processor and the lines of objdump are the same number."""
    choose = load_choose()
    pairs = [(cache, name) for cache in ("page", "inode") for name in ("mult", "linux-2.2", "siphash", "untransformed")]
    found = cost.measure([(cache, name, choose.header(cache, name)) for cache, name in pairs], [32, 64], 12)
    assert len(found) == 16
    for one in found:
        assert one.branches == 0 and one.called == one.in_code == one.instructions + 1, one
        assert one.instructions == one.most


def test_the_command(cw):
    found = json.loads(
        cw("hashcost", "--cache", "buffer", "--functions", "mult,siphash", "--word", "32,64", "--json").stdout
    )
    assert [(one["function"], one["word"]) for one in found] == [("mult", 32), ("siphash", 32), ("mult", 64), ("siphash", 64)]  # fmt: skip
    assert all(one["instructions"] < 12 for one in found if one["function"] == "mult")
    assert all(one["instructions"] > 60 for one in found if one["function"] == "siphash")
    text = cw("hashcost", "--cache", "buffer", "--functions", "mult,siphash").stdout.decode()
    assert text.startswith("buffer hash, 64-bit words, 14 bits") and text.index("mult") < text.index("siphash")
    for words, reason in (
        (("--cache", "disk"), "there are page"), (("--functions", "nope"), "there is no such"), (("--bits", "40"), "1 to 31"), (("--word", "16"), "32 and 64"),
    ):  # fmt: skip
        result = cw("hashcost", *words)
        assert result.returncode == 125 and reason in result.stderr.decode()


def test_a_function_that_cannot_be_compiled_is_shown(measured):
    with pytest.raises(LabError, match="cannot be compiled"):
        measured("page", "static inline u32 page_hash(uintptr_t inode, u64 byte_offset, unsigned bits) { return nonsense; }\n")  # fmt: skip
