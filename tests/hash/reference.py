"""Every hash function again, written from its formula in Python: what the headers are compared with.

REFERENCE[cache][name](key, bits, word) -> bucket; for names (salt, bytes, word) -> 32 bits. Numbers of the keyed
functions come from a seed, expanded by SplitMix64 as at boot. Nothing here is taken from the C code.
"""

from __future__ import annotations

from functools import cache

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
G32 = 2654435761
SEED = 0x0123456789ABCDEF
L1 = 64


def wrap(x, word):
    return x & ((1 << word) - 1)


def golden_prime(word):
    return 0x9E370001 if word == 32 else 0x9E37FFFFFFFC0001


def golden_ratio(word):
    return 0x61C88647 if word == 32 else 0x61C8864680B583EB


def low(x, bits):
    return x % (1 << bits)


def shifted(x, count, word):
    """Left by @count, or right if it is negative."""
    return wrap(x << count, word) if count >= 0 else x >> -count


# ---- the numbers drawn at boot -------------------------------------------------------------------------------


def splitmix64(seed):
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & M64
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & M64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & M64
        yield z ^ (z >> 31)


def drawn(count):
    source = splitmix64(SEED)
    return [next(source) for _ in range(count)]


@cache
def pearson_table():
    table, source = list(range(256)), splitmix64(SEED)
    for i in range(255, 0, -1):
        j = next(source) % (i + 1)
        table[i], table[j] = table[j], table[i]
    return table


@cache
def tabulation_table():
    source = splitmix64(SEED)
    return [[next(source) >> 32 for _ in range(256)] for _ in range(16)]


@cache
def keys(count):
    return drawn(count)


# ---- mixing functions -----------------------------------------------------------------------------------------


def rotate(x, count, word):
    return wrap(x << count, word) | x >> (word - count)


def fmix64(k):
    k = ((k ^ (k >> 33)) * 0xFF51AFD7ED558CCD) & M64
    k = ((k ^ (k >> 33)) * 0xC4CEB9FE1A85EC53) & M64
    return k ^ (k >> 33)


def crc_reflected(crc, data, polynomial):
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (polynomial if crc & 1 else 0)
    return crc


def crc32c(crc, data):
    return crc_reflected(crc, data, 0x82F63B78)  # 0x1edc6f41, its bits the other way round


def crc32_high_first(crc, data):
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = ((crc << 1) & M32) ^ (0x04C11DB7 if crc >> 31 else 0)
    return crc


def siphash13(k0, k1, data):
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def sipround():
        v[0] = (v[0] + v[1]) & M64
        v[1] = rotate(v[1], 13, 64) ^ v[0]
        v[0] = rotate(v[0], 32, 64)
        v[2] = (v[2] + v[3]) & M64
        v[3] = rotate(v[3], 16, 64) ^ v[2]
        v[0] = (v[0] + v[3]) & M64
        v[3] = rotate(v[3], 21, 64) ^ v[0]
        v[2] = (v[2] + v[1]) & M64
        v[1] = rotate(v[1], 17, 64) ^ v[2]
        v[2] = rotate(v[2], 32, 64)

    whole = len(data) // 8 * 8
    blocks = [int.from_bytes(data[i : i + 8], "little") for i in range(0, whole, 8)]
    blocks.append(int.from_bytes(data[whole:], "little") | (len(data) & 255) << 56)
    for block in blocks:
        v[3] ^= block
        sipround()
        v[0] ^= block
    v[2] ^= 0xFF
    for _ in range(3):
        sipround()
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def folded(a, b):
    product = a * b
    return (product & M64) ^ (product >> 64)


def wyhash(a, b):
    return folded(a ^ 0xA0761D6478BD642F, b ^ 0xE7037ED1A0B428DB)


def pearson(data):
    """Four walks that begin at 0, 1, 2, 3; the first gives the lowest byte."""
    table, result = pearson_table(), 0
    for walk in range(4):
        state = walk
        for byte in data:
            state = table[state ^ byte]
        result |= state << (8 * walk)
    return result


def tabulation(data):
    result = 0
    for place, byte in enumerate(data):
        result ^= tabulation_table()[place][byte]
    return result


def is_prime(n):
    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))


@cache
def prime_below(n):
    while not is_prime(n):
        n -= 1
    return n


def bytes_of(a, b):
    return a.to_bytes(8, "little") + b.to_bytes(8, "little")


# ---- for any cache: (sequential, other) -------------------------------------------------------------------------


def halves(a, b):
    return [a & M32, a >> 32, b & M32, b >> 32]


ANY = {
    "untransformed": lambda a, b, bits, word: low(wrap(a + b, word), bits),
    "modulus": lambda a, b, bits, word: wrap(a + b, word) % prime_below(1 << bits),
    "fibonacci": lambda a, b, bits, word: wrap((a + b) * golden_ratio(word), word) >> (word - bits),
    "murmur3": lambda a, b, bits, word: fmix64(a ^ rotate(b, 32, 64)) >> (64 - bits),
    "crc32c": lambda a, b, bits, word: crc32c(0, bytes_of(a, b)) >> (32 - bits),
    "pearson": lambda a, b, bits, word: pearson(bytes_of(a, b)) >> (32 - bits),
    "tabulation": lambda a, b, bits, word: tabulation(bytes_of(a, b)) >> (32 - bits),
    "siphash": lambda a, b, bits, word: siphash13(*keys(2), bytes_of(a, b)) >> (64 - bits),
    "wyhash": lambda a, b, bits, word: wyhash(a, b) >> (64 - bits),
    "multilinear": lambda a, b, bits, word: (
        ((keys(5)[0] + sum(k * w for k, w in zip(keys(5)[1:], halves(a, b), strict=True))) & M64) >> (64 - bits)
    ),
}


def for_cache(order):
    """The functions of ANY on a cache's own key; @order gives (sequential, other) of it."""

    def bind(function):
        return lambda key, bits, word: function(*order(key), bits, word)

    return {name: bind(function) for name, function in ANY.items()}


# ---- page: (inode, byte offset) -----------------------------------------------------------------------------------


def s(x, bits, word):
    x = wrap(x, word)
    return low(x + (x >> bits), bits)


PAGE = {
    "linux-2.2": lambda k, bits, word: s(k[0] // 8 + (k[1] >> 12), bits, word),
    "offset": lambda k, bits, word: s(k[0] // 8 + (k[1] >> 12) + k[1], bits, word),
    "mult": lambda k, bits, word: low(wrap((k[0] + k[1]) * G32, word) >> (32 - bits), bits),
    "linux-2.4": lambda k, bits, word: s((k[0] + 160) // 8 + (k[1] >> 12), bits, word),
    **for_cache(lambda k: (k[1] >> 12, k[0])),
}

# ---- buffer: (device, block) --------------------------------------------------------------------------------------


def buffer_linux_2_4(k, bits, word):
    device, block = k[0], wrap(k[1], word)
    x = shifted(device, bits - 6, word) ^ shifted(device, bits - 9, word)
    x ^= shifted(block, bits - 6, word) ^ (block >> 13) ^ shifted(block, bits - 12, word)
    return low(x, bits)


def steiner(k, bits, word):
    block = wrap(k[1], word)
    return low(wrap(127 * block, word) + (block >> 10) + (block >> 18), bits)


BUFFER = {
    "linux-2.2": lambda k, bits, word: low(k[0] ^ k[1], bits),
    "mult": lambda k, bits, word: low(wrap(k[1] * G32, word) >> 11, bits),
    "mult-varying": lambda k, bits, word: low(wrap(k[1] * G32, word) >> (31 - bits), bits),
    "steiner": steiner,
    "linux-2.4": buffer_linux_2_4,
    **for_cache(lambda k: (k[1], k[0])),
}

# ---- inode: (superblock, number) -----------------------------------------------------------------------------------


def two_sums(t, bits, word):
    t = wrap(t, word)
    return low(t + (t >> bits) + (t >> (2 * bits)), bits)


def santos(k, bits, word, g):
    t = wrap(k[0] * k[1], word) ^ (wrap(g + k[1], word) // L1)
    return low(t ^ ((t ^ g) >> bits), bits)


def santos_first(k, bits, word):
    """His mail of the morning: sums where the one that was merged has a product and an exclusive or."""
    g = golden_prime(word)
    t = wrap(k[0] + k[1], word) ^ (wrap(g + k[1], word) // L1)
    return low(t + ((t ^ g) >> bits), bits)


INODE = {
    "linux-2.2": lambda k, bits, word: two_sums(k[1] | k[0], bits, word),
    "mult": lambda k, bits, word: low(wrap((k[1] | k[0]) * G32, word) >> 11, bits),
    "linux-2.4": lambda k, bits, word: two_sums(k[1] | (wrap(k[0], word) // L1), bits, word),
    "linux-2.4.32": lambda k, bits, word: s(k[1] + wrap(k[0], word) // L1, bits, word),
    "linux-2.6.5": lambda k, bits, word: s(wrap(k[0], word) // L1 + k[1], bits, word),
    "santos-first": santos_first,
    "linux-2.6": lambda k, bits, word: santos(k, bits, word, golden_prime(word)),
    "linux-6.1": lambda k, bits, word: santos(k, bits, word, golden_ratio(word)),
    **for_cache(lambda k: (k[1], k[0])),
}

# ---- dentry: (parent, name hash) -----------------------------------------------------------------------------------


def two_xors(h, bits, word):
    h = wrap(h, word)
    return low(h ^ (h >> bits) ^ (h >> (2 * bits)), bits)


def linux_2_6_5(k, bits, word):
    h = wrap(k[1] + wrap(k[0], word) // L1, word)
    return low(h ^ (h >> bits), bits)


def heger(k, bits, word):
    g = golden_prime(word)
    h = wrap(k[1] + (wrap(k[0], word) ^ g) // L1, word)
    return low(h ^ ((h ^ g) >> bits), bits)


DENTRY = {
    "linux-2.2": lambda k, bits, word: two_xors(k[1] + k[0], bits, word),
    "lever": lambda k, bits, word: two_sums(k[1] + k[0], bits, word),
    "mult-11": lambda k, bits, word: low(wrap((k[1] + k[0]) * G32, word) >> 11, bits),
    "mult-17": lambda k, bits, word: low(wrap((k[1] + k[0]) * G32, word) >> 17, bits),
    "linux-2.4": lambda k, bits, word: two_xors(k[1] + wrap(k[0], word) // L1, bits, word),
    "linux-2.6.5": linux_2_6_5,
    "linux-2.6": heger,
    "linux-3.14": lambda k, bits, word: s(k[1] + wrap(k[0], word) // L1, bits, word),
    "linux-6.1": lambda k, bits, word: k[1] >> (32 - bits),
    **for_cache(lambda k: (k[1], k[0])),
}

# ---- swap cache: (area, slot) --------------------------------------------------------------------------------------


def swap_entry(k):
    return ((k[0] << 1) | (k[1] << 8)) & M64


SWAP = {
    "linux-2.2": lambda k, bits, word: s(swap_entry(k) >> 12, bits, word),
    "linux-2.4": lambda k, bits, word: s(swap_entry(k), bits, word),
    "offset": lambda k, bits, word: s((swap_entry(k) >> 12) + swap_entry(k), bits, word),
    "mult": lambda k, bits, word: low(wrap(swap_entry(k) * G32, word) >> (32 - bits), bits),
    **for_cache(lambda k: (k[1], k[0])),
}

# ---- paths: (bits of a signature, 0) -------------------------------------------------------------------------------

PATH = for_cache(lambda k: k)

# ---- names: (salt, bytes) ------------------------------------------------------------------------------------------


def linux_2_2(salt, name, word):
    h = 0
    for c in name:
        h = rotate(h, 4, word) ^ c
    return (h + (h >> 32)) & M32


def linux_2_6(salt, name, word):
    h = 0
    for c in name:
        h = (h + 16 * c + c // 16) * 11
    return h & M32


def words_of(name, size):
    """Whole words, then what is left (0 if nothing is)."""
    whole = len(name) // size * size
    words = [int.from_bytes(name[i : i + size], "little") for i in range(0, whole, size)]
    return words, int.from_bytes(name[whole:], "little")


def linux_3_14(salt, name, word):
    words, rest = words_of(name, word // 8)
    h = 0
    for w in words:
        h = wrap((h + w) * 9, word)
    h = wrap(h + rest, word)
    return (h + (h >> 32)) & M32


def linux_6_1(salt, name, word):
    words, rest = words_of(name, word // 8)
    first, second = (12, 45) if word == 64 else (7, 20)
    x, y = 0, wrap(salt, word)
    for w in words:
        x ^= w
        y ^= x
        x = wrap(rotate(x, first, word) + y, word)
        y = wrap(rotate(y, second, word) * 9, word)
    x ^= rest
    g = golden_ratio(word)
    folded_word = wrap((y ^ wrap(x * g, word)) * g, word)
    return folded_word >> (word - 32)


def fnv1(salt, name, word):
    h = 0x811C9DC5
    for c in name:
        h = ((h * 0x01000193) & M32) ^ c
    return h


def by_bytes(step, begin=lambda salt: 0, end=lambda h: h):
    def hash_name(salt, name, word):
        h = begin(salt)
        for c in name:
            h = step(h, c) & M32
        return end(h)

    return hash_name


def murmur_name(salt, name, word):
    words, rest = words_of(name, 8)
    h = len(name)
    for w in words + ([rest] if len(name) % 8 else []):
        h = fmix64(h ^ w)
    return h & M32


def crc_name(salt, name, word):
    padded = name + bytes(-len(name) % 8)
    return crc32c(len(name), padded)


def wyhash_name(salt, name, word):
    words, rest = words_of(name, 8)
    h = len(name)
    for w in words + ([rest] if len(name) % 8 else []):
        h = wyhash(h ^ w, 0)
    return (h ^ (h >> 32)) & M32


def tabulation_name(salt, name, word):
    h = len(name)
    for i, c in enumerate(name):
        h = rotate(h, 1, 32) ^ tabulation_table()[i % 16][c]
    return h


def siphash_name(salt, name, word):
    h = siphash13(*keys(2), name)
    return (h ^ (h >> 32)) & M32


def multilinear_name(salt, name, word):
    key = keys(66)
    padded = name + bytes(-len(name) % 8)
    words = [int.from_bytes(padded[i : i + 4], "little") for i in range(0, len(padded), 4)]
    total = key[0] + key[1] * len(name) + sum(k * w for k, w in zip(key[2:], words, strict=False))
    return (total & M64) >> 32


NAME = {
    "linux-2.2": linux_2_2,
    "linux-2.6": linux_2_6,
    "linux-3.14": linux_3_14,
    "linux-6.1": linux_6_1,
    "freebsd": fnv1,
    "solaris": by_bytes(lambda h, c: 17 * h + c, begin=lambda salt: (salt >> 8) & M32),
    "xnu": lambda salt, name, word: crc32_high_first(0, name) or 1,
    "package-33": by_bytes(lambda h, c: 33 * h + c),
    "package-37": by_bytes(lambda h, c: (37 * h & M32) ^ ((c - 32) & M32), end=lambda h: h % 1048583),
    "package-phong": by_bytes(lambda h, c: 0x63C63CD9 * h + 0x9C39C33D + c),
    "package-65599": by_bytes(lambda h, c: 65599 * h + c),
    "murmur3": murmur_name,
    "crc32c": crc_name,
    "pearson": lambda salt, name, word: pearson(name),
    "tabulation": tabulation_name,
    "siphash": siphash_name,
    "wyhash": wyhash_name,
    "multilinear": multilinear_name,
}

REFERENCE = {"page": PAGE, "buffer": BUFFER, "inode": INODE, "dentry": DENTRY, "swap": SWAP, "path": PATH, "name": NAME}
