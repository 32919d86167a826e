/*
 * test_buffer_cache.c - buffers: what is found and counted, that a block has one, whoever asks for
 * it, and that what is written while a sync runs is not lost.
 */
#include <string.h>

#include "fs/block/dirty.h"
#include "fs/start.h"
#include "core/memory/page_alloc.h"
#include "mm/cache/page_lookup.h"
#include "hosted/tests/caches/caches.h"

/* Where the disk has @data, which is there only once: byte offset, or -1. */
static s64 find_on_disk(const void *data, size_t n)
{
	unsigned char *at = memmem(caches_disk.image, caches_disk.bytes, data, n);

	return at ? at - caches_disk.image : -1;
}

/* As a program that has it mapped: only the page tells, it has no dirty buffers yet. */
static void change_second_page(void *data)
{
	struct page *page;
	struct path path;

	CHECK_EQUAL(find_path("/mnt/file", 0, &path), 0);
	page = page_lookup(&path.dentry->inode->data, 1);
	CHECK(page != NULL);
	lock_page(page);
	memcpy(page_address(page), data, PAGE_SIZE);
	set_bit(PG_dirty_all, &page->flags);
	set_page_dirty(page);
	unlock_page(page);
	put_page(page);
	path_put(&path);
}

/* What is written while the file is being synced is there after the next sync. */
TEST(written_while_synced)
{
	unsigned char data[2 * PAGE_SIZE];

	caches_start(32, 4096, 8192);
	fill(data, sizeof(data), 1);
	CHECK_EQUAL(write_at("/mnt/file", O_CREAT | O_WRONLY, 0, data, sizeof(data)), sizeof(data));
	CHECK_EQUAL(vfs_sync_all(), 0);
	for (unsigned round = 2; round < 20; round++) { /* sooner or later in the middle of it */
		fill(data, sizeof(data), round);
		CHECK_EQUAL(write_at("/mnt/file", O_WRONLY, 0, data, PAGE_SIZE), PAGE_SIZE);
		task_start(change_second_page, data + PAGE_SIZE);
		CHECK_EQUAL(vfs_sync_all(), 0);
		tasks_wait();
		CHECK_EQUAL(vfs_sync_all(), 0);
		CHECK(find_on_disk(data, PAGE_SIZE) > 0);
		CHECK(find_on_disk(data + PAGE_SIZE, PAGE_SIZE) > 0);
	}
	caches_stop();
}

/* The block of a file page and the block of the device are one and the same, while the page has
 * buffers. */
static void aliases(unsigned block_size)
{
	unsigned char data[4096], back[4096];
	struct path path;
	s64 at;

	caches_start(32, block_size, 8192);
	fill(data, sizeof(data), 1);
	CHECK_EQUAL(write_at("/mnt/file", O_CREAT | O_WRONLY, 0, data, sizeof(data)), sizeof(data));
	CHECK_EQUAL(find_path("/mnt/file", 0, &path), 0); /* keeps the inode, and so the page */
	CHECK_EQUAL(vfs_sync_all(), 0);
	at = find_on_disk(data, block_size);
	CHECK(at > 0 && at % block_size == 0);
	CHECK_EQUAL(read_at("/ram0", at, back, block_size), block_size);
	CHECK(memcmp(data, back, block_size) == 0);

	fill(data, sizeof(data), 2); /* through the file: seen through the device at once */
	CHECK_EQUAL(write_at("/mnt/file", O_WRONLY, 0, data, sizeof(data)), sizeof(data));
	CHECK_EQUAL(find_on_disk(data, block_size), -1);
	CHECK_EQUAL(read_at("/ram0", at, back, block_size), block_size);
	CHECK(memcmp(data, back, block_size) == 0);
	CHECK_EQUAL(vfs_sync_all(), 0);
	CHECK_EQUAL(find_on_disk(data, block_size), at);

	fill(data, sizeof(data), 3); /* through the device: seen through the file */
	CHECK_EQUAL(write_at("/ram0", O_WRONLY, at, data, block_size), block_size);
	CHECK_EQUAL(read_at("/mnt/file", 0, back, block_size), block_size);
	CHECK(memcmp(data, back, block_size) == 0);
	CHECK_EQUAL(vfs_sync_all(), 0);
	CHECK_EQUAL(find_on_disk(data, block_size), at);
	buffer_cache_check();
	path_put(&path);
	caches_stop();
}

TEST(buffer_alias_1k)
{
	aliases(1024);
}

TEST(buffer_alias_4k)
{
	aliases(4096);
}

/* A block that was metadata becomes a file's: an old write of it must not come later. */
TEST(buffer_reuse)
{
	static unsigned char data[KB(200)], back[KB(200)];
	char path[64];

	caches_start(32, 1024, 1024);
	for (unsigned round = 0; round < 40; round++) {
		disk_rng.state = round;
		for (unsigned i = 0; i < 60; i++) { /* directories: metadata in most blocks */
			snprintf(path, sizeof(path), "/mnt/d%u", i);
			CHECK_EQUAL(sys_mkdirat(AT_FDCWD, path, 0755), 0);
		}
		sync_buffers(&caches_disk.device, WB_SYNC_NONE); /* started, not waited for */
		for (unsigned i = 0; i < 60; i++) {
			snprintf(path, sizeof(path), "/mnt/d%u", i);
			CHECK_EQUAL(sys_unlinkat(AT_FDCWD, path, AT_REMOVEDIR), 0);
		}
		fill(data, sizeof(data), round);
		CHECK_EQUAL(write_at("/mnt/file", O_CREAT | O_WRONLY, 0, data, sizeof(data)),
			    sizeof(data));
		CHECK_EQUAL(umount_disk(), 0);
		CHECK_EQUAL(mount_disk("ram0", 0), 0);
		CHECK_EQUAL(read_at("/mnt/file", 0, back, sizeof(back)), sizeof(back));
		CHECK(memcmp(data, back, sizeof(data)) == 0);
		CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/file", 0), 0);
	}
	caches_stop();
}

#ifdef CONFIG_HASH_STATS
static struct hash_counters last;

/* Random finds and reads against a set of what must be there. */
TEST(buffer_counts)
{
	static bool cached[4096];
	struct hash_counters grown;
	struct rng rng = {test_seed()};
	u64 hits = 0, misses = 0;
	struct buffer *buffer;

	caches_start(32, 1024, 4096);
	CHECK_EQUAL(umount_disk(), 0);
	since(buffer_counters, &last);
	for (unsigned i = 0; i < 20000; i++) {
		u64 block = rng_below(&rng, 4096);

		if (rng_below(&rng, 4)) {
			buffer = find_buffer(&caches_disk.device, block);
			CHECK_EQUAL(buffer != NULL, cached[block]);
		} else {
			buffer = bread(&caches_disk.device, block);
			CHECK(!IS_ERR(buffer) && buffer->block == block);
			CHECK(memcmp(buffer->data, caches_disk.image + KB(block), 1024) == 0);
		}
		hits += cached[block];
		misses += !cached[block];
		cached[block] |= buffer != NULL;
		brelse(buffer);
		if (i % 5000 == 0) {
			buffer_cache_check();
			invalidate_buffers(&caches_disk.device);
			memset(cached, 0, sizeof(cached));
		}
	}
	grown = since(buffer_counters, &last);
	CHECK_EQUAL(grown.hits, hits);
	CHECK_EQUAL(grown.misses, misses);
	CHECK(grown.hit_steps >= hits && grown.compares >= hits);
	CHECK_EQUAL(grown.inserts - grown.removes, objects_in(&buffer_cache_hash));
	CHECK(IS_ERR(bread(&caches_disk.device, 4096)) &&
	      IS_ERR(bread(&caches_disk.device, ~0ull)));
	invalidate_buffers(&caches_disk.device);
	CHECK_EQUAL(objects_in(&buffer_cache_hash), 0);
	CHECK_EQUAL(memory_use_total(MEMORY_BUFFER), 0);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	caches_stop();
}
#endif
