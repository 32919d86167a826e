"""DOTDOT=lexical: a component and ".." behind it count as nothing. As the kernel shortens texts, against lists of names."""

from __future__ import annotations

import ctypes

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.hash.compiled import build, scratch

CHOSEN = ("CONFIG_DOTDOT_LEXICAL", "CONFIG_HASH_WORD=64")
COMPONENTS = st.sampled_from(
    ["..", "..", ".", "a", "..a", "...", "a..", "seven77", "eight888", "a longer one than two words"]
)
TEXTS = st.tuples(
    st.sampled_from(["", "/", "//"]),
    st.lists(st.tuples(COMPONENTS, st.sampled_from(["/", "/", "//", "///"])), min_size=1, max_size=9),
    st.booleans(),
).map(lambda drawn: drawn[0] + "".join(name + slashes for name, slashes in drawn[1]).rstrip("/") + "/" * drawn[2])


@pytest.fixture(scope="module")
def library():
    output = build("lexical.c", scratch() / "lexical.so", {}, CHOSEN, ("-shared", "-fPIC"))
    return ctypes.CDLL(str(output))


def shortened(library, text: str) -> str:
    buffer = ctypes.create_string_buffer(text.encode() + b"\0" + b"\xae" * 8)  # what stands behind its end is no dot
    library.begin(buffer)
    assert buffer.raw[len(text) + 1 :] == b"\xae" * 8 + b"\0", "written behind its end"
    return buffer.value.decode()


def components(text: str) -> tuple[bool, list[str], bool]:
    """What a text means: from the root or not, its components without those that are nothing, a directory's or not."""
    names = [name for name in text.split("/") if name]
    return text.startswith("/"), [*(name for name in names[:-1] if name != "."), names[-1]], text.endswith("/")


def expected(text: str) -> tuple[bool, list[str], bool]:
    absolute, names, directory = components(text)
    kept: list[str] = []
    for name in names[:-1]:
        if name == ".." and kept and kept[-1] != "..":
            kept.pop()
        else:
            kept.append(name)
    return absolute, [*kept, names[-1]], directory


@settings(max_examples=2000, deadline=None)
@given(text=TEXTS)
@example("a/./../b")
@example("/a/../b")
@example("a/b/../../c")
@example("a/..")
@example("a/../")
@example("a/.././")
@example("/../a/../../b")
def test_what_a_parent_takes_away(library, text):
    assert components(shortened(library, text)) == expected(text)
