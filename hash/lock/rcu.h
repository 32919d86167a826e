/*
 * rcu.h - readers take no lock and write nothing; writers lock their bucket.
 *
 * Caches: dentry path
 * Source: Linux 2.5's dentry cache (McKenney and others, 2001), as Tsai 2015 has it for a baseline.
 * Cost: a lookup writes no shared line. What it finds may be on its way out, or elsewhere already:
 * the cache has to check it afterwards, by a sequence count, and free its objects after a grace
 * period only (core/lock/rcu.h). A lookup that finds nothing has not shown that there is nothing,
 * since it may have stood on an object that went to another chain: then it is made again, with the
 * lock. Weakness: freed memory waits, and code that checks is harder to get right than code that
 * locks.
 *
 * So the locks are those of bucket.h, and the cache itself has the readers who do without: it finds
 * between rcu_read_lock() and rcu_read_unlock(), which the structure has to allow. Since lookups
 * take none, there can be many, each with a cache line of its own: two names that change on two
 * CPUs share a line only if they share the lock. (Side by side, sixteen to a line, two of sixteen
 * CPUs that make and remove a file each did in four kernels of ten, and took a third longer; now it
 * is three of a hundred. They are 16 KB of memory for each CPU.)
 */
#define BUCKET_LOCKS (256 * NR_CPUS)
#define BUCKET_LOCK_SPACING 16
#include "hash/lock/bucket_locks.h"
