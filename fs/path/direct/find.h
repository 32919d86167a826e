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
	       !text_leads_to(key->walk, &entry->path, entry->mount_sequence);
}

/* By a tag a structure may tell entries apart before it looks at them: bits of the signature that
 * choose a bucket only in a table of more than 65,536. */
#define TABLE_TAG(entry) (signature_index(&(entry)->signature) >> 16)
#define TABLE_KEY_TAG(key) (signature_index((key)->signature) >> 16)

/* The dentries' are done with. */
#undef TABLE
#undef TABLE_OBJECT
#undef TABLE_LINK
#undef TABLE_KEY
#undef TABLE_LOCK_HEADER
#undef BUCKET_LOCKS
#undef BUCKET_LOCK_SPACING
#define TABLE path_table
#define TABLE_OBJECT struct direct_entry
#define TABLE_LINK hash_link
#define TABLE_KEY struct path_key
#define TABLE_LOCK_HEADER PATH_LOCK_HEADER
#include PATH_TABLE_HEADER

extern struct path_table path_table_instance;
extern struct hash_counters path_counters[];

/*
 * With PATH_LOCK=rcu a lookup takes no lock. With the others it takes that of its bucket, as in the
 * other caches (docs/kernel/locking.md): which nobody needs, but for the measure of it, and where
 * keys are recorded, in the order of locks. What it finds is there until the reader's section ends
 * in any case.
 */
#if defined(CONFIG_PATH_LOCK_RCU) && !defined(CONFIG_RECORD_KEYS)
#define path_lock_to_look(bucket) ((void)0)
#define path_unlock_looked(bucket) ((void)0)
#else
#define path_lock_to_look(bucket) path_table_lock_to_read(&path_table_instance, NULL, bucket)
#define path_unlock_looked(bucket) path_table_unlock_read(&path_table_instance, NULL, bucket)
#endif

/* For a key stream a signature is what chooses its bucket and, of what is compared, the upper bits:
 * 64 of them are enough to tell paths apart. */
#define PATH_BITS min(CONFIG_SIGNATURE_BITS, 64)
#define PATH_RECORD(operation, entry, signature)                                                   \
	HASH_RECORD(path, operation, entry, signature_index(signature),                            \
		    signature_top(signature) >> (64 - PATH_BITS))

/* Changes of the tree, of which as many have ended when none is going on. An alias may have been
 * asked for last however many changes ago: 32 bits of them come again within an hour. */
extern struct direct_changes {
	atomic64_t begun, ended;
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

/* @entry is not true any more, nor ever will be. */
static __always_inline void direct_void(struct direct_entry *entry)
{
	WRITE_ONCE(entry->version, 0);
}

/* The version of an entry that is not known to be true yet has this bit: no prefix cache has it. */
#define DIRECT_UNSURE (1ull << 63)

/* Is it neither void nor unsure? */
static __always_inline bool direct_counts(u64 version)
{
	return (s64)version > 0;
}

/* Give @entry the version @new: that; or 0, since it is void, or unsure, and void from now on. */
static inline u64 direct_renew(struct direct_entry *entry, u64 new)
{
	u64 old = READ_ONCE(entry->version);

	while (old && !__atomic_compare_exchange_n(&entry->version, &old,
						   direct_counts(old) ? new : 0, false,
						   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		;
	return direct_counts(old) ? new : 0;
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

#if CONFIG_DIRECT_PATHS > 1
/* again.c: as below, of all places but the first. */
struct direct_entry *direct_entry_further(const struct dentry *dentry, const struct mount *mount);
#else
#define direct_entry_further(dentry, mount) NULL
#endif

/* The entry of @dentry's path through @mount, which may be void; NULL: there is none. */
static __always_inline struct direct_entry *direct_entry_of(const struct dentry *dentry,
							    const struct mount *mount)
{
	struct direct_entry *entry = READ_ONCE(dentry->direct[0]);

	if (likely(entry) && likely(entry->path.mount == mount))
		return entry;
	return direct_entry_further(dentry, mount);
}

/*
 * A text whose first component is absent is walked in one step, fewer than its signature takes. Of
 * each directory the last such component is known, with the slash behind it, in the upper bytes of
 * a word whose lower ones are zeros; and by how much the text's first word is to be shifted for
 * that. No more than a hint: whoever finds that it is not so
 * takes it away, and where two write at once it is of neither.
 */
static inline void direct_hint(struct direct_entry *from, const struct component *absent)
{
	u32 shift = (u32)(7 - absent->length) * 8;

	WRITE_ONCE(from->absent, load_word(absent->name) << shift);
	WRITE_ONCE(from->absent_shift, (u8)shift);
}

static inline void direct_unhint(struct direct_entry *from)
{
	WRITE_ONCE(from->absent_shift, 0);
	WRITE_ONCE(from->absent, 0); /* what no text begins with */
}

static __always_inline bool direct_is_hinted(const struct direct_entry *from, const char *text)
{
	return load_word(text) << READ_ONCE(from->absent_shift) == READ_ONCE(from->absent);
}

/* The entry of @signature, which @walk looks for, or NULL. */
static __always_inline struct direct_entry *direct_probe(const struct lockless_walk *walk,
							 const struct signature *signature)
{
	struct hash_counters __maybe_unused uncounted;
	struct hash_counters *counts = HASH_CPU_COUNTERS(path, &uncounted);
	const struct path_key key = {signature, walk, counts};
	u32 bucket = path_bucket(signature);
	u64 steps = 0;
	rcu_assert_reader();
	REGION_MARK(HASH_path, 0);
	path_lock_to_look(bucket);
	struct direct_entry *entry = path_table_find(&path_table_instance, NULL, bucket, &key,
						     compare_signatures, &steps);
	PATH_RECORD(HASH_FIND, entry, entry ? &entry->signature : signature);
	path_unlock_looked(bucket);
	REGION_MARK(HASH_path, 1);
	hash_count_find(counts, entry, steps);
	return entry;
}

/* From a start whose entry is @from to the place of @entry (NULL: none), as direct_find(). */
static __always_inline enum direct_result direct_arrive(struct lockless_walk *walk,
							const struct direct_entry *from,
							const struct direct_entry *entry)
{
	if (unlikely(!entry) || unlikely(entry->mount_sequence != walk->mount_sequence))
		return DIRECT_UNKNOWN;

	struct dentry *dentry = entry->path.dentry;
	u32 sequence = read_seqcount_begin(&dentry->sequence);
	struct inode *inode = smp_load_acquire(&dentry->inode);
	/* Still? Neither is void now, so what was read meanwhile is of one moment in which both
	 * were true. */
	if (unlikely(!direct_allows(entry)) || unlikely(!direct_counts(READ_ONCE(from->version))) ||
	    unlikely(use_not_plain(dentry))) /* mounted on, or gone */
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
enum direct_result direct_find_further(struct lockless_walk *walk, struct direct_entry *from,
				       u64 changes);

/*
 * From where @walk has begun, look for @text, which has no slash in front: DIRECT_FOUND, and @walk
 * stands there; DIRECT_ABSENT: there is no such name; DIRECT_BELOW_FILE: the text goes on below
 * what is no directory; DIRECT_UNKNOWN: walk->direct is what direct_remember() wants to know.
 * Between rcu_read_lock() and rcu_read_unlock(); writes nothing that others read.
 */
static __always_inline enum direct_result direct_find(struct lockless_walk *walk, const char *text)
{
	/* all that is looked at is as it was then, or later */
	u64 changes = (u64)smp_load_acquire(&direct_changes.ended.counter);
	struct direct_entry *from = direct_entry_of(walk->path.dentry, walk->path.mount);
	struct signature *signature = &walk->direct.signature;

	if (likely(from) && unlikely(direct_is_hinted(from, text))) {
		walk->direct.hinted = text;
		walk->direct.from = from;
		return DIRECT_UNKNOWN;
	}
	if (unlikely(!from) || unlikely(from->mount_sequence != walk->mount_sequence) ||
	    unlikely(from->signature.length > SIGNATURE_START_MAX))
		return direct_find_further(walk, NULL, changes);
	signature_below(signature, &from->signature, text);

	enum direct_result result = direct_arrive(walk, from, direct_probe(walk, signature));

	if (likely(result != DIRECT_UNKNOWN))
		return result;
	return direct_find_further(walk, from, changes);
}

/* Is it remembered that a text goes on below what is absent, or no directory? */
#if defined(CONFIG_DCACHE_SYMLINK_ALIAS) && defined(CONFIG_DCACHE_NEGATIVE)
#define DIRECT_KEEPS_BELOW true
#else
#define DIRECT_KEEPS_BELOW false
#endif

/* Does @walk stand on what is neither a directory nor a link, so that nothing is below? */
static __always_inline bool direct_is_file(const struct lockless_walk *walk)
{
	umode_t mode = walk->inode ? READ_ONCE(walk->inode->mode) : 0;

	return mode && !S_ISDIR(mode) && !S_ISLNK(mode) && lockless_still_there(walk);
}

/* @walk has ended without a place: is that to be remembered, or was the hint wrong? */
static __always_inline bool direct_has_to_learn(const struct lockless_walk *walk)
{
	const char *hinted = walk->direct.hinted;

	return walk->direct.tried || unlikely(hinted && hinted != walk->left);
}

/* A walk has ended with *@walked, LOCKLESS_PART or less: does it lead nowhere? *@walked: by which
 * error, then. Only where that is remembered does it count that it stands on what is no directory.
 */
static __always_inline bool direct_leads_nowhere(const struct lockless_walk *walk, int *walked)
{
	if (*walked < 0)
		return true;
	if (unlikely(walk->direct.hinted))
		direct_unhint(walk->direct.from);
	if (!DIRECT_KEEPS_BELOW || !walk->direct.tried || !direct_is_file(walk))
		return false;
	*walked = -ENOTDIR;
	return true;
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

/* again.c: the version of @dentry's entry, a newer one if that is of an epoch that has ended, if it
 * is of the path @signature through @mount as of @mount_sequence; 0: it is of another, or void, or
 * unsure, or there is none. Within a reader's section. */
u64 direct_version_of(const struct dentry *dentry, const struct mount *mount,
		      const struct signature *signature, u32 mount_sequence);
/* again.c: has nothing been changed since @walk began? */
bool direct_nothing_changed(const struct lockless_walk *walk);
/*
 * again.c: @walk, which was tried directly, has come to @dentry. If all that was not known is that
 * current may reach its path, remember that: whatever the dentry is by now, nothing on the way to
 * that path has changed. false: there is more to be remembered, or something has changed. Within
 * the walk's reader's section.
 */
bool direct_remember_again(const struct lockless_walk *walk, const struct dentry *dentry);

/* @walk has come to its end: is that to be remembered, outside of its reader's section? */
static __always_inline bool direct_ends_new(const struct lockless_walk *walk)
{
	if (unlikely(walk->direct.hinted))
		direct_unhint(walk->direct.from); /* what was absent is there */
	return direct_is_new(walk) && !direct_remember_again(walk, walk->path.dentry);
}
