/*
 * hash.h - from a key to a hash, and from a hash to a bucket and a tag.
 *
 * The value of the hash function is multiplied to 64 bits (Fibonacci hashing: Knuth, volume 3,
 * section 6.4). The upper half chooses the bucket by its low bits, each of which depends on all
 * bits of the value; the eight bits below are the record's tag. The text takes the value's low bits
 * as they are, which its own default function does not bear: the lowest five bits of 33 h + c are
 * those of the sum of the key's bytes.
 */
#pragma once

#include "buckets/bucket.h"

static inline u64 hash_spread(u32 hash)
{
	return hash * 0x9e3779b97f4a7c15ull;
}

static inline u8 hash_tag(u64 spread)
{
	return (u8)(spread >> 24);
}

static inline u32 hash_bucket(const struct chainhash *t, u64 spread)
{
	u32 bucket = (u32)(spread >> 32) & t->high_mask;

	return bucket > t->max_bucket ? bucket & t->low_mask : bucket;
}

/*
 * The text's default, hash/name/package-33.h, four bytes at a time: the same value in a third of
 * the time, since no multiplication waits for the one of the byte before. The rest of one to three
 * bytes is taken from the last four, without a branch.
 */
static inline u32 hash_default(const u8 *p, size_t size)
{
	static const u32 power[4] = {1, 33, 33 * 33, 33 * 33 * 33};
	u32 h = 0, last;
	size_t left = size;

	if (unlikely(size < 4)) {
		for (; size; size--)
			h = h * 33 + *p++;
		return h;
	}
	for (; left >= 4; left -= 4, p += 4)
		h = h * (33 * power[3]) + p[0] * power[3] + p[1] * power[2] + p[2] * 33u + p[3];
	last = (u32)(load32(p + left - 4) & ~0ull << (32 - 8 * left));
	return h * power[left] + (last >> 8 & 0xff) * power[2] + (last >> 16 & 0xff) * 33u +
	       (last >> 24);
}

static inline u32 hash_key(const struct chainhash *t, const void *key, size_t size)
{
	if (likely(!t->named && !t->own))
		return hash_default(key, size);
	return t->named ? t->named(t->keys, key, size) : t->own(key, size);
}

/* The hash of a record's key; one in pages of its own has it beside. */
static inline u32 item_hash(const struct chainhash *t, const struct item *item)
{
	return likely(item->key != NULL) ? hash_key(t, item->key, item->key_size) : item->hash;
}

/* Take the function that @options name, or the default: -EINVAL, -ENOMEM, with a message. */
int hash_choose(struct chainhash *t, const struct chainhash_options *options);

/* Is it the function that the file, whose header was read into @t, was made with? -EDOM. */
int hash_check(struct chainhash *t, const struct chainhash_options *options);

void hash_free(struct chainhash *t);
