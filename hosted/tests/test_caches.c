/*
 * test_caches.c - the four caches: what is found, what is counted, what goes when memory is short,
 * and that their tables, lists and counts agree whatever happens.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/block/dirty.h"
#include "fs/file/file.h"
#include "fs/inode/lru.h"
#include "fs/start.h"
#include "fs/writeback.h"
#include "hosted/harness/harness.h"
#include "hash/cache.h"
#include "core/memory/page_alloc.h"
#include "mm/cache/page_lookup.h"
#include "hosted/harness/sequence.h"

static struct hosted_disk disk;

static void start(unsigned megabytes, unsigned block_size, unsigned kilobytes)
{
	hosted_quiet = true;
	hosted_init(megabytes);
	disk_create(&disk, "ram0", 0, KB(kilobytes));
	disk.asynchronous = true;
	image_make(&disk, block_size, kilobytes, IMAGE_USUAL " -i 4096");
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(umount_disk(), 0);
	leak_mark();
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
}

static void stop(void)
{
	CHECK_EQUAL(umount_disk(), 0);
	leak_check();
	image_check(&disk);
}

static void add_size(u64 size, void *total)
{
	*(u64 *)total += size;
}

static u64 objects_in(struct hash_cache *cache)
{
	u64 total = 0;

	cache->walk(cache->table, add_size, &total);
	return total;
}

static int __maybe_unused stat_path(const char *path)
{
	struct kstat stat;

	return sys_newfstatat(AT_FDCWD, path, &stat, AT_SYMLINK_NOFOLLOW);
}

/* A directory goes after what is in it. */
static u64 drop_dentries(void)
{
	u64 freed = 0, more;

	while ((more = shrink_dcache(1000)) != 0)
		freed += more;
	return freed;
}

#ifdef CONFIG_HASH_STATS
/* What @counters grew by since the last call. */
static struct hash_counters since(const struct hash_counters *counters, struct hash_counters *last)
{
	struct hash_counters now = counters[0], grown = {
		.hits = now.hits - last->hits,
		.misses = now.misses - last->misses,
		.hit_steps = now.hit_steps - last->hit_steps,
		.miss_steps = now.miss_steps - last->miss_steps,
		.compares = now.compares - last->compares,
		.inserts = now.inserts - last->inserts,
		.removes = now.removes - last->removes,
	};

	*last = now;
	return grown;
}

static struct hash_counters dentry_last, inode_last, page_last, buffer_last;
#define DENTRY_GREW(wanted_hits, wanted_misses)                                                    \
	do {                                                                                       \
		struct hash_counters _grown = since(dentry_counters, &dentry_last);                \
		CHECK_EQUAL(_grown.hits, wanted_hits);                                             \
		CHECK_EQUAL(_grown.misses, wanted_misses);                                         \
		CHECK(_grown.hit_steps >= _grown.hits && _grown.compares >= _grown.hits);          \
	} while (0)

/* ---- dentries ---------------------------------------------------------------------------------
 */

/* Each component is one lookup; what is not there is remembered as well. */
TEST(dentry_counts)
{
	start(32, 1024, 4096);
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/d", 0755), 0);
	CHECK_EQUAL(write_at("/mnt/d/file", O_CREAT | O_WRONLY, 0, "x", 1), 1);
	since(dentry_counters, &dentry_last);
	CHECK_EQUAL(stat_path("/mnt/d/file"), 0);
	DENTRY_GREW(3, 0);
	CHECK_EQUAL(stat_path("/mnt/./d/../d/file"), 0); /* dots are not looked up */
	DENTRY_GREW(4, 0);
	CHECK_EQUAL(stat_path("/mnt/d/none"), -ENOENT);
	DENTRY_GREW(2, 1);
	CHECK_EQUAL(stat_path("/mnt/d/none"), -ENOENT);
	DENTRY_GREW(3, 0);
	CHECK_EQUAL(stat_path("/mnt/d/none/more"), -ENOENT);
	DENTRY_GREW(3, 0);
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/d/file", 0), 0);
	DENTRY_GREW(3, 0);
	CHECK_EQUAL(stat_path("/mnt/d/file"), -ENOENT); /* its dentry has become negative */
	DENTRY_GREW(3, 0);
	CHECK_EQUAL(write_at("/mnt/d/file", O_CREAT | O_WRONLY, 0, "y", 1), 1);
	CHECK_EQUAL(stat_path("/mnt/d/file"), 0);
	drop_dentries();
	since(dentry_counters, &dentry_last);
	CHECK_EQUAL(stat_path("/mnt/d/file"), 0);
	DENTRY_GREW(1, 2); /* a mount point stays */
	CHECK_EQUAL(sys_renameat2(AT_FDCWD, "/mnt/d/file", AT_FDCWD, "/mnt/d/none", 0), 0);
	since(dentry_counters, &dentry_last);
	CHECK_EQUAL(stat_path("/mnt/d/none"), 0);
	DENTRY_GREW(3, 0);
	CHECK_EQUAL(stat_path("/mnt/d/file"), -ENOENT);
	DENTRY_GREW(2, 1);
	dentry_cache_check();
	stop();
}

/* What was used since the hand last came round stays; the oldest of the rest go. */
TEST(dentry_shrink_order)
{
	char path[32];

	start(32, 1024, 4096);
	for (unsigned i = 0; i < 100; i++) {
		snprintf(path, sizeof(path), "/mnt/%u", i);
		CHECK_EQUAL(stat_path(path), -ENOENT);
	}
	for (unsigned i = 0; i < 100; i += 2) {
		snprintf(path, sizeof(path), "/mnt/%u", i);
		CHECK_EQUAL(stat_path(path), -ENOENT);
	}
	CHECK_EQUAL(shrink_dcache(30), 30);
	for (unsigned i = 0; i < 100; i++) {
		snprintf(path, sizeof(path), "/mnt/%u", i);
		since(dentry_counters, &dentry_last);
		CHECK_EQUAL(stat_path(path), -ENOENT);
		if (i % 2 && i < 60)
			DENTRY_GREW(1, 1);
		else
			DENTRY_GREW(2, 0);
	}
	dentry_cache_check();
	stop();
}
#endif

/* What is in use does not go, nor what it hangs on. */
TEST(dentry_shrink_spares_used)
{
	struct file *file;

	start(32, 1024, 4096);
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/a", 0755), 0);
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/a/b", 0755), 0);
	file = open_path("/mnt/a/b/file", O_CREAT | O_RDWR, 0644);
	drop_dentries();
	CHECK_EQUAL(dentry_count(file->path.dentry), 1);
	CHECK(!(file->path.dentry->flags & D_UNHASHED));
	CHECK(strcmp(file->path.dentry->parent->name, "b") == 0);
	CHECK(strcmp(file->path.dentry->parent->parent->name, "a") == 0);
	CHECK_EQUAL(umount_disk(), -EBUSY);
	fput(file);
	CHECK(drop_dentries() >= 3);
	stop();
}

/* ---- inodes -----------------------------------------------------------------------------------
 */

#ifdef CONFIG_HASH_STATS
TEST(inode_counts)
{
	struct hash_counters grown;
	struct kstat stat;

	start(32, 1024, 4096);
	CHECK_EQUAL(write_at("/mnt/file", O_CREAT | O_WRONLY, 0, "x", 1), 1);
	CHECK_EQUAL(sys_linkat(AT_FDCWD, "/mnt/file", AT_FDCWD, "/mnt/other", 0), 0);
	drop_dentries();
	since(inode_counters, &inode_last);
	CHECK_EQUAL(sys_newfstatat(AT_FDCWD, "/mnt/file", &stat, 0), 0);
	grown = since(inode_counters, &inode_last);
	CHECK(grown.hits == 1 && grown.misses == 0 && grown.inserts == 0);
	vfs_sync_all();
	drop_dentries();
	CHECK(shrink_icache(1000) >= 1);
	since(inode_counters, &inode_last);
	CHECK_EQUAL(sys_newfstatat(AT_FDCWD, "/mnt/file", &stat, 0), 0);
	grown = since(inode_counters, &inode_last);
	CHECK(grown.hits == 0 && grown.misses == 1 && grown.inserts == 1);
	CHECK_EQUAL(sys_newfstatat(AT_FDCWD, "/mnt/other", &stat, 0), 0);
	grown = since(inode_counters, &inode_last);
	CHECK(grown.hits == 1 && grown.misses == 0);
	lru_check(&inode_lru, &inode_cache_hash);
	stop();
}
#endif

/* A dirty inode is not forgotten, nor one with dirty pages. */
TEST(inode_shrink_spares_dirty)
{
	char text[8] = "";
	u64 before;

	start(32, 1024, 4096);
	CHECK_EQUAL(write_at("/mnt/file", O_CREAT | O_WRONLY, 0, "text", 4), 4);
	drop_dentries();
	before = objects_in(&inode_cache_hash);
	shrink_icache(1000);
	CHECK_EQUAL(objects_in(&inode_cache_hash), before);
	vfs_sync_all();
	shrink_icache(1000);
	CHECK_EQUAL(objects_in(&inode_cache_hash), before - 1); /* the root is in use */
	CHECK_EQUAL(read_at("/mnt/file", 0, text, sizeof(text)), 4);
	CHECK(strcmp(text, "text") == 0);
	stop();
}

/* ---- pages ------------------------------------------------------------------------------------
 */

static void fill(unsigned char *data, size_t n, u64 seed)
{
	struct rng rng = {seed};

	for (size_t i = 0; i < n; i++)
		data[i] = (unsigned char)rng_next(&rng);
}

#ifdef CONFIG_HASH_STATS
TEST(page_counts)
{
	static unsigned char data[8 * 4096];
	struct hash_counters grown;

	start(32, 4096, 8192);
	since(page_counters, &page_last);
	CHECK_EQUAL(write_at("/mnt/file", O_CREAT | O_WRONLY, 0, data, sizeof(data)), sizeof(data));
	grown = since(page_counters, &page_last);
	/* each missed, made, and looked for again before it is added */
	CHECK(grown.hits == 0 && grown.misses == 2 * 8 && grown.inserts == 8);
	CHECK_EQUAL(read_at("/mnt/file", 0, data, sizeof(data)), sizeof(data));
	grown = since(page_counters, &page_last);
	CHECK(grown.hits == 8 && grown.misses == 0 && grown.inserts == 0);
	CHECK(grown.hit_steps >= 8 && grown.compares >= 8);
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/file", 0), 0);
	grown = since(page_counters, &page_last);
	CHECK_EQUAL(grown.removes, 8);
	CHECK_EQUAL(objects_in(&page_cache_hash), memory_use_total(MEMORY_CACHED));
	stop();
}
#endif

/* A file of many times the memory is written and read back; what is held at any time fits. */
TEST(page_reclaim)
{
	static unsigned char data[KB(64)], back[KB(64)];
	const unsigned pieces = 384; /* 24 MB */

	test_limit(60);
	start(6, 4096, 32768);
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
	stop();
}

/* Many small files, so that metadata presses as well. */
TEST(page_reclaim_small_files)
{
	char path[64], text[64], back[64];

	test_limit(60);
	start(3, 1024, 16384);
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
	stop();
}

/* ---- buffers ----------------------------------------------------------------------------------
 */

/* Where the disk has @data, which is there only once: byte offset, or -1. */
static s64 find_on_disk(const void *data, size_t n)
{
	unsigned char *at = memmem(disk.image, disk.bytes, data, n);

	return at ? at - disk.image : -1;
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

	start(32, 4096, 8192);
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
	stop();
}

/* The block of a file page and the block of the device are one and the same, while the page has
 * buffers. */
static void aliases(unsigned block_size)
{
	unsigned char data[4096], back[4096];
	struct path path;
	s64 at;

	start(32, block_size, 8192);
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
	stop();
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

	start(32, 1024, 1024);
	for (unsigned round = 0; round < 40; round++) {
		disk_rng.state = round;
		for (unsigned i = 0; i < 60; i++) { /* directories: metadata in most blocks */
			snprintf(path, sizeof(path), "/mnt/d%u", i);
			CHECK_EQUAL(sys_mkdirat(AT_FDCWD, path, 0755), 0);
		}
		sync_buffers(&disk.device, WB_SYNC_NONE); /* started, not waited for */
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
	stop();
}

#ifdef CONFIG_HASH_STATS
/* Random finds and reads against a set of what must be there. */
TEST(buffer_counts)
{
	static bool cached[4096];
	struct hash_counters grown;
	struct rng rng = {test_seed()};
	u64 hits = 0, misses = 0;
	struct buffer *buffer;

	start(32, 1024, 4096);
	CHECK_EQUAL(umount_disk(), 0);
	since(buffer_counters, &buffer_last);
	for (unsigned i = 0; i < 20000; i++) {
		u64 block = rng_below(&rng, 4096);

		if (rng_below(&rng, 4)) {
			buffer = find_buffer(&disk.device, block);
			CHECK_EQUAL(buffer != NULL, cached[block]);
		} else {
			buffer = bread(&disk.device, block);
			CHECK(!IS_ERR(buffer) && buffer->block == block);
			CHECK(memcmp(buffer->data, disk.image + KB(block), 1024) == 0);
		}
		hits += cached[block];
		misses += !cached[block];
		cached[block] |= buffer != NULL;
		brelse(buffer);
		if (i % 5000 == 0) {
			buffer_cache_check();
			invalidate_buffers(&disk.device);
			memset(cached, 0, sizeof(cached));
		}
	}
	grown = since(buffer_counters, &buffer_last);
	CHECK_EQUAL(grown.hits, hits);
	CHECK_EQUAL(grown.misses, misses);
	CHECK(grown.hit_steps >= hits && grown.compares >= hits);
	CHECK_EQUAL(grown.inserts - grown.removes, objects_in(&buffer_cache_hash));
	CHECK(IS_ERR(bread(&disk.device, 4096)) && IS_ERR(bread(&disk.device, ~0ull)));
	invalidate_buffers(&disk.device);
	CHECK_EQUAL(objects_in(&buffer_cache_hash), 0);
	CHECK_EQUAL(memory_use_total(MEMORY_BUFFER), 0);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	stop();
}
#endif

/* ---- all of them, after every operation of random sequences -----------------------------------
 */

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
