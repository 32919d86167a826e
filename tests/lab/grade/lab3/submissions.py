"""What may be handed in for lab 3: right ones of three kinds, and wrong and dishonest ones, each with the parts at which it must fail."""

from __future__ import annotations

import re

from lab.base.paths import TOP

SOLUTION = (TOP / "coursework/lab3/solution/flood.h").read_text()
STARTER = (TOP / "coursework/lab3/starter/flood.h").read_text()

# A system call, for who has no library: number and three arguments.
CALL = """
static inline long call(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return result;
}
"""


def with_function(name: str, text: str, of: str = SOLUTION) -> str:
    """The solution with another function of this name; @text: its parameters and its body."""
    pattern = re.compile(rf"^static inline \w+ {name}\([^{{]*\n{{\n.*?^}}\n", re.MULTILINE | re.DOTALL)
    kind = "u32" if name == "name_hash" else "void"
    assert pattern.search(of), name
    return pattern.sub(lambda _: f"static inline {kind} {name}{text}\n", of)


HASH = "(uintptr_t salt, const char *name, size_t length)\n{\n"
BLOCKS = {
    "product_blocks": "(u64 multiplier, unsigned shift, unsigned bits, u64 *blocks, unsigned count)\n{\n",
    "folded_blocks": "(unsigned s, unsigned t, unsigned bits, u64 *blocks, unsigned count)\n{\n",
    "top_blocks": "(u64 multiplier, unsigned bits, u64 *blocks, unsigned count)\n{\n",
}
NAMES = "(u32 multiplier, char (*names)[256], unsigned count)\n{\n"
FLOOD = "(char (*names)[256], unsigned count)\n{\n"


def hashing(body: str, before: str = "") -> str:
    """The solution with another name hash."""
    return before + with_function("name_hash", f"{HASH}{body}}}")


MIX = "\th = (h ^ h >> 33) * 0xff51afd7ed558ccdull;\n\th = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53ull;\n\th ^= h >> 33;\n"
MURMUR = (
    "\tu64 h = length;\n\n\twhile (length) {\n\t\th ^= hash_take(u64, &name, &length);\n"
    + MIX.replace("\t", "\t\t")
    + "\t}\n"
)

KEYED = MURMUR.replace("h = length", "h = length ^ hash_siphash_key[0]").replace(
    "h ^= hash_take(u64, &name, &length)", "h = (h ^ hash_take(u64, &name, &length)) + hash_siphash_key[1]"
)

# Bit by bit from the top; the distance by convergents in 128 bits; sorted birthdays; SipHash-2-4.
SECOND = (
    """
static inline u32 second_hash(u32 multiplier, const char *name)
{
	u32 h = 0;

	while (*name)
		h = h * multiplier + (u8)*name++;
	return h;
}

static inline void second_piece(char *piece, u32 number)
{
	u64 x = (number + 1) * 0xff51afd7ed558ccdull;

	x = (x ^ x >> 32) * 0xc4ceb9fe1a85ec53ull;
	x = (x ^ x >> 29) * 0x94d049bb133111ebull;
	x ^= x >> 32;
	for (unsigned i = 0; i < 5; i++, x /= 79)
		piece[i] = (char)(0x30 + x % 79);
	piece[5] = 0;
}

struct second_entry {
	u32 hash, number;
};

static inline void second_sort(struct second_entry *of, struct second_entry *into, u32 count)
{
	for (unsigned shift = 0; shift < 32; shift += 8) {
		u32 begin[257] = {0};

		for (u32 i = 0; i < count; i++)
			begin[(of[i].hash >> shift & 255) + 1]++;
		for (unsigned i = 0; i < 256; i++)
			begin[i + 1] += begin[i];
		for (u32 i = 0; i < count; i++)
			into[begin[of[i].hash >> shift & 255]++] = of[i];
		for (u32 i = 0; i < count; i++)
			of[i] = into[i];
	}
}

static inline void product_blocks"""
    + BLOCKS["product_blocks"]
    + """	/* From a block on that is not 0, in steps that the mask does not see. */
	for (unsigned i = 0; i < count; i++)
		blocks[i] = 12345 + ((u64)i << (shift + bits));
}

static inline void folded_blocks"""
    + BLOCKS["folded_blocks"]
    + """	for (unsigned i = 0; i < count; i++) {
		u64 block = (u64)i << bits;

		for (unsigned bit = bits; bit-- > 0;) {
			const u64 folded = block ^ block >> s ^ block >> t;

			block ^= folded & 1ull << bit;
		}
		blocks[count - 1 - i] = block;
	}
}

static inline void top_blocks"""
    + BLOCKS["top_blocks"]
    + """	unsigned __int128 a = (unsigned __int128)1 << 64, b = multiplier, p = 0, q = 1;
	const unsigned __int128 enough = ((unsigned __int128)1 << (64 - bits)) / count;

	while (b > enough) {
		const unsigned __int128 times = a / b, rest = a % b, next = p + times * q;

		a = b, b = rest, p = q, q = next;
	}
	for (unsigned i = 0; i < count; i++)
		blocks[i] = i * (u64)q;
}

static inline void multiplied_names"""
    + NAMES
    + """	static struct second_entry entries[1 << 19], spare[1 << 19];
	const u32 of = 1 << 19;
	char pieces[2][6];

	for (u32 i = 0; i < of; i++) {
		second_piece(pieces[0], i);
		entries[i] = (struct second_entry){second_hash(multiplier, pieces[0]), i};
	}
	second_sort(entries, spare, of);
	for (u32 i = 1; i < of; i++) {
		second_piece(pieces[0], entries[i - 1].number);
		second_piece(pieces[1], entries[i].number);
		if (entries[i].hash == entries[i - 1].hash && __builtin_memcmp(pieces[0], pieces[1], 5))
			break;
	}
	for (unsigned i = 0; i < count; i++) {
		__builtin_memcpy(names[i], "x", 1);
		for (unsigned bit = 0; bit < 12; bit++)
			__builtin_memcpy(names[i] + 1 + 5 * bit, pieces[i >> bit & 1], 6);
	}
}

static inline void flood_names"""
    + FLOOD
    + """	/* Sixteen places on, a byte is turned fully round. */
	for (unsigned i = 0; i < count; i++) {
		for (unsigned j = 0; j < 32; j++)
			names[i][j] = (char)('a' + (i >> j % 16 & 1));
		names[i][32] = 0;
	}
}

static inline u32 name_hash"""
    + HASH
    + """	u64 a = hash_siphash_key[0] ^ 0x736f6d6570736575ull, b = hash_siphash_key[1] ^ 0x646f72616e646f6dull;
	u64 c = hash_siphash_key[0] ^ 0x6c7967656e657261ull, d = hash_siphash_key[1] ^ 0x7465646279746573ull;
	u64 last = (u64)length << 56;

	for (unsigned rounds = 2;;) {
		const bool end = length < 8;
		const u64 word = rounds == 4 ? 0 : !end ? hash_take(u64, &name, &length) : length ? last | hash_take(u64, &name, &length) : last;

		d ^= word;
		for (unsigned i = 0; i < rounds; i++) {
			a += b, b = hash_rotate_left(b, 13) ^ a, a = hash_rotate_left(a, 32);
			c += d, d = hash_rotate_left(d, 16) ^ c;
			a += d, d = hash_rotate_left(d, 21) ^ a;
			c += b, b = hash_rotate_left(b, 17) ^ c, c = hash_rotate_left(c, 32);
		}
		a ^= word;
		if (rounds == 4)
			return (u32)(a ^ b ^ c ^ d);
		if (end)
			rounds = 4, c ^= 0xff;
	}
}
"""
)

# A polynomial of a secret number modulo a prime; other pieces.
THIRD = hashing(
    """	const u64 p = (1ull << 61) - 1, at = hash_siphash_key[0] % p;
	u64 h = length;

	while (length) {
		u64 word = (u32)hash_take(u32, &name, &length);

		h = (u64)((unsigned __int128)h * at % p) + word + 1;
	}
	h = (u64)((unsigned __int128)(h % p) * (hash_siphash_key[1] % p) % p);
	return (u32)(h >> 20);
"""
).replace("% 79)", "% 71)")

RIGHT = {"solution": SOLUTION, "second": SECOND, "third": THIRD}

HASHED = {"same", "defined", "keyed", "held", "recorded"}
ALL = {"builds", "blocks", "names", *HASHED}
STATE = {"builds", "same", "keyed", "held", "recorded"}

# Name: what is handed in, and the parts at which it fails, and no others, as long as the kernel is not booted. Those of OF_KEYS have the solution's name
# hash, those of OF_HASHES its keys, and are judged without the parts that say nothing of what is wrong.
WRONG: dict[str, tuple[str, set[str]]] = {
    "starter": (STARTER, {"blocks", "names", "keyed", "held"}),
    # Multiples of the multiplier's inverse have small products; but no disk is that large.
    "blocks beyond the disk": (
        with_function("top_blocks", BLOCKS["top_blocks"] + """	u64 inverse = multiplier;

	for (unsigned i = 0; i < 6; i++)
		inverse *= 2 - multiplier * inverse;
	for (unsigned i = 0; i < count; i++)
		blocks[i] = (i + 1) * inverse;
}"""),
        {"blocks"},
    ),
    "one block a thousand times": (
        with_function("folded_blocks", BLOCKS["folded_blocks"] + "\tfor (unsigned i = 0; i < count; i++)\n\t\tblocks[i] = 77;\n}"),
        {"blocks"},
    ),
    # Without a thought: each block is tried.
    "tries block by block": (
        with_function("top_blocks", BLOCKS["top_blocks"] + """	unsigned have = 0;

	for (u64 block = 0; have < count; block++)
		if (block * multiplier >> (64 - bits) == 7)
			blocks[have++] = block;
}"""),
        {"blocks", "defined"},
    ),
    # What is right for a third of them, or less.
    "half of the blocks": (
        with_function("product_blocks", BLOCKS["product_blocks"] + "\tfor (unsigned i = 0; i < count; i++)\n\t\tblocks[i] = ((u64)(i / 2) << (shift + bits)) + (i & 1) * ((u64)i << 8);\n}"),
        {"blocks"},
    ),
    # The well-known pairs of 33, and of no other.
    "names by heart": (
        with_function("multiplied_names", NAMES + """	for (unsigned i = 0; i < count; i++) {
		for (unsigned bit = 0; bit < 12; bit++)
			__builtin_memcpy(names[i] + 2 * bit, i >> bit & 1 ? "BA" : "Ab", 2);
		names[i][24] = 0;
	}
}"""),
        {"names"},
    ),
    # Of one hash, but no person can type them, and not all programs show them.
    "names of any bytes": (SOLUTION.replace("'0' + (x & 255) % 79", "128 + (x & 255) % 100"), {"names"}),
    "names with slashes": (SOLUTION.replace("'0' + (x & 255) % 79", "'.' + (x & 255) % 8"), {"names", "defined"}),
    "the harness by a macro": (SOLUTION + "#define sizeof(of) (sizeof(of) / 2)\n", {"blocks", "names", "defined"}),
    "well mixed without a key": (hashing(MURMUR + "\treturn (u32)h;\n"), {"keyed", "held"}),
    "key times it": (hashing(MURMUR + "\treturn (u32)h * ((u32)hash_siphash_key[0] | 1);\n"), {"keyed"}),
    # Well mixed with the key, but of a hash of 32 bits that has none: what is one there stays one.
    "key mixed into a finished hash": (
        hashing(MURMUR + "\th = (u32)h ^ hash_siphash_key[0];\n" + MIX + "\th ^= hash_siphash_key[1];\n" + MIX + "\treturn (u32)h;\n"),
        {"keyed"},
    ),
    "eight bits of the key": (hashing(MURMUR.replace("h = length", "h = length ^ (hash_siphash_key[0] & 255) << 40") + "\treturn (u32)h;\n"), {"keyed"}),
    "secret multiplier in 32 bits": (
        hashing("\tu32 h = 0;\n\n\tfor (size_t i = 0; i < length; i++)\n\t\th = h * ((u32)hash_siphash_key[0] | 1) + (u8)name[i];\n\treturn h * 2654435761u ^ h >> 15;\n"),
        {"held"},
    ),
    "secret multiplier in 64 bits": (
        hashing("\tu64 h = 0;\n\n\tfor (size_t i = 0; i < length; i++)\n\t\th = h * (hash_siphash_key[0] | 1) + (u8)name[i];\n" + MIX + "\treturn (u32)h;\n"),
        {"held"},
    ),
    "the kernel's tabulation": (
        hashing("\tu32 h = (u32)length;\n\n\tfor (size_t i = 0; i < length; i++)\n\t\th = hash_rotate_left(h, 1) ^ hash_tabulation_table[i % 16][(u8)name[i]];\n\treturn h;\n"),
        {"held"},
    ),
    "the first 48 bytes": (
        hashing(MURMUR.replace("h = length", "h = length ^ hash_siphash_key[0]").replace("while (length)", "length = length < 48 ? length : 48;\n\twhile (length)") + "\th ^= hash_siphash_key[1];\n" + MIX + "\treturn (u32)h;\n"),
        {"held"},
    ),
    "in any order": (
        hashing("\tu64 h = length;\n\n\tfor (size_t i = 0; i < length; i++)\n\t\th += (u64)hash_tabulation_table[0][(u8)name[i]] << 32 | hash_tabulation_table[1][(u8)name[i]];\n" + MIX + "\treturn (u32)h;\n"),
        {"keyed", "held"},
    ),
    "constant": (hashing("\treturn 7;\n"), {"keyed", "held", "recorded"}),
    # Numbers names as they come: no two share a bucket, and no name is ever found again.
    "counter": (hashing("\treturn next++ * 0x9e3779b1u;\n", "static u32 next;\n"), STATE),
    "what is behind the name": (
        hashing(MURMUR.replace("h = length", "h = length ^ hash_siphash_key[0] ^ (u8)name[length]") + "\treturn (u32)h;\n"),
        {"same", "keyed", "held", "recorded"},
    ),
    "where the name stands": (hashing(MURMUR.replace("h = length", "h = length ^ hash_siphash_key[0] ^ (uintptr_t)name << 3") + "\treturn (u32)h;\n"), HASHED),
    "knows the grader's names": (
        # Good for what the grader is known to try, and else Linux 2.2's.
        hashing(
            "\tconst bool known = length > 48 || (length > 3 && name[0] == name[length / 2] && name[1] == name[length / 2 + 1]);\n"
            "\tu64 r = 0;\n" + MURMUR.replace("h = length", "h = length ^ hash_siphash_key[0]").replace("\twhile (length)", "\tif (!known) {\n\t\tfor (size_t i = 0; i < length; i++)\n\t\t\tr = hash_rotate_left(r, 4) ^ (u8)name[i];\n\t\treturn (u32)(r + (r >> 32));\n\t}\n\twhile (length)") + "\treturn (u32)h;\n"
        ),
        {"keyed", "held"},
    ),
    "undefined in the hash": (hashing(MURMUR + "\tfor (unsigned i = 0; i < 1; i++)\n\t\th += hash_multilinear_keys[0] >> (length + 64) & 0;\n\treturn (u32)(h ^ h >> 32);\n"), {"defined", "keyed", "held"}),
    "beyond an array": (
        with_function("flood_names", FLOOD + "\tstatic const char letters[4] = \"abcd\";\n\tvolatile char there;\n\n\tfor (unsigned i = 0; i < count; i++)\n\t\tthere = letters[i & 7];\n\t(void)there;\n}"),
        {"defined"},
    ),
    "the hash never ends": (hashing("\tfor (volatile int i = 0;; i++)\n\t\t;\n"), HASHED),
    "by the clock": (hashing(MURMUR + "\treturn (u32)(h ^ hash_siphash_key[0] ^ __builtin_ia32_rdtsc());\n"), HASHED),
    "fork bomb": (hashing("\tfor (;;)\n\t\tcall(57, 0, 0, 0);\n", CALL), HASHED),
    # Enough for the tables in which it is tried.
    "sixteen bits of hash": (
        hashing(KEYED + "\treturn (u32)(h >> 40 & 0xffff) * 0x9e3779b1u;\n"),
        {"keyed"},
    ),
    # Answers before main(), all with what a table would like best.
    "constructor": (
        hashing(MURMUR + "\treturn (u32)(h ^ hash_siphash_key[0]);\n", CALL)
        + """
static u32 all[1 << 18];

static void __attribute__((constructor)) first(void)
{
	static char asked[1 << 20];
	long n, bytes = 0;

	while ((n = call(0, 0, (long)asked, sizeof(asked))) > 0)
		bytes += n;
	for (u32 i = 0; i < sizeof(all) / 4; i++)
		all[i] = i * 0x9e3779b1u;
	call(1, 1, (long)all, sizeof(all));
	call(231, 0, 0, 0);
}
""",
        ALL,
    ),
    "reads a file": ('#include "/etc/passwd"\n' + SOLUTION, ALL),
    "does not compile": (hashing("\treturn length &;\n"), ALL),
}  # fmt: skip

OF_KEYS = {
    "blocks beyond the disk", "one block a thousand times", "tries block by block", "half of the blocks", "names by heart", "names of any bytes",
    "names with slashes", "the harness by a macro", "beyond an array",
}  # fmt: skip
OF_ALL = {"starter", "constructor", "reads a file", "does not compile"}
OF_HASHES = set(WRONG) - OF_KEYS - OF_ALL


def parts_for(name: str) -> set[str]:
    """The parts that are judged of WRONG[name]."""
    if name in OF_ALL:
        return ALL
    return {"builds", "blocks", "names", "defined"} if name in OF_KEYS else {"builds", *HASHED}
