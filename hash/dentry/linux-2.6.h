/*
 * The dentry hash of Linux 2.6 (Heger, Santos): h = name + (parent ^ G) / L1; h ^ ((h ^ G) >>
 * bits), G the golden prime.
 *
 * Source: Santos 2004 (Linux 2.6.6). Cost: two shifts, an add, three exclusive ors, the mask.
 * Weakness: xoring a constant only relabels: what collides without it mostly does with it.
 */
static inline u32 dentry_hash(uintptr_t parent, u32 name_hash, unsigned bits)
{
	hash_word h =
		(hash_word)name_hash + ((hash_word)parent ^ HASH_GOLDEN_PRIME) / HASH_L1_BYTES;

	return (u32)(h ^ ((h ^ HASH_GOLDEN_PRIME) >> bits)) & hash_mask(bits);
}
