/*
 * test_inode_cache.c - inodes: what is found and counted, and that dirty ones stay.
 */
#include <string.h>

#include "fs/inode/lru.h"
#include "fs/path/super.h"
#include "fs/start.h"
#include "fs/writeback.h"
#include "hosted/tests/caches/caches.h"

#ifdef CONFIG_HASH_STATS
static struct hash_counters last;

TEST(inode_counts)
{
	struct hash_counters grown;
	struct kstat stat;

	caches_start(32, 1024, 4096);
	CHECK_EQUAL(write_at("/mnt/file", O_CREAT | O_WRONLY, 0, "x", 1), 1);
	CHECK_EQUAL(sys_linkat(AT_FDCWD, "/mnt/file", AT_FDCWD, "/mnt/other", 0), 0);
	drop_dentries();
	since(inode_counters, &last);
	CHECK_EQUAL(sys_newfstatat(AT_FDCWD, "/mnt/file", &stat, 0), 0);
	grown = since(inode_counters, &last);
	CHECK(grown.hits == 1 && grown.misses == 0 && grown.inserts == 0);
	vfs_sync_all();
	drop_dentries();
	CHECK(shrink_icache(1000) >= 1);
	since(inode_counters, &last);
	CHECK_EQUAL(sys_newfstatat(AT_FDCWD, "/mnt/file", &stat, 0), 0);
	grown = since(inode_counters, &last);
	CHECK(grown.hits == 0 && grown.misses == 1 && grown.inserts == 1);
	CHECK_EQUAL(sys_newfstatat(AT_FDCWD, "/mnt/other", &stat, 0), 0);
	grown = since(inode_counters, &last);
	CHECK(grown.hits == 1 && grown.misses == 0);
	lru_check(&inode_lru, &inode_cache_hash);
	caches_stop();
}
#endif

/* A dirty inode is not forgotten, nor one with dirty pages. */
TEST(inode_shrink_spares_dirty)
{
	char text[8] = "";
	u64 before;

	caches_start(32, 1024, 4096);
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
	caches_stop();
}

static u64 free_inodes(struct super_block *sb)
{
	struct kstatfs stat = {0};

	sb->op->statfs(sb, &stat);
	return stat.ffree;
}

/*
 * Reclaim may have the last reference of an inode whose name has gone meanwhile. It runs under the
 * locks of whoever allocates, so the inode is freed by write-back, which comes to it.
 */
enum since_unlinked { NOTHING, SYNCED };

static void reclaim_has_the_last_reference(enum since_unlinked since_unlinked)
{
	struct super_block *sb;
	struct inode *inode;
	u64 before;

	caches_start(32, 1024, 4096);
	CHECK_EQUAL(write_at("/mnt/file", O_CREAT | O_WRONLY, 0, "text", 4), 4);
	inode = inode_by_path("/mnt/file");
	sb = inode->sb;
	before = free_inodes(sb);
	iput(inode);
	drop_dentries();
	if (!inode_lru.take(&inode->lru, NULL)) /* it was used lately */
		CHECK(inode_lru.take(&inode->lru, NULL));
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/file", 0), 0);
	drop_dentries();
	if (since_unlinked == SYNCED)
		CHECK_EQUAL(sync_inodes(sb), 0);
	current->in_reclaim = true;
	CHECK(!inode_lru.evict(&inode->lru, NULL));
	shrink_icache(1000);
	CHECK_EQUAL(free_inodes(sb), before);
	writeback_once(); /* its thread has the mark, too */
	CHECK_EQUAL(free_inodes(sb), before + 1);
	current->in_reclaim = false;
	caches_stop();
}

TEST(reclaim_frees_no_inode_without_a_name)
{
	reclaim_has_the_last_reference(NOTHING);
}

TEST(reclaim_frees_no_synced_inode_without_a_name)
{
	reclaim_has_the_last_reference(SYNCED);
}
