/*
 * bucket.h - a spinlock for each few buckets: who works in different ones hardly ever meets.
 *
 * Caches: page buffer inode dentry path
 * Source: Linux since 2.4's page cache and 2.6's inode cache. Cost: a lookup writes the lock, which
 * is one locked instruction and a store, and a cache line that other CPUs have written. Weakness:
 * of a name that all look up, all write the same lock.
 */
#define BUCKET_LOCKS (16 * NR_CPUS)
#define BUCKET_LOCK_SPACING 1
#include "hash/lock/bucket_locks.h"
