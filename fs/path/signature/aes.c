/* aes.c - see aes.h. */
#if defined(CONFIG_DCACHE_FASTPATH) && defined(CONFIG_PATH_SIGNATURE_AES)

#include <arch/math/aes.h>

#include "fs/path/direct/signature.h"
#include "fs/path/signature/ends.h"

#include "core/random.h"

#define BLOCK 16 /* bytes */

/* The bytes of a block, the first one lowest. */
typedef unsigned __int128 block_t;

struct signature signature_of_root;
static struct arch_aes_keys keys;
/* What the last block is added to besides: if it is whole, and if it is not. */
static block_t last_keys[2][AES_LANES];

static __always_inline void chain(u64 chains[AES_LANES][2], block_t block)
{
	const u64 words[2] = {(u64)block, (u64)(block >> 64)};

	arch_aes_chain(chains, &keys, words);
}

/* @sum's value and state: @chains are behind all but @block, the last @size bytes of the text, 1 to
 * 16. Between arch_vectors_begin() and arch_vectors_end(). */
static __always_inline void finish(struct signature *sum, u64 chains[AES_LANES][2], block_t block,
				   unsigned size)
{
	u64(*value)[2] = (u64(*)[2])sum->value;
	bool whole = size == BLOCK;

	for (unsigned lane = 0; lane < AES_LANES; lane++) {
		value[lane][0] = chains[lane][0] ^ (u64)last_keys[!whole][lane];
		value[lane][1] = chains[lane][1] ^ (u64)(last_keys[!whole][lane] >> 64);
	}
	chain(value, whole ? block : block | (block_t)0x80 << 8 * size);
	if (whole) {
		chain(chains, block); /* as one on the way */
		block = 0;
	}
	memcpy(sum->chain, chains, sizeof(sum->chain));
	sum->left[0] = (u64)block;
	sum->left[1] = (u64)(block >> 64);
}

/* What is to be read next of a text. */
struct piece {
	block_t block; /* zeros behind the end */
	unsigned size; /* 16; or it is the last, with the slash in the place of its NUL */
	bool is_last;
};

static __always_inline struct piece take_piece(const char *text)
{
	u64 low = load_word(text), ends = ends_of(low), end = ends & -ends;

	if (ends)
		return (struct piece){last_word(low, end), bytes_before(end) + 1, true};
	u64 high = load_word(text + 8);
	ends = ends_of(high);
	end = ends & -ends;
	if (!ends)
		return (struct piece){(block_t)high << 64 | low, BLOCK, false};
	return (struct piece){(block_t)last_word(high, end) << 64 | low, 8 + bytes_before(end) + 1,
			      true};
}

void signature_below(struct signature *sum, const struct signature *directory, const char *text)
{
	u64 length = directory->length, chains[AES_LANES][2];
	unsigned held = length % BLOCK, shift = held * 8;
	block_t left = (block_t)directory->left[1] << 64 | directory->left[0];
	struct arch_vectors saved;
	struct piece piece;

	memcpy(chains, directory->chain, sizeof(chains));
	arch_vectors_begin(&saved);
	for (;; text += BLOCK) {
		piece = take_piece(text);
		left |= piece.block << shift;
		length += piece.size;
		if (piece.is_last && held + piece.size <= BLOCK)
			break;
		chain(chains, left);
		left = piece.block >> 1 >> (127 - shift);
		if (piece.is_last) {
			held -= BLOCK;
			break;
		}
	}
	finish(sum, chains, left, held + piece.size);
	arch_vectors_end(&saved);
	sum->length = length;
}

/* ---- boot ------------------------------------------------------------------------------------ */

/* Of the key of @lane, which is that of its round 0: the keys of all other rounds (FIPS 197,
 * section 5.2). */
static void expand_key(unsigned lane)
{
	u32 constant = 1, words[4 * (AES_ROUNDS + 1)], last;

	memcpy(words, keys.round[0][lane], BLOCK);
	for (unsigned i = 4; i < 4 * (AES_ROUNDS + 1); i++) {
		last = words[i - 1];
		if (i % 4 == 0) {
			last = arch_aes_substitute(last >> 8 | last << 24) ^ constant;
			constant = constant << 1 ^ (constant >> 7) * 0x11b;
		}
		words[i] = words[i - 4] ^ last;
	}
	for (unsigned round = 1; round <= AES_ROUNDS; round++)
		memcpy(keys.round[round][lane], &words[4 * round], BLOCK);
}

/* @block times x, where its first byte is the highest (RFC 4493, section 2.3). */
static block_t doubled(block_t block)
{
	u64 high = __builtin_bswap64((u64)block), low = __builtin_bswap64((u64)(block >> 64));
	u64 carry = high >> 63;

	high = high << 1 | low >> 63;
	low = low << 1 ^ carry * 0x87;
	return (block_t)__builtin_bswap64(low) << 64 | __builtin_bswap64(high);
}

void signature_init(void)
{
	u64 seed = random_u64(), low = splitmix64(&seed), high = splitmix64(&seed);
	u64 chains[AES_LANES][2] = {{0}};
	struct arch_vectors saved;

	if (!arch_has_aes())
		panic("PATH_SIGNATURE=aes: this processor has no AES instructions");
	ends_init();
	arch_vectors_begin(&saved);
	for (unsigned lane = 0; lane < AES_LANES; lane++) {
		for (unsigned i = 0; i < 2; i++)
			keys.round[0][lane][i] = splitmix64(&seed);
		expand_key(lane);
	}
	chain(chains, 0);
	for (unsigned lane = 0; lane < AES_LANES; lane++) {
		last_keys[0][lane] = doubled((block_t)chains[lane][1] << 64 | chains[lane][0]);
		last_keys[1][lane] = doubled(last_keys[0][lane]);
		chains[lane][0] = chains[lane][1] = 0;
	}
	finish(&signature_of_root, chains, (block_t)high << 64 | low, BLOCK);
	arch_vectors_end(&saved);
}

#endif
