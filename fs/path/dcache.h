/*
 * dcache.h - the dentry hash table as lookup sees it: private to dcache.c and namei.c, who inline
 * it.
 *
 * The key of a dentry is (parent, name hash), then the name. A name is compared eight bytes at a
 * time, so both names have eight readable bytes behind their end.
 */
#pragma once

#include "fs/path/lockless/component.h"

/*
 * @counts: this CPU's; without HASH_STATS nothing reads them, so nothing of it is left.
 */
struct dentry_key {
	const struct dentry *parent;
	const struct component *name;
	struct hash_counters *counts;
	u32 *sequence; /* lockless.c: of who is found, from before anything of it was believed */
};

/* 0 if @dentry is the one of @key: cheapest test first. */
static __always_inline int dentry_compare(const struct dentry *dentry, const struct dentry_key *key)
{
	const struct component *name = key->name;

	if (dentry->name_hash != name->hash || dentry->parent != key->parent)
		return 1;
	key->counts->compares++;
	const char *text = dentry->name;
	if (unlikely(name->length > 7)) {
		if (!words_equal(name, text))
			return 1;
		text += name->length & ~7ul;
	}
	return !rest_equals(name, text);
}

#define TABLE dentry_table
#define TABLE_OBJECT struct dentry
#define TABLE_LINK hash_link
#define TABLE_KEY struct dentry_key
#define TABLE_LOCK_HEADER DENTRY_LOCK_HEADER
#include DENTRY_TABLE_HEADER

extern struct dentry_table dentry_table_instance;

static __always_inline u32 dentry_bucket(const struct dentry *parent, u32 hash)
{
	return dentry_hash((uintptr_t)parent, hash, dentry_cache_hash.bits);
}

/* The dentry of @name, taken for @parent, with a reference, or NULL; counted, but for HASH_LOOK.
 * Marks what it finds as used. */
static CACHE_LOOKUP struct dentry *d_lookup(const struct dentry *parent,
					    const struct component *name,
					    enum hash_operation operation)
{
	struct hash_counters uncounted = {0}, *counts = &uncounted;
	if (operation == HASH_FIND)
		counts = HASH_CPU_COUNTERS(dentry, counts);
	const struct dentry_key key = {parent, name, counts, NULL};
	u64 steps = 0;

	REGION_MARK(HASH_dentry, 0);
	u32 bucket = dentry_bucket(parent, name->hash);

	dentry_table_lock_to_read(&dentry_table_instance, NULL, bucket);
	struct dentry *dentry = dentry_table_find(&dentry_table_instance, NULL, bucket, &key,
						  dentry_compare, &steps);

	hash_record(HASH_dentry, operation, dentry, (uintptr_t)parent, name->hash, name->name,
		    name->length);
	if (likely(dentry != NULL)) {
		dget(dentry);
		WRITE_ONCE(dentry->referenced, 1);
	}
	dentry_table_unlock_read(&dentry_table_instance, NULL, bucket);
	REGION_MARK(HASH_dentry, 1);
	hash_count_find(counts, dentry, steps);
	return dentry;
}

/*
 * For those who walk without locks (lockless/lockless.h): they see a dentry's parent, name, inode
 * (from one to none) and UNHASHED change only between changes_begin() and changes_end(). Who calls
 * these excludes others: he holds the directory's lock and a reference; or the bucket lock, while
 * there is no other reference, nor can anybody get one. A walk takes its reference first, and then
 * looks whether something changes (hold() of lockless.c); who needs to be alone begins the change,
 * and then looks at the references: so one of the two sees the other. What is dead stays in memory,
 * with its name, for a grace period.
 */
#ifdef LOCKLESS_WALK
static inline void changes_begin(struct dentry *dentry)
{
	write_seqcount_begin(&dentry->sequence);
}

/* By who goes on with a look at the count of references. */
static inline void changes_begin_alone(struct dentry *dentry)
{
	changes_begin(dentry);
	smp_mb();
}

static inline void changes_end(struct dentry *dentry)
{
	write_seqcount_end(&dentry->sequence);
}
#else
#define changes_begin(dentry) ((void)0)
#define changes_begin_alone(dentry) ((void)0)
#define changes_end(dentry) ((void)0)
#endif

/* Unhashed, negative; NULL: no memory. */
struct dentry *d_alloc_hashed(struct dentry *parent, const char *name, u32 length, u32 hash);
