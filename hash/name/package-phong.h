/*
 * A function of the package of Seltzer and Yigit 1991: h = 0x63c63cd9 h + 0x9c39c33d + c (Phong).
 *
 * Source: the 1991 package, hash2(). Cost: a multiplication and two adds a byte. Weakness: the last
 * byte changes the low bits only.
 */
HASH_BYTES(u32, 0, 0x63c63cd9 * h + 0x9c39c33d + c, h)
