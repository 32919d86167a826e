/*
 * A function of the package of Seltzer and Yigit 1991: h = 37 h ^ (c - 32), modulo 1048583 in the
 * end.
 *
 * Source: the 1991 package, hash1(). Cost: three instructions a byte, and a division. Weakness:
 * gives 20 bits: needs a dentry hash that mixes.
 */
HASH_BYTES(u32, 0, 37 * h ^ ((u32)c - 32), h % 1048583)
