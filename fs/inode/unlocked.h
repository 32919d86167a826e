/*
 * unlocked.h - inodes that are looked up without a lock, INODE_LOCK=sequence: a part of icache.c,
 * which includes it before find_inode().
 *
 * What is found stays in memory until the reader is through, since inodes are then freed after a
 * grace period (free_when_unseen()); whether it is on its way out inode->spin tells, as ever. Its
 * key does not change, and it never comes back into a chain that it has left. So a reader who
 * stands on it cannot be led astray, and all that a changed bucket can mean here is that he begins
 * anew for nothing.
 */
#pragma once

#include "hash/lock/sequence_find.h"

/* true: *@found is the inode, referenced, or NULL, and the lookup is counted. false: look with the
 * lock, as always where keys are recorded, in the order in which buckets are locked. */
static __always_inline bool find_unlocked(struct super_block *sb, ino_t number,
					  struct inode **found)
{
#ifdef CONFIG_RECORD_KEYS
	return false;
#endif
	u64 steps = 0, compares = 0;
	const struct inode_key key = {sb, number, &compares};

	REGION_MARK(HASH_inode, 0);
	u32 bucket = bucket_of(sb, number);

	rcu_read_lock();
	bool sure = inode_table_find_unlocked(&table, NULL, bucket, &key, inode_compare,
					      inode_get_live, &steps, found);
	rcu_read_unlock();
	REGION_MARK(HASH_inode, 1);
	if (likely(sure)) {
		HASH_COUNT_FIND(inode, *found, steps, compares);
	} else if (*found) {
		iput(*found); /* which may sleep */
	}
	return sure;
}
