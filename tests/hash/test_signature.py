"""Signatures of paths (fs/path/direct/signature.h), with the kernel's own arithmetic, against whole numbers of Python."""

from __future__ import annotations

import ctypes

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.base.paths import TOP
from tests.hash.compiled import build, scratch

LIMBS = 5
SEED = 0x0123456789ABCDEF
NAMES = st.text(st.characters(min_codepoint=1, max_codepoint=255, exclude_characters="/"), min_size=1, max_size=40)
PATHS = st.lists(st.lists(NAMES, min_size=1, max_size=4).map("/".join), min_size=1, max_size=5)


@pytest.fixture(scope="module")
def library():
    """signature.c with arch/x86's arithmetic in place of the hosted kernel's."""
    folder = scratch() / "kernel-arithmetic"
    (folder / "arch" / "math").mkdir(parents=True)
    (folder / "arch" / "math" / "wide.h").write_text(f'#include "{TOP}/arch/x86/include/arch/math/wide.h"\n')
    chosen = ("CONFIG_DCACHE_FASTPATH", "CONFIG_SIGNATURE_BITS=240", "CONFIG_PREFIX_WAYS=8", "CONFIG_HASH_WORD=64")
    output = build("signature.c", scratch() / "signature.so", {}, chosen, ("-shared", "-fPIC", f"-I{folder}"))
    found = ctypes.CDLL(str(output))
    found.begin.restype = ctypes.c_bool
    for function in (found.key, found.root, found.sign):
        function.restype = ctypes.c_uint64
    return found


@pytest.fixture(scope="module", params=[False, True], ids=["any CPU", "mulx"])
def signatures(library, request):
    if not library.begin(ctypes.c_uint64(SEED), request.param):
        pytest.skip("this CPU has no BMI2")
    return library


def signed(library, texts: list[str]) -> tuple[int, int]:
    """What the kernel makes of @texts, one below the other: the sum, and the length."""
    limbs = (ctypes.c_uint64 * LIMBS)()
    # eight readable bytes behind the end, which are not zero
    buffers = [ctypes.create_string_buffer(text.encode("latin-1") + b"\0" + b"\xa5" * 8) for text in texts]
    pointers = (ctypes.c_char_p * len(texts))(*(ctypes.cast(one, ctypes.c_char_p) for one in buffers))
    length = library.sign(pointers, len(texts), limbs)
    return sum(limb << 64 * place for place, limb in enumerate(limbs)), length


def expected(library, texts: list[str]) -> tuple[int, int]:
    """k + the sum of key_i * word_i modulo 2^320, over the words of the whole text, each component with a slash behind it."""
    whole = "".join(f"{text}/" for text in texts).encode("latin-1")
    total = sum(library.root(limb) << 64 * limb for limb in range(LIMBS))
    for place in range(0, len(whole), 8):
        key = sum(library.key(place // 8, limb) << 64 * limb for limb in range(LIMBS))
        total += key * int.from_bytes(whole[place : place + 8], "little")
    return total % 2**320, len(whole)


@settings(max_examples=300, deadline=None)
@given(texts=PATHS)
def test_a_signature_is_the_sum_that_its_proof_wants(signatures, texts):
    assert signed(signatures, texts) == expected(signatures, texts)


@settings(max_examples=100, deadline=None)
@given(texts=PATHS)
def test_it_goes_on_from_any_directory(signatures, texts):
    assert signed(signatures, texts) == signed(signatures, ["/".join(texts)])


def test_where_a_component_ends_counts(signatures):
    found = {
        signed(signatures, [text])[0]
        for text in ("ab/c", "abc", "a/bc", "ab/c/d", "ab", "abcdefg", "abcdefgh", "abcdefg/h")
    }
    assert len(found) == 8
