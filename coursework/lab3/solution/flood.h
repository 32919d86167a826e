/*
 * A solution of lab 3: keys and names that break hash functions, and a name hash that they do not
 * break: the sum of each four bytes of the name times a secret number, modulo 2^64, the upper half.
 *
 * Source: multilinear hashing (Lemire and Kaser 2014). Cost: two multiplications, two loads of keys
 * for eight bytes. Weakness: names of at most 256 bytes; a random number for each four of them.
 */

/* The product's bits from shift + bits on do not count, and the lower ones come of the block's own
 * lower ones alone: a distance of 2^(shift + bits) changes nothing. */
static inline void product_blocks(u64 multiplier, unsigned shift, unsigned bits, u64 *blocks,
				  unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		blocks[i] = (u64)i << (shift + bits);
}

/* What is folded can be unfolded, from the top downwards: the block of each sum that ends in @bits
 * zeros. */
static inline void folded_blocks(unsigned s, unsigned t, unsigned bits, u64 *blocks, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		const u64 sum = (u64)i << bits;
		u64 block = sum, before;

		do {
			before = block;
			block = sum ^ before >> s ^ before >> t;
		} while (block != before);
		blocks[i] = block;
	}
}

/*
 * A distance whose product is nearly a whole turn of 2^64, by Euclid's algorithm: the rests of 2^64
 * and the multiplier become smaller, and each is @multiplier times @turns, up to its sign. The
 * first that is small enough for @count steps within one bucket has turns <= count 2^bits.
 */
static inline void top_blocks(u64 multiplier, unsigned bits, u64 *blocks, unsigned count)
{
	u64 rest_before = multiplier, rest = -multiplier, turns_before = 1, turns = 1;
	const u64 enough = (1ull << (64 - bits)) / count;

	/* 2^64 = q * multiplier + rest, begun with one subtraction since 2^64 itself has no u64. */
	turns += turns_before * (rest / rest_before);
	rest %= rest_before;
	while (rest >= enough) {
		const u64 q = rest_before / rest, next = rest_before % rest;
		const u64 turns_next = turns_before + q * turns;

		rest_before = rest, rest = next;
		turns_before = turns, turns = turns_next;
	}
	for (unsigned i = 0; i < count; i++)
		blocks[i] = (i + 1) * turns;
}

#define PIECE 6
#define SLOTS (1u << 20)

static inline void piece_of(u32 number, char *piece)
{
	u64 x = (number + 1) * 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9ull;
	x ^= x >> 29;
	for (unsigned i = 0; i < PIECE; i++, x >>= 8)
		piece[i] = (char)('0' + (x & 255) % 79);
}

/*
 * Two pieces with one hash, by birthdays: among 2^17 pieces or some more there are two. A name of
 * ten such pieces has the same hash whichever of the two stands where (Joux 2004).
 */
static inline void two_pieces(u32 multiplier, char pieces[2][PIECE])
{
	static u32 slots[SLOTS]; /* the piece's number, from 1 */

	for (u32 i = 0; i < SLOTS; i++)
		slots[i] = 0;
	for (u32 number = 0;; number++) {
		u32 hash = 0, slot;

		piece_of(number, pieces[0]);
		for (unsigned i = 0; i < PIECE; i++)
			hash = multiplier * hash + (u8)pieces[0][i];
		for (slot = hash * 2654435761u >> 12; slots[slot]; slot = (slot + 1) % SLOTS) {
			u32 other = 0;
			bool same = true;

			piece_of(slots[slot] - 1, pieces[1]);
			for (unsigned i = 0; i < PIECE; i++) {
				other = multiplier * other + (u8)pieces[1][i];
				same &= pieces[0][i] == pieces[1][i];
			}
			if (other == hash && !same)
				return;
		}
		slots[slot] = number + 1;
	}
}

static inline void multiplied_names(u32 multiplier, char (*names)[256], unsigned count)
{
	char pieces[2][PIECE];

	two_pieces(multiplier, pieces);
	for (unsigned i = 0; i < count; i++) {
		char *at = names[i];

		for (unsigned bit = 0; bit < 12; bit++, at += PIECE)
			__builtin_memcpy(at, pieces[i >> bit & 1], PIECE);
		*at = 0;
	}
}

/* h = rotl(h, 4) ^ c: four bits of a byte meet the other four of the byte behind it. */
static inline void flood_names(char (*names)[256], unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		char *at = names[i];

		for (unsigned shift = 0; shift < 12; shift += 2) {
			const unsigned d = i >> shift & 3;

			*at++ = (char)('d' ^ d);
			*at++ = (char)('A' ^ d << 4);
		}
		*at = 0;
	}
}

static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)
{
	const u64 *key = hash_multilinear_keys + 2;
	u64 h = hash_multilinear_keys[0] + hash_multilinear_keys[1] * length;

	for (; length; key += 2) {
		u64 word = hash_take(u64, &name, &length);

		h += key[0] * (u32)word + key[1] * (word >> 32);
	}
	return (u32)(h >> 32);
}
