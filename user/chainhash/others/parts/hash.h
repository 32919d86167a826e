/* hash.h - the hash functions of the text's systems, and the words in which they are told. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The golden ratio in 32 bits, made odd: Knuth, volume 3, section 6.4. */
#define HASH_GOLDEN 0x9e3779b1u

/* h = 65599 h + c: Yigit's sdbm; `hash3` of the 1991 package. The last byte changes low bits. */
static inline uint32_t hash_65599(const void *key, size_t size)
{
	const uint8_t *bytes = key;
	uint32_t hash = 0;

	for (size_t i = 0; i < size; i++)
		hash = 65599 * hash + bytes[i];
	return hash;
}

/*
 * h = 101 h + c: the fold of Larson 1988, whose second step, a remainder by a prime of 21 bits,
 * would stop a table at a million buckets. In its place the bits are mixed by a product and a
 * shift, so that the low ones depend on all.
 */
static inline uint32_t hash_larson(const void *key, size_t size)
{
	const uint8_t *bytes = key;
	uint32_t hash = 0;

	for (size_t i = 0; i < size; i++)
		hash = 101 * hash + bytes[i];
	hash ^= hash >> 15;
	hash *= HASH_GOLDEN;
	return hash ^ hash >> 16;
}
