/*
 * aes.h - signatures by AES-CMAC, twice, with two keys drawn at boot: 256 bits.
 *
 * What is signed is a block drawn for the tree, and the path's text. CMAC encrypts block by block,
 * each after the one before was added, the last one after a key of its own was: RFC 4493, NIST SP
 * 800-38B. It is a pseudorandom function of texts of any length, if AES is a pseudorandom
 * permutation (Iwata and Kurosawa 2003): who does not have the key cannot tell its values from
 * random ones. So two texts agree in both values, of two independent keys, with probability 2^-256
 * but for a factor of the text's length, and in the 240 bits that are compared accordingly. Tsai
 * 2015, section 3.3, found no construction of 256 bits that was fast enough; this is two of 128
 * side by side, of which a processor encrypts the one while it waits for the other.
 *
 * A directory's signature has, beside the value, what the whole blocks of its text were encrypted
 * to, and what is left of the text.
 *
 * A processor that has no AES instructions does not boot with this: another function in its place
 * would be measured unnoticed.
 *
 * Cost: some 60 instructions for 16 bytes, 29 of them for the blocks, and 6 for a program's vector
 * registers (arch/math/aes.h). Weakness: only some processors have it, and it takes them longer
 * than so many instructions otherwise would: a round waits for the one before.
 */
#pragma once

#define AES_LANES 2

/* Of a text of so many bytes. */
struct signature {
	u64 value[2 * AES_LANES]; /* the lowest first */
	u64 chain[AES_LANES][2];  /* behind the whole blocks */
	u64 left[2];		  /* of the text, behind these, and zeros */
	u64 length;
};

#include "fs/path/signature/value.h"
