/*
 * functions.c - one hash function as the kernel gets it, for test_functions.py. -DTEST_PAGE ...
 * -DTEST_NAME says which cache's is called.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hash/cache.h"
#include "hash/random.c"

u64 random_u64(void)
{
	return 0;
}

void seed(u64 value)
{
	hash_random_init(value);
}

void hash_many(const u64 *a, const u64 *b, u64 n, unsigned bits, u32 *out)
{
	for (u64 i = 0; i < n; i++)
#if defined(TEST_PAGE)
		out[i] = page_hash((uintptr_t)a[i], b[i], bits);
#elif defined(TEST_BUFFER)
		out[i] = buffer_hash((u32)a[i], b[i], bits);
#elif defined(TEST_INODE)
		out[i] = inode_hash((uintptr_t)a[i], b[i], bits);
#elif defined(TEST_DENTRY)
		out[i] = dentry_hash((uintptr_t)a[i], (u32)b[i], bits);
#elif defined(TEST_SWAP)
		out[i] = swap_hash((u32)a[i], b[i], bits);
#elif defined(TEST_PATH)
		out[i] = path_hash(a[i], b[i], bits);
#else
		out[i] = 0;
#endif
}

/* The name ends seven bytes before a page that cannot be read; what lies between is not zero. */
u32 hash_name(u64 salt, const char *name, u64 length)
{
	static char *pages;
	char *copy;

	if (!pages) {
		pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);
		if (pages == MAP_FAILED || mprotect(pages + 4096, 4096, PROT_NONE))
			abort();
	}
	copy = pages + 4096 - 7 - length;
	memset(pages, 0xa5, 4096);
	memcpy(copy, name, length);
	return name_hash((uintptr_t)salt, copy, length);
}
