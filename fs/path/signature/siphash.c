/* siphash.c - see siphash.h. */
#ifdef CONFIG_PATH_SIGNATURE_SIPHASH

#include "fs/path/direct/signature.h"
#include "fs/path/signature/words.h"

/* What tells the form of 128 bits from that of 64, and its second half. */
#define OF_128_BITS 0xee
#define SECOND_HALF 0xdd

struct signature signature_of_root;

static __always_inline u64 rotate_left(u64 x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static __always_inline void sip_round(u64 v[4])
{
	v[0] += v[1];
	v[1] = rotate_left(v[1], 13) ^ v[0];
	v[0] = rotate_left(v[0], 32);
	v[2] += v[3];
	v[3] = rotate_left(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotate_left(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotate_left(v[1], 17) ^ v[2];
	v[2] = rotate_left(v[2], 32);
}

static __always_inline void add_word(u64 v[4], u64 word)
{
	v[3] ^= word;
	sip_round(v);
	sip_round(v);
	v[0] ^= word;
}

static __always_inline u64 half_of_value(u64 v[4])
{
	sip_round(v);
	sip_round(v);
	sip_round(v);
	sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* The value of one of the two, of which @state is behind all but @last, the bytes that are left,
 * with the message's length in the top one. */
static __always_inline void finish(u64 value[2], const u64 state[4], u64 last)
{
	u64 v[4] = {state[0], state[1], state[2], state[3]};

	add_word(v, last);
	v[2] ^= OF_128_BITS;
	value[0] = half_of_value(v);
	v[1] ^= SECOND_HALF;
	value[1] = half_of_value(v);
}

/* @sum's values, where all else is there. The message is longer than the text by the tree's
 * word. */
static __always_inline void finish_all(struct signature *sum)
{
	u64 last = sum->left | (sum->length + 8) << 56;

	finish(&sum->value[0], sum->state[0], last);
	finish(&sum->value[2], sum->state[1], last);
}

/* To both. */
static __always_inline void add_to_all(u64 state[SIPHASH_LANES][4], u64 word)
{
	add_word(state[0], word);
	add_word(state[1], word);
}

void signature_below(struct signature *sum, const struct signature *directory, const char *text)
{
	u64 length = directory->length, carried = directory->left, word, ends;
	unsigned shift = length % 8 * 8;
	const char *at = text;
	u64 state[SIPHASH_LANES][4];

	memcpy(state, directory->state, sizeof(state));
	for (;; at += 8) {
		word = load_word(at);
		ends = text_ends(word);
		if (ends)
			break;
		add_to_all(state, word << shift | carried);
		carried = word >> 1 >> (63 - shift);
	}
	u64 end = ends & -ends;

	word = last_word(word, end);
	carried |= word << shift;
	if (shift / 8 + bytes_before(end) >= 7) {
		add_to_all(state, carried);
		carried = word >> 1 >> (63 - shift);
	}
	memcpy(sum->state, state, sizeof(state));
	sum->left = carried;
	sum->length = length + (size_t)(at - text) + bytes_before(end) + 1;
	finish_all(sum);
}

void signature_init(void)
{
	u64 seed = random_u64(), tree = random_key_word(&seed);

	for (unsigned lane = 0; lane < SIPHASH_LANES; lane++) {
		u64 *v = signature_of_root.state[lane], low = random_key_word(&seed),
		    high = random_key_word(&seed);

		v[0] = low ^ 0x736f6d6570736575ull;
		v[1] = high ^ 0x646f72616e646f6dull ^ OF_128_BITS;
		v[2] = low ^ 0x6c7967656e657261ull;
		v[3] = high ^ 0x7465646279746573ull;
		add_word(v, tree);
	}
	finish_all(&signature_of_root);
}

#endif
