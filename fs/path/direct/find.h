/*
 * find.h - a direct lookup itself, and the table it looks into: for lockless.c, which inlines it,
 * and the files beside it. See direct.h.
 */
#pragma once

#include "fs/path/direct/direct.h"
#include "hash/cache.h"

struct path_key {
	const struct signature *signature;
	const struct lockless_walk *walk; /* still where it begins */
	struct hash_counters *counts;
};

/* 0 if @entry is the one of @key. */
static __always_inline int compare_signatures(const struct direct_entry *entry,
					      const struct path_key *key)
{
	key->counts->compares++;
	return signatures_differ(&entry->signature, key->signature) ||
	       !text_leads_to(key->walk, &entry->path);
}

/* The dentries' are done with. */
#undef TABLE
#undef TABLE_OBJECT
#undef TABLE_LINK
#undef TABLE_KEY
#undef TABLE_LOCK_HEADER
#define TABLE path_table
#define TABLE_OBJECT struct direct_entry
#define TABLE_LINK hash_link
#define TABLE_KEY struct path_key
#define TABLE_LOCK_HEADER PATH_LOCK_HEADER
#include PATH_TABLE_HEADER

extern struct path_table path_table_instance;

/* Changes of the tree, of which as many have ended when none is going on. */
extern struct direct_changes {
	atomic_t begun, ended;
} direct_changes;

static __always_inline u32 path_bucket(const struct signature *signature)
{
	return path_hash(signature_index(signature), 0, path_cache_hash.bits);
}

/* May current reach it? */
static __always_inline bool direct_allows(const struct direct_entry *entry)
{
	return prefix_allows(smp_load_acquire(&current->cred->prefix), READ_ONCE(entry->version));
}

/* Is @text walked in fewer steps than its signature takes? So it is if it is shorter than eight
 * bytes, or is one component, as far as sixteen bytes tell. */
static __always_inline bool direct_is_longer(const char *text)
{
	u64 word = load_word(text);

	if (text_ends(word))
		return true;
	if (likely(component_ends(word)))
		return false;
	u64 ends = component_ends(load_word(text + 8));

	return ends && !text[8 + ((u32)__builtin_ctzll(ends) >> 3)];
}

/* The entry of @signature, which @walk looks for, or NULL. */
static __always_inline struct direct_entry *direct_probe(const struct lockless_walk *walk,
							 const struct signature *signature)
{
	struct hash_counters __maybe_unused uncounted;
	struct hash_counters *counts = HASH_CPU_COUNTERS(path, &uncounted);
	const struct path_key key = {signature, walk, counts};
	u64 steps = 0;
	REGION_MARK(HASH_path, 0);
	struct direct_entry *entry =
		path_table_find(&path_table_instance, NULL, path_bucket(signature), &key,
				compare_signatures, &steps);
	REGION_MARK(HASH_path, 1);
	hash_count_find(counts, entry, steps);
	return entry;
}

/* From @start, whose entry is @from, to the place of @entry (NULL: none), as direct_find(). */
static __always_inline enum direct_result direct_arrive(struct lockless_walk *walk,
							const struct dentry *start,
							const struct direct_entry *from,
							const struct direct_entry *entry)
{
	if (unlikely(!entry) || unlikely(entry->mount_sequence != walk->mount_sequence) ||
	    unlikely(!direct_allows(entry)))
		return DIRECT_UNKNOWN;

	struct dentry *dentry = entry->path.dentry;
	u32 sequence = read_seqcount_begin(&dentry->sequence);
	struct inode *inode = READ_ONCE(dentry->inode);
	/* still? Since the sequence was taken what is read is of one moment in which it was so */
	if (unlikely(READ_ONCE(dentry->direct) != entry) ||
	    unlikely(READ_ONCE(start->direct) != from) ||
	    unlikely(use_mounted(dentry))) /* something is mounted there */
		return DIRECT_UNKNOWN;
#ifdef CONFIG_DCACHE_FASTPATH_MISS
	return DIRECT_UNKNOWN;
#endif
	if (unlikely(!inode)) {
		bool absent =
			!d_is_numbered(dentry) && !read_seqcount_retry(&dentry->sequence, sequence);
		return absent ? DIRECT_ABSENT : DIRECT_UNKNOWN;
	}
	if (unlikely(S_ISLNK(READ_ONCE(inode->mode))) && (walk->flags & LOOKUP_FOLLOW))
		return DIRECT_UNKNOWN;
	walk->path = entry->path;
	walk->inode = inode;
	walk->sequence = sequence;
	return DIRECT_FOUND;
}

/*
 * direct_find() has found no place by the text itself, whose signature is walk->direct's, from the
 * entry @from of the start (NULL: it has none that counts): by an alias of it? If not, what else
 * direct_remember() wants to know is written down.
 */
enum direct_result direct_find_further(struct lockless_walk *walk, const struct direct_entry *from,
				       u32 changes);

/*
 * From where @walk has begun, look for @text, which has no slash in front: DIRECT_FOUND, and @walk
 * stands there; DIRECT_ABSENT: there is no such name; DIRECT_UNKNOWN: walk->direct is what
 * direct_remember() wants to know. Between rcu_read_lock() and rcu_read_unlock(); writes nothing
 * that others read.
 */
static __always_inline enum direct_result direct_find(struct lockless_walk *walk, const char *text)
{
	/* all that is looked at is as it was then, or later */
	u32 changes = (u32)smp_load_acquire(&direct_changes.ended.counter);
	struct dentry *start = walk->path.dentry;
	const struct direct_entry *from = READ_ONCE(start->direct);
	struct signature *signature = &walk->direct.signature;

	if (unlikely(!from) || unlikely(from->path.mount != walk->path.mount) ||
	    unlikely(from->mount_sequence != walk->mount_sequence) ||
	    unlikely(from->signature.length > SIGNATURE_START_MAX))
		return direct_find_further(walk, NULL, changes);
	signature_below(signature, &from->signature, text);

	enum direct_result result = direct_arrive(walk, start, from, direct_probe(walk, signature));

	if (likely(result != DIRECT_UNKNOWN))
		return result;
	return direct_find_further(walk, from, changes);
}

/* Is what @walk has found, which was not known, to be remembered? */
static __always_inline bool direct_is_new(const struct lockless_walk *walk)
{
#ifdef CONFIG_DCACHE_SYMLINK_ALIAS
	return walk->direct.tried;
#else
	return walk->direct.tried && !walk->links;
#endif
}
