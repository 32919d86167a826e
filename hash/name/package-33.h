/*
 * The default of the package of Seltzer and Yigit 1991: h = 33 h + c (Torek).
 *
 * Source: the 1991 package, hash4(). Cost: two instructions a byte. Weakness: short names fill few
 * of the 32 bits.
 */
HASH_BYTES(u32, 0, 33 * h + c, h)
