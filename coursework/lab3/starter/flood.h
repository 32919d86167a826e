/*
 * My keys that break functions, and my name hash: so far Linux 2.2's, h = rotl(h, 4) ^ c.
 *
 * Source: the starter of lab 3. Cost: two instructions a byte. Weakness: that is for you to find
 * out.
 */

/* @count blocks, all different and below 2^48, that (block * multiplier >> shift) & mask puts into
 * one bucket of 2^bits. */
static inline void product_blocks(u64 multiplier, unsigned shift, unsigned bits, u64 *blocks,
				  unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		blocks[i] = (u64)i << bits;
}

/* The same of (block ^ block >> s ^ block >> t) & mask. */
static inline void folded_blocks(unsigned s, unsigned t, unsigned bits, u64 *blocks, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		blocks[i] = (u64)i << bits;
}

/* The same of block * multiplier >> (64 - bits), with u64's product: its uppermost bits. */
static inline void top_blocks(u64 multiplier, unsigned bits, u64 *blocks, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		blocks[i] = (u64)i << bits;
}

/* "file" and @number in letters. */
static inline void plain_name(char *name, unsigned number)
{
	__builtin_memcpy(name, "fileaaa", 8);
	for (unsigned i = 6; number; i--, number /= 26)
		name[i] = (char)('a' + number % 26);
}

/* @count names, all different, of bytes from 0x20 to 0x7e without '/', ended by a 0, that have one
 * hash by h = multiplier * h + c in 32 bits, from 0, for each byte c. */
static inline void multiplied_names(u32 multiplier, char (*names)[256], unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		plain_name(names[i], i);
}

/* @count names that flood a kernel whose name hash is Linux 2.2's (hash/name/linux-2.2.h), whatever
 * its table's size and the directory. */
static inline void flood_names(char (*names)[256], unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		plain_name(names[i], i);
}

/* The name hash of a kernel that cannot be flooded by who does not know its keys: hash_siphash_key,
 * hash_multilinear_keys (hash/shared.h). */
static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)
{
	u64 h = 0;

	for (size_t i = 0; i < length; i++)
		h = hash_rotate_left(h, 4) ^ (u8)name[i];
	return (u32)(h + (h >> 32));
}
