/*
 * unlocked.h - inodes that are looked up without a lock, INODE_LOCK=sequence: a part of icache.c,
 * which includes it where it has find_inode(); and what stands there with the other schemes.
 *
 * What is found stays in memory until the reader is through, since inodes are then freed after a
 * grace period (free_when_unseen()); whether it is on its way out inode->spin tells, as ever. Its
 * key does not change, and it never comes back into a chain that it has left. So a reader who
 * stands on it cannot be led astray, and all that a changed bucket can mean here is that he begins
 * anew for nothing.
 */
#ifdef CONFIG_INODE_LOCK_SEQUENCE
#include "hash/lock/sequence_find.h"

/* find_inode(), without the bucket's lock if nothing changes meanwhile, and where no keys are
 * recorded, in the order in which buckets are locked. */
static CACHE_LOOKUP struct inode *find_cached(struct super_block *sb, ino_t number)
{
#ifdef CONFIG_RECORD_KEYS
	return find_inode(sb, number, NULL);
#endif
	u64 steps = 0, compares = 0;
	const struct inode_key key = {sb, number, &compares};
	struct inode *inode;

	REGION_MARK(HASH_inode, 0);
	u32 bucket = bucket_of(sb, number);

	rcu_read_lock();
	bool sure = inode_table_find_unlocked(&table, NULL, bucket, &key, inode_compare,
					      inode_get_live, &steps, &inode);
	rcu_read_unlock();
	REGION_MARK(HASH_inode, 1);
	if (unlikely(!sure)) {
		if (inode)
			iput(inode); /* which may sleep */
		return find_inode(sb, number, NULL);
	}
	HASH_COUNT_FIND(inode, inode, steps, compares);
	return inode;
}
#else
#define find_cached(sb, number) find_inode(sb, number, NULL)
#endif
