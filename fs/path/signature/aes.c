/* aes.c - see aes.h. */
#ifdef CONFIG_PATH_SIGNATURE_AES

#include <arch/math/aes.h>

#include "fs/path/direct/signature.h"
#include "fs/path/signature/words.h"

#define BLOCK 16 /* bytes */

struct signature signature_of_root;
static struct arch_aes_keys keys;
/* What the last block is added to besides: if it is whole, and if it is not. */
static u64 last_keys[2][AES_LANES][2];

/* @sum's value, where its chain is behind all but @block, the last @size bytes of the text, 1 to
 * 16, and zeros; and its chain behind a whole one, or what is left. Between arch_vectors_begin()
 * and arch_vectors_end(). */
static __always_inline void finish(struct signature *sum, u64 block[2], unsigned size)
{
	u64(*value)[2] = (u64(*)[2])sum->value;
	bool whole = size == BLOCK;
	const u64(*last)[2] = last_keys[!whole];

	for (unsigned i = 0; i < 2; i++) {
		value[0][i] = sum->chain[0][i] ^ last[0][i];
		value[1][i] = sum->chain[1][i] ^ last[1][i];
	}
	if (whole) {
		arch_aes_chain(sum->chain, &keys, block);
		sum->left[0] = sum->left[1] = 0;
	} else {
		memcpy(sum->left, block, BLOCK);
		((u8 *)block)[size] = 0x80;
	}
	arch_aes_chain(value, &keys, block);
}

/* What is to be read next of a text. */
struct piece {
	u64 words[2];  /* zeros behind the end */
	unsigned size; /* bytes, with the slash in the place of the NUL; 0: it has no end yet */
};

static __always_inline struct piece take_piece(const char *text)
{
	u64 low = load_word(text), ends = text_ends(low), end = ends & -ends;

	if (ends)
		return (struct piece){{last_word(low, end), 0}, bytes_before(end) + 1};
	u64 high = load_word(text + 8);
	ends = text_ends(high);
	end = ends & -ends;
	if (!ends)
		return (struct piece){{low, high}, 0};
	return (struct piece){{low, last_word(high, end)}, 8 + bytes_before(end) + 1};
}

void signature_below(struct signature *sum, const struct signature *directory, const char *text)
{
	u64 buffer[4] = {directory->left[0], directory->left[1]}, *block = buffer;
	u64 length = directory->length;
	unsigned held = length % BLOCK, size;
	struct piece piece = take_piece(text);
	struct arch_vectors saved;
	const char *at = text;

	for (unsigned lane = 0; lane < AES_LANES; lane++) {
		sum->chain[lane][0] = directory->chain[lane][0];
		sum->chain[lane][1] = directory->chain[lane][1];
	}
	memcpy((u8 *)buffer + held, piece.words, BLOCK);
	arch_vectors_begin(&saved);
	if (piece.size) {
		size = held + piece.size;
		if (size > BLOCK) {
			arch_aes_chain(sum->chain, &keys, block);
			block += 2;
			size -= BLOCK;
		}
	} else { /* a first block with what was left, and then as they lie in the text */
		arch_aes_chain(sum->chain, &keys, block);
		at += BLOCK - held;
		for (;; at += BLOCK) {
			piece = take_piece(at);
			if (piece.size)
				break;
			arch_aes_chain(sum->chain, &keys, piece.words);
		}
		block = piece.words;
		size = piece.size;
	}
	finish(sum, block, size);
	arch_vectors_end(&saved);
	sum->length = length + (size_t)(at - text) + piece.size;
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

/* @doubled: @block times x, where the first byte is the highest (RFC 4493, section 2.3). */
static void double_block(u64 doubled[2], const u64 block[2])
{
	u64 high = __builtin_bswap64(block[0]), low = __builtin_bswap64(block[1]);

	doubled[0] = __builtin_bswap64(high << 1 | low >> 63);
	doubled[1] = __builtin_bswap64(low << 1 ^ (high >> 63) * 0x87);
}

void signature_init(void)
{
	u64 seed = random_u64(), tree[2] = {random_key_word(&seed), random_key_word(&seed)};
	u64(*chains)[2] = signature_of_root.chain, zeros[2] = {0};
	struct arch_vectors saved;

	if (!arch_has_aes())
		panic("PATH_SIGNATURE=aes: this processor has no AES instructions");
	arch_vectors_begin(&saved);
	for (unsigned lane = 0; lane < AES_LANES; lane++) {
		for (unsigned i = 0; i < 2; i++)
			keys.round[0][lane][i] = random_key_word(&seed);
		expand_key(lane);
	}
	arch_aes_chain(chains, &keys, zeros);
	for (unsigned lane = 0; lane < AES_LANES; lane++) {
		double_block(last_keys[0][lane], chains[lane]);
		double_block(last_keys[1][lane], last_keys[0][lane]);
		chains[lane][0] = chains[lane][1] = 0;
	}
	finish(&signature_of_root, tree, BLOCK);
	arch_vectors_end(&saved);
}

#endif
