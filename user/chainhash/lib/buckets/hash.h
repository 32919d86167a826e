/*
 * hash.h - from a key to a hash, and from a hash to a bucket and a tag.
 *
 * The value of the hash function is multiplied (Fibonacci hashing: Knuth, volume 3, section 6.4)
 * to the record's *place*, 32 bits of which each depends on all bits of the value that are not
 * above it. The place's low bits choose the bucket. The text takes the value's low bits as they
 * are, which its own default function does not bear: the lowest five bits of 33 h + c are those of
 * the sum of the key's bytes.
 *
 * A bucket's *level* is how many low bits of their places its records have in common: the bits of
 * the last bucket, or one less for one that is yet to be split. A tag is sixteen bits of the place,
 * from bit 0, 8 or 16 on, the last such that is not above the level. So nine bits at least tell
 * records of a bucket apart, and the one bit by which a split divides them is among the tag's; only
 * at levels 7 and 15 a split has to hash the keys anew (beyond level 23 those bits get fewer).
 */
#pragma once

#include "buckets/bucket.h"

static inline u32 hash_place(u32 hash)
{
	return (u32)(hash * 0x9e3779b97f4a7c15ull >> 32);
}

static inline u32 hash_bucket(const struct chainhash *t, u32 place)
{
	u32 bucket = place & t->high_mask;

	return bucket > t->max_bucket ? bucket & t->low_mask : bucket;
}

/* The bucket that @bucket was or will be divided with is there: its level is that of all its kind.
 */
static inline u16 hash_tag(const struct chainhash *t, u32 bucket, u32 place)
{
	bool divided = (bucket | (t->low_mask + 1)) <= t->max_bucket;

	return (u16)(place >> (divided ? t->tag_shift : t->tag_shift_before));
}

/* Of eight bytes, the first one lowest: the first times 33^7, the second times 33^6, and so on. */
static inline u32 hash_eight(u64 x)
{
	const u64 bytes = 0x00ff00ff00ff00ffull, pairs = 0x0000ffff0000ffffull;

	x = (x & bytes) * 33 + (x >> 8 & bytes);
	x = (x & pairs) * (33 * 33) + (x >> 16 & pairs);
	return (u32)x * (33 * 33 * 33 * 33) + (u32)(x >> 32);
}

/*
 * The text's default, hash/name/package-33.h, eight bytes at a time: the same value in a fraction
 * of the time, since no multiplication waits for the one of the byte before. The last one to eight
 * bytes have zeros before them, which add nothing.
 */
static inline u32 hash_default(const u8 *p, size_t size)
{
	static const u32 power[9] = {1,	       33,	   1089,       35937,	  1185921,
				     39135393, 1291467969, 3963737313, 1954312449};
	u32 h = 0;
	size_t left = size;
	u64 last;

	if (unlikely(size < 4)) {
		for (; size; size--)
			h = h * 33 + *p++;
		return h;
	}
	if (size < 8) {
		last = (u64)load32(p + size - 4) << 32;
		return hash_eight(last | (u64)load32(p) << 8 * (8 - size));
	}
	for (; left > 8; left -= 8, p += 8)
		h = h * power[8] + hash_eight(load64(p));
	last = load64(p + left - 8) & ~0ull << 8 * (8 - left);
	return h * power[left] + hash_eight(last);
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

/* NULL: there is none of that name. */
const struct function *function_named(const char *name);

/* Take the function that @options name, or the default: -ENOMEM. */
int hash_choose(struct chainhash *t, const struct chainhash_options *options);

/* Is it the function that the file, whose header was read into @t, was made with? -EDOM. */
int hash_check(struct chainhash *t, const struct chainhash_options *options);
