/* hash.c - hosted: what of hash/ stands on the booted machine's memory and command line. */
#include <stdlib.h>

#include "hash/cache.h"
#include "core/log/assert.h"

#define TABLE_BITS 10 /* small, so that chains get long enough to be walked */

__attribute__((weak)) void *hash_cache_create(struct hash_cache *cache, size_t entry_bytes)
{
	cache->bits = TABLE_BITS;
	cache->entries = 1u << TABLE_BITS;
	cache->bytes = cache->entries * entry_bytes;
	cache->rule = "hosted";
	return calloc(cache->entries, entry_bytes);
}

#ifdef CONFIG_DEBUG
__attribute__((weak)) void hash_check_bucket(const struct hash_cache *cache, u64 bucket)
{
	if (bucket >= cache->entries)
		panic("%s cache: the hash function %s gives bucket %llu of %llu", cache->name,
		      cache->function, (unsigned long long)bucket,
		      (unsigned long long)cache->entries);
}
#endif

#ifdef CONFIG_HASH_STATS
__attribute__((weak)) struct hash_counters page_counters[NR_CPUS], buffer_counters[NR_CPUS];
__attribute__((weak)) struct hash_counters inode_counters[NR_CPUS], dentry_counters[NR_CPUS];
#endif
