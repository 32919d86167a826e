"""Signatures of paths (fs/path/signature), with the kernel's own arithmetic, against models in Python and published vectors."""

from __future__ import annotations

import ctypes
import struct
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.cmac import CMAC
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.base.paths import TOP
from tests.hash.compiled import build, scratch

WORDS = {"multilinear": 5, "aes": 4, "siphash": 4, "text": 1}
LONGEST = 1024 + 4096  # SIGNATURE_MAX
SEED = 0x0123456789ABCDEF
ALL = 2**64 - 1
NAMES = st.text(st.characters(min_codepoint=1, max_codepoint=255, exclude_characters="/"), min_size=1, max_size=40)
PATHS = st.lists(st.lists(NAMES, min_size=1, max_size=4).map("/".join), min_size=1, max_size=5)


@cache
def load(name: str, bits: int = 240, arch: str = "arch/x86") -> ctypes.CDLL:
    """A file of fs/path/signature, with arch/x86's arithmetic or the hosted kernel's."""
    folder = scratch() / arch.replace("/", "-")
    (folder / "arch" / "math").mkdir(parents=True, exist_ok=True)
    for header in ("wide.h", "aes.h"):
        (folder / "arch" / "math" / header).write_text(f'#include "{TOP}/{arch}/include/arch/math/{header}"\n')
    chosen = [
        "CONFIG_DCACHE_FASTPATH",
        f"CONFIG_SIGNATURE_BITS={bits}",
        "CONFIG_PREFIX_WAYS=8",
        "CONFIG_DIRECT_PATHS=1",
        "CONFIG_HASH_WORD=64",
    ]
    chosen += [f"CONFIG_PATH_SIGNATURE_{name.upper()}", "CONFIG_NR_CPUS=1"]
    chosen += [f'CONFIG_PATH_SIGNATURE_HEADER="fs/path/signature/{name}.h"']
    flags = ("-shared", "-fPIC", "-fno-strict-aliasing", f"-I{folder}")
    found = ctypes.CDLL(str(build("signature.c", scratch() / f"{name}-{bits}-{folder.name}.so", {}, chosen, flags)))
    found.begin.restype = found.bit_counts.restype = ctypes.c_bool
    found.sign.restype = found.index_of_last.restype = ctypes.c_uint64
    found.name = name
    return found


def begin(library, newest, seed=SEED, later=0, fixed=True):
    return library.begin(ctypes.c_uint64(seed), ctypes.c_uint64(later), fixed, newest)


FORMS = ["multilinear", "multilinear on any CPU", "multilinear hosted", "aes", "aes hosted", "siphash", "text"]


@pytest.fixture(scope="module", params=FORMS)
def signatures(request):
    name, _, how = request.param.partition(" ")
    library = load(name, arch="hosted" if how == "hosted" else "arch/x86")
    if not begin(library, how == ""):
        pytest.skip("this CPU has not the instructions")
    return library


def signed(library, texts: list[str]) -> tuple[int, int]:
    """What the kernel makes of @texts, one below the other: the number, and the length."""
    words = (ctypes.c_uint64 * WORDS[library.name])()
    # eight readable bytes behind the end, which are not zero
    buffers = [ctypes.create_string_buffer(text.encode("latin-1") + b"\0" + b"\xa5" * 8) for text in texts]
    pointers = (ctypes.c_char_p * len(texts))(*(ctypes.cast(one, ctypes.c_char_p) for one in buffers))
    length = library.sign(pointers, len(texts), words)
    return sum(word << 64 * place for place, word in enumerate(words)), length


# ---- models: of what is drawn at boot, and the whole text, each component with a slash behind it -------------------------


def drawn() -> Iterator[int]:
    """SplitMix64 (core/random.h)."""
    state = SEED
    while True:
        state = z = (state + 0x9E3779B97F4A7C15) & ALL
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & ALL
        z = (z ^ z >> 27) * 0x94D049BB133111EB & ALL
        yield z ^ z >> 31


@cache
def keys_of(limbs: int) -> list[int]:
    """A key for each word, and k."""
    numbers = drawn()
    return [sum(next(numbers) << 64 * limb for limb in range(limbs)) for _ in range(LONGEST // 8 + 2)]


def sum_of_products(text: bytes, limbs: int) -> int:
    """k + the sum of key_i * word_i modulo 2^(64 limbs)."""
    keys = keys_of(limbs)
    words = [int.from_bytes(text[place : place + 8], "little") for place in range(0, len(text), 8)]
    return (keys[-1] + sum(key * word for key, word in zip(keys, words, strict=False))) % 2 ** (64 * limbs)


def siphash_2_4_128(key: bytes, text: bytes) -> bytes:
    """Aumasson and Bernstein 2012, and their reference implementation's form of 128 bits."""
    low, high = struct.unpack("<QQ", key)
    v = [low ^ 0x736F6D6570736575, high ^ 0x646F72616E646F6D, low ^ 0x6C7967656E657261, high ^ 0x7465646279746573]

    def rounds(count: int) -> None:
        for _ in range(count):
            for one, other, rotated, turned in (0, 1, 13, 32), (2, 3, 16, 0), (0, 3, 21, 0), (2, 1, 17, 32):
                v[one] = (v[one] + v[other]) & ALL
                v[other] = (v[other] << rotated | v[other] >> (64 - rotated)) & ALL ^ v[one]
                v[one] = (v[one] << turned | v[one] >> (64 - turned)) & ALL

    v[1] ^= 0xEE
    padded = text + bytes(7 - len(text) % 8) + bytes([len(text) % 256])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xEE
    rounds(4)
    first = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xDD
    rounds(4)
    return struct.pack("<QQ", first, v[0] ^ v[1] ^ v[2] ^ v[3])


def aes_cmac(key: bytes, text: bytes) -> bytes:
    code = CMAC(AES(key))
    code.update(text)
    return code.finalize()


def of_two(function, tree_words: int, text: bytes) -> int:
    """What is drawn: the tree's words, two keys; the values one after the other."""
    numbers = drawn()
    tree, *keys = (b"".join(next(numbers).to_bytes(8, "little") for _ in range(words)) for words in (tree_words, 2, 2))
    return int.from_bytes(b"".join(function(key, tree + text) for key in keys), "little")


MODELS = {
    "multilinear": lambda text: sum_of_products(text, 5),
    "aes": lambda text: of_two(aes_cmac, 2, text),
    "siphash": lambda text: of_two(siphash_2_4_128, 1, text),
    "text": lambda text: sum_of_products(text, 1),
}


@pytest.mark.parametrize(
    ("length", "value"),
    [
        (0, "a3817f04ba25a8e66df67214c7550293"), (1, "da87c1d86b99af44347659119b22fc45"),
        (8, "3b62a9ba6258f5610f83e264f31497b4"), (15, "5493e99933b0a8117e08ec0f97cfc3d9"),
        (63, "5150d1772f50834a503e069a973fbd7c"),
    ],
)  # fmt: skip
def test_the_model_of_siphash_has_the_published_values(length, value):
    """vectors.h of https://github.com/veorq/SipHash."""
    assert siphash_2_4_128(bytes(range(16)), bytes(range(length))).hex() == value


# ---- what holds for each ----------------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(texts=PATHS)
def test_a_signature_is_the_model_s(signatures, texts):
    whole = "".join(f"{text}/" for text in texts).encode("latin-1")
    assert signed(signatures, texts) == (MODELS[signatures.name](whole), len(whole))


@settings(max_examples=100, deadline=None)
@given(texts=PATHS)
def test_it_goes_on_from_any_directory(signatures, texts):
    assert signed(signatures, texts) == signed(signatures, ["/".join(texts)])


def test_a_text_may_end_anywhere(signatures):
    """Texts of all lengths below directories of all: what is left of a word, or of a block, meets what is new."""
    for above in range(1, 18):
        for below in (*range(1, 18), 31, 32, 33):
            texts = ["d" * above, "f" * below]
            whole = "".join(f"{text}/" for text in texts).encode()
            assert signed(signatures, texts) == (MODELS[signatures.name](whole), len(whole)), (above, below)


def test_where_a_component_ends_counts(signatures):
    found = {
        signed(signatures, [text])[0]
        for text in ("ab/c", "abc", "a/bc", "ab/c/d", "ab", "abcdefg", "abcdefgh", "abcdefg/h")
    }
    assert len(found) == 8


@pytest.mark.parametrize("name", ["multilinear", "aes", "siphash", "text"])
def test_a_key_is_as_random_as_it_is_long(name):
    """On a real machine each word of it is drawn: 64 bits of seed would make 2^64 keys, not 2^320 for a word of text."""
    library = load(name)

    def by(**drawn):
        if not begin(library, True, **drawn):
            pytest.skip("this CPU has not the instructions")
        return signed(library, ["some/path"])

    assert by(later=1, fixed=True) == by(later=2, fixed=True), "with seed= it is all that counts"
    assert by(later=1, fixed=False) == by(later=1, fixed=False)
    if name != "text":  # the names are compared, and the key is of the index alone
        assert by(later=1, fixed=False) != by(later=2, fixed=False)


@pytest.mark.parametrize(
    ("name", "bits"),
    [("multilinear", 16), ("multilinear", 128), ("multilinear", 240), ("siphash", 100), ("siphash", 240), ("aes", 240)],
)
def test_so_many_bits_are_compared(name, bits):
    """The uppermost of 256, which multilinear has above its lowest word; those below are of no account."""
    library = load(name, bits)
    if not begin(library, True):
        pytest.skip("this CPU has not the instructions")
    signed(library, ["some/path"])
    top = 64 * WORDS[name]
    assert [library.bit_counts(bit) for bit in range(top)] == [bit >= top - bits for bit in range(top)]


def test_texts_that_differ_little_have_other_indexes(signatures):
    indexes = []
    for number in range(2000):
        signed(signatures, [f"usr/include/header-{number}.h"])
        indexes.append(signatures.index_of_last())
    assert max(indexes) < 2**24
    # of 2,000 in 65,536 places 1,970 are expected to be different
    assert len({index % 65536 for index in indexes}) > 1900


def test_numbered_names_take_no_places_from_each_other():
    """By one key of fifty, half of a hundred numbered names have the index of another one (fs/path/alias/place.h)."""
    library = load("multilinear", arch="hosted")
    most = []
    for seed in range(500):
        assert begin(library, False, seed=seed)
        places: Counter[int] = Counter()
        for number in range(100):
            signed(library, [f"known/absent/{number}"])
            places[library.place_of_last()] += 1
        most.append(sum(count for count in places.values() if count > 1))
    # 2.4 are expected to share one of 4096 places; by the index itself 50 and more
    assert max(most) < 20
    assert 1.5 < sum(most) / len(most) < 3.5
