/*
 * A name hash by CRC-32C, eight bytes at a time.
 *
 * Source: Castagnoli, Braeuer and Herrmann 1993; begins with the length. Cost: one instruction for
 * eight bytes with -mcrc32, else 16 loads. Weakness: linear: who knows the polynomial makes
 * collisions.
 */
#include "hash/any/crc32c.h"

HASH_WORDS(u32, (u32)length, hash_crc32c_word(h, w), h)
