/*
 * function.c - one hash function of the kernel's headers, under a name that the page calls it by.
 *
 * Compiled once for each function, word and cache (lab/playground/module.py): -DFUNCTION_PAGE ...
 * says whose key it takes, -DFUNCTION=name what it is called, and <generated/hash_functions.h>
 * which it is. All take the same words, so that one loop can call any of them.
 */
#include "hash/cache.h"
#include "lab/record/operation.h"

#define EXPORTED __attribute__((visibility("default"), used))

#if defined(FUNCTION_NAME)
EXPORTED u32 FUNCTION(u64 salt, const char *name, u32 length)
{
	return hash_of_component(salt, name, length);
}
#else
EXPORTED u32 FUNCTION(u64 first, u64 second, u32 bits)
{
#if defined(FUNCTION_PAGE)
	return page_hash(first, second, bits);
#elif defined(FUNCTION_BUFFER)
	return buffer_hash((u32)first, second, bits);
#elif defined(FUNCTION_INODE)
	return inode_hash(first, second, bits);
#elif defined(FUNCTION_SWAP)
	return swap_hash((u32)first, second, bits);
#elif defined(FUNCTION_PATH)
	return path_hash(first, second, bits);
#else
	return dentry_hash(first, (u32)second, bits);
#endif
}
#endif
