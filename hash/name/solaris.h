/*
 * The name hash of Solaris: h = 17 h + c, from the parent's address >> 8.
 *
 * Source: Solaris, DNLCHASH in dnlc.c. Cost: three instructions a byte. Weakness: short names and
 * near parents stay near.
 */
HASH_BYTES(u32, (u32)(salt >> 8), 17 * h + c, h)
