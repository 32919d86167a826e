/*
 * A name hash by Pearson's table of bytes: four walks at once.
 *
 * Source: Pearson 1990. Cost: four loads a byte, each waiting for one before it. Weakness: slow;
 * the four walks are not independent.
 */
#include "hash/any/pearson.h"

HASH_BYTES(u32, HASH_PEARSON_BEGIN, hash_pearson_byte(h, c), h)
