/*
 * test_caches.c - after every operation of random sequences the tables, lists and counts of all
 * four caches agree.
 */
#include "fs/block/dirty.h"
#include "fs/inode/lru.h"
#include "core/memory/page_alloc.h"
#include "hosted/harness/sequence/sequence.h"
#include "hosted/tests/caches/caches.h"

static void check_all(void)
{
	dentry_cache_check();
	lru_check(&inode_lru, &inode_cache_hash);
	buffer_cache_check();
	CHECK_EQUAL(objects_in(&page_cache_hash), memory_use_total(MEMORY_CACHED));
}

TEST(caches_agree)
{
	unsigned count = test_scaled(60);
	u64 first = test_seed();

	test_limit(60);
	sequence_prepare(1024, 3072, IMAGE_USUAL);
	sequence_each = check_all;
	for (u64 seed = first; seed < first + count; seed++)
		sequence(seed, SEQUENCE_EXACT, false);
}
