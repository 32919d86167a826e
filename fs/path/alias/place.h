/*
 * place.h - where an alias stands: each of a fixed number of places has the newest alias of the
 * texts that share it.
 *
 * The index of a signature is mixed for that. By the multilinear function as it is, pairs of texts
 * that differ by the same amount (10 and 32, 11 and 33, 12 and 34) have indexes that do so, too: by
 * one key in fifty, half of a hundred numbered names would share places two by two, and each would
 * take away what is remembered of its other.
 */
#pragma once

#include "fs/path/direct/signature.h"
#include "hash/word.h"
#include "hash/any/murmur3.h"

#define ALIAS_PLACES 4096 /* a power of two */

/* The place of an alias of @text, of ALIAS_PLACES. */
static __always_inline unsigned alias_place(const struct signature *text)
{
	return (unsigned)(hash_fmix64(signature_index(text)) % ALIAS_PLACES);
}
