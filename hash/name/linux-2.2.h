/*
 * The name hash of Linux 2.2: h = rotl(h, 4) ^ c for each byte; a 64-bit h is folded by adding its
 * halves.
 *
 * Source: Lever 1999, section 3.3; Linux 2.2, dcache.h. Cost: two instructions a byte. Weakness: a
 * byte's influence meets that of the byte sixteen places on (eight, with 32-bit words).
 */
HASH_BYTES(hash_word, 0, hash_rotate_left(h, 4) ^ c, (u32)(h + hash_right(h, 32)))
