/*
 * test_dentry_cache.c - dentries: what a walk looks up and counts, and which go when memory is
 * short.
 */
#include <stdio.h>
#include <string.h>

#include "fs/file/file.h"
#include "hosted/tests/caches/caches.h"

#ifdef CONFIG_HASH_STATS
static struct hash_counters last;
#define DENTRY_GREW(wanted_hits, wanted_misses)                                                    \
	do {                                                                                       \
		struct hash_counters _grown = since(dentry_counters, &last);                       \
		CHECK_EQUAL(_grown.hits, wanted_hits);                                             \
		CHECK_EQUAL(_grown.misses, wanted_misses);                                         \
		CHECK(_grown.hit_steps >= _grown.hits && _grown.compares >= _grown.hits);          \
	} while (0)

/* Each component is one lookup; what is not there is remembered as well. */
TEST(dentry_counts)
{
	caches_start(32, 1024, 4096);
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/d", 0755), 0);
	CHECK_EQUAL(write_at("/mnt/d/file", O_CREAT | O_WRONLY, 0, "x", 1), 1);
	since(dentry_counters, &last);
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
	since(dentry_counters, &last);
	CHECK_EQUAL(stat_path("/mnt/d/file"), 0);
	DENTRY_GREW(1, 2); /* a mount point stays */
	CHECK_EQUAL(sys_renameat2(AT_FDCWD, "/mnt/d/file", AT_FDCWD, "/mnt/d/none", 0), 0);
	since(dentry_counters, &last);
	CHECK_EQUAL(stat_path("/mnt/d/none"), 0);
	DENTRY_GREW(3, 0);
	CHECK_EQUAL(stat_path("/mnt/d/file"), -ENOENT);
	DENTRY_GREW(2, 1);
	dentry_cache_check();
	caches_stop();
}

/* What was used since the hand last came round stays; the oldest of the rest go. */
TEST(dentry_shrink_order)
{
	char path[32];

	caches_start(32, 1024, 4096);
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
		since(dentry_counters, &last);
		CHECK_EQUAL(stat_path(path), -ENOENT);
		if (i % 2 && i < 60)
			DENTRY_GREW(1, 1);
		else
			DENTRY_GREW(2, 0);
	}
	dentry_cache_check();
	caches_stop();
}
#endif

/* What is in use does not go, nor what it hangs on. */
TEST(dentry_shrink_spares_used)
{
	struct file *file;

	caches_start(32, 1024, 4096);
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
	caches_stop();
}
