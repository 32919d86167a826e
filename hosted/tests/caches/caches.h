/*
 * caches.h - the tests of the four caches: an ext2 of a disk on /mnt, what a cache holds and what
 * its counters have grown by.
 */
#pragma once

#include "hash/cache.h"
#include "hosted/harness/harness.h"

extern struct hosted_disk caches_disk;

/* Start the kernel with so much memory, and mount a new file system. */
void caches_start(unsigned megabytes, unsigned block_size, unsigned kilobytes);
/* Unmount it: nothing has leaked, e2fsck is content. */
void caches_stop(void);

u64 objects_in(struct hash_cache *cache);
u64 drop_dentries(void); /* all that are unused; how many were */
int stat_path(const char *path);
void fill(unsigned char *data, size_t n, u64 seed);

#ifdef CONFIG_HASH_STATS
/* What @counters grew by since the last call. */
struct hash_counters since(const struct hash_counters *counters, struct hash_counters *last);
#endif
