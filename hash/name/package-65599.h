/*
 * A function of the package of Seltzer and Yigit 1991: h = 65599 h + c (Yigit's sdbm).
 *
 * Source: the 1991 package, hash3(). Cost: a multiplication and an add a byte. Weakness: the last
 * byte changes the low bits only.
 */
HASH_BYTES(u32, 0, 65599 * h + c, h)
