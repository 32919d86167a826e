/*
 * name_word.h - read a name a word at a time. Names have 7 readable bytes behind their end.
 *
 * The machine is little-endian: the first byte of a name is the lowest of its word.
 */
#pragma once

#include "hash/word.h"

#define HASH_WORD_BYTES (HASH_WORD_BITS / 8)

static __always_inline hash_word hash_load_word(const char *name)
{
	hash_word word;

	__builtin_memcpy(&word, name, sizeof(word));
	return word;
}

static __always_inline u64 hash_load64(const char *name)
{
	u64 word;

	__builtin_memcpy(&word, name, sizeof(word));
	return word;
}

/* A word of which only the first @count bytes count, 0 <= count < 8 (below HASH_WORD_BYTES). */
static __always_inline hash_word hash_first_bytes(hash_word word, size_t count)
{
	return word & (((hash_word)1 << 8 * count) - 1);
}

static __always_inline u64 hash_first_bytes64(u64 word, size_t count)
{
	return word & ((1ull << 8 * count) - 1);
}
