/*
 * test_page_cache.c - pages: what is found and counted, and files of many times the memory.
 */
#include <stdio.h>
#include <string.h>

#include "fs/start.h"
#include "fs/writeback.h"
#include "core/memory/page_alloc.h"
#include "core/memory/shrinker.h"
#include "hosted/tests/caches/caches.h"

#ifdef CONFIG_HASH_STATS
static struct hash_counters last;

TEST(page_counts)
{
	static unsigned char data[8 * 4096];
	struct hash_counters grown;

	caches_start(32, 4096, 8192);
	since(page_counters, &last);
	CHECK_EQUAL(write_at("/mnt/file", O_CREAT | O_WRONLY, 0, data, sizeof(data)), sizeof(data));
	grown = since(page_counters, &last);
	/* each missed, made, and looked for again before it is added */
	CHECK(grown.hits == 0 && grown.misses == 2 * 8 && grown.inserts == 8);
	CHECK_EQUAL(read_at("/mnt/file", 0, data, sizeof(data)), sizeof(data));
	grown = since(page_counters, &last);
	CHECK(grown.hits == 8 && grown.misses == 0 && grown.inserts == 0);
	CHECK(grown.hit_steps >= 8 && grown.compares >= 8);
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/file", 0), 0);
	grown = since(page_counters, &last);
	CHECK_EQUAL(grown.removes, 8);
	CHECK_EQUAL(objects_in(&page_cache_hash), memory_use_total(MEMORY_CACHED));
	caches_stop();
}
#endif

/* A file of many times the memory is written and read back; what is held at any time fits. */
TEST(page_reclaim)
{
	static unsigned char data[KB(64)], back[KB(64)];
	const unsigned pieces = 384; /* 24 MB */

	test_limit(60);
	caches_start(6, 4096, 32768);
	for (unsigned i = 0; i < pieces; i++) {
		fill(data, sizeof(data), i);
		CHECK_EQUAL(write_at("/mnt/file", O_CREAT | O_WRONLY, (loff_t)i * KB(64), data,
				     sizeof(data)),
			    sizeof(data));
		CHECK(hosted_pages_in_use <= MB(6) / PAGE_SIZE);
	}
	for (unsigned i = 0; i < pieces; i++) {
		fill(data, sizeof(data), i);
		CHECK_EQUAL(read_at("/mnt/file", (loff_t)i * KB(64), back, sizeof(back)),
			    sizeof(back));
		CHECK(memcmp(data, back, sizeof(data)) == 0);
	}
	CHECK_EQUAL(objects_in(&page_cache_hash), memory_use_total(MEMORY_CACHED));
	caches_stop();
}

/* Many small files, so that metadata presses as well. */
TEST(page_reclaim_small_files)
{
	char path[64], text[64], back[64];

	test_limit(60);
	caches_start(3, 1024, 16384);
	for (unsigned i = 0; i < 3000; i++) {
		snprintf(path, sizeof(path), "/mnt/d%u", i / 50);
		if (i % 50 == 0)
			CHECK_EQUAL(sys_mkdirat(AT_FDCWD, path, 0755), 0);
		snprintf(path, sizeof(path), "/mnt/d%u/file%u", i / 50, i);
		snprintf(text, sizeof(text), "this is file %u", i);
		CHECK_EQUAL(write_at(path, O_CREAT | O_WRONLY, 0, text, sizeof(text)),
			    sizeof(text));
		if (i % 100 == 0)
			writeback_once(); /* there is no thread here */
	}
	for (unsigned i = 0; i < 3000; i++) {
		snprintf(path, sizeof(path), "/mnt/d%u/file%u", i / 50, i);
		snprintf(text, sizeof(text), "this is file %u", i);
		CHECK_EQUAL(read_at(path, 0, back, sizeof(back)), sizeof(back));
		CHECK(strcmp(text, back) == 0);
	}
	buffer_cache_check();
	caches_stop();
}

/* Who once found nothing to be reclaimed looks again the next time. */
TEST(reclaim_that_found_nothing_is_tried_again)
{
	static unsigned char data[KB(64)];

	caches_start(32, 4096, 8192);
	while (reclaim_pages(1000))
		continue;
	CHECK_EQUAL(write_at("/mnt/file", O_CREAT | O_WRONLY, 0, data, sizeof(data)), sizeof(data));
	CHECK_EQUAL(vfs_sync_all(), 0);
	CHECK(reclaim_pages(1) > 0);
	caches_stop();
}
