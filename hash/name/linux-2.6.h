/*
 * The name hash of Linux 2.6: h = (h + (c << 4) + (c >> 4)) * 11 for each byte.
 *
 * Source: Linux 2.6, partial_name_hash() in dcache.h. Cost: about five instructions a byte.
 * Weakness: short names fill few of the 32 bits.
 */
HASH_BYTES(hash_word, 0, (h + ((hash_word)c << 4) + (c >> 4)) * 11, (u32)h)
