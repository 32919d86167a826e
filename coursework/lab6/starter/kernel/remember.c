/* remember.c - lab 6: the kernel's side of the path cache. See direct.h. */
#ifdef CONFIG_DCACHE_FASTPATH

#include "fs/file/file_table.h"
#include "fs/path/dcache.h"
#include "fs/path/direct/below.h"
#include "fs/path/direct/find.h"
#include "hash/cache.h"

/* ---- what is counted: /proc/hash/path -------------------------------------------------------- */

struct path_object {
	struct path_table_link hash_link;
};

#undef TABLE
#undef TABLE_OBJECT
#undef TABLE_LINK
#undef TABLE_KEY
#undef TABLE_LOCK_HEADER
#undef BUCKET_LOCKS
#undef BUCKET_LOCK_SPACING
#define TABLE path_table
#define TABLE_OBJECT struct path_object
#define TABLE_LINK hash_link
#define TABLE_KEY struct path_object
#define TABLE_LOCK_HEADER PATH_LOCK_HEADER
#define TABLE_TAG(object) 0
#define TABLE_KEY_TAG(key) 0
#include PATH_TABLE_HEADER

#ifdef CONFIG_HASH_STATS
struct hash_counters path_counters[NR_CPUS];
#endif
DEFINE_HASH_CACHE(path, PATH, "Path", "paths", "pathcache_find");

static struct path_table table; /* which stays empty */

void direct_init(void)
{
	path_table_create(&table, &path_cache_hash);
	pathcache_init();
}

/* ---- who asks -------------------------------------------------------------------------------- */

/* Of current's credential, in the word that direct lookup keeps its cache in. */
static u64 credential_number(void)
{
	static u64 last;
	struct cred *cred = (struct cred *)current->cred;
	struct prefix_cache *none = NULL, *number = READ_ONCE(cred->prefix);

	if (likely(number))
		return (u64)number;
	number = (struct prefix_cache *)__atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	if (!__atomic_compare_exchange_n(&cred->prefix, &none, number, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		number = none;
	return (u64)number;
}

const struct cred *cred_or_equal(struct cred *cred)
{
	const struct cred *old = current->cred;
	size_t ids = offsetof(struct cred, groups) - offsetof(struct cred, uid);

	if (memcmp(&cred->uid, &old->uid, ids) ||
	    memcmp(cred->groups, old->groups, cred->group_count * sizeof(gid_t)))
		return cred;
	put_cred(cred);
	return get_cred(old);
}

/* ---- lookups --------------------------------------------------------------------------------- */

/* To @place, if that is simple. */
static bool arrive(struct lockless_walk *walk, const struct path *place)
{
	struct dentry *dentry = place->dentry;
	u32 sequence = read_seqcount_begin(&dentry->sequence);
	struct inode *inode = smp_load_acquire(&dentry->inode);

	if (!inode || use_not_plain(dentry) ||
	    (S_ISLNK(READ_ONCE(inode->mode)) && (walk->flags & LOOKUP_FOLLOW)))
		return false;
	walk->path = *place;
	walk->inode = inode;
	walk->sequence = sequence;
	return true;
}

enum direct_result direct_find(struct lockless_walk *walk, const char *text)
{
	struct hash_counters __maybe_unused uncounted;
	struct path_question *question = &walk->direct.question;
	struct path place;

	*question = (struct path_question){
		.start = walk->path,
		.text = text,
		.credential = credential_number(),
		.mounts = walk->mount_sequence,
		.keep = true,
	};
	bool found = pathcache_find(question, &place);
	hash_count_find(HASH_CPU_COUNTERS(path, &uncounted), found ? &place : NULL, 0);
	walk->direct.tried = !found && question->keep;
	return found && arrive(walk, &place) ? DIRECT_FOUND : DIRECT_UNKNOWN;
}

/* No empty component, no "." nor "..", no slash at the end? */
static bool is_plain(const char *text)
{
	for (;;) {
		size_t length = 0;

		while (text[length] && text[length] != '/')
			length++;
		if (!length || (text[0] == '.' && (length == 1 || (length == 2 && text[1] == '.'))))
			return false;
		if (!text[length])
			return true;
		text += length + 1;
	}
}

/* Where a lookup from @dfd begins, referenced: 0, -EBADF. */
static int start_of(int dfd, bool at_root, struct path *start)
{
	struct fs_context *fs = current->fs;

	if (!at_root && dfd != AT_FDCWD)
		return descriptor_path(dfd, LOOKUP_FD_PATH, start);
	context_path(start, fs, at_root ? &fs->root : &fs->cwd);
	return 0;
}

/* Where several CPUs run in turn (core/lock/turns.h) the others go on for a while now and then, as
 * they do on real ones when an interrupt comes. */
static void linger(void)
{
#ifdef CONFIG_SHORT_TURNS
	static u32 walks;

	if (nr_cpus > 1 && (data_race(walks++) & 1) == 0)
		for (unsigned i = 0; i < 150; i++)
			turn_point();
#endif
}

void direct_remember(const struct lockless_walk *walk, int dfd, const char *name,
		     const struct path *path, u32 sequence, bool below)
{
	const struct path_question *question = &walk->direct.question;
	struct path start __free(path) = {0};

	(void)below;
	if (!is_plain(question->text) || start_of(dfd, *name == '/', &start) ||
	    start.dentry != question->start.dentry || start.mount != question->start.mount)
		return; /* another thread has changed the directory */
	if (read_seqcount_retry(&path->dentry->sequence, sequence) || d_unlinked(path->dentry))
		return;
	linger();
	pathcache_fill(question, path);
}

/* ---- changes --------------------------------------------------------------------------------- */

static void forget(struct dentry *child, const struct dentry *parent, void *mounts)
{
	(void)parent;
	pathcache_forget(child);
	*(bool *)mounts |= READ_ONCE(child->flags) & D_MOUNTED;
}

/* All that is cached below @top is to be forgotten; does it have mounts? */
static bool forget_below(struct dentry *top)
{
	bool mounts = false;

	guard(spinlock, &dentry_tree_lock);
	visit_all_below(top, forget, &mounts);
	return mounts;
}

void direct_change_begin(struct dentry *dentry)
{
	if (!dentry)
		return;
	pathcache_change_begin();
	if (forget_below(dentry))
		mounts_have_moved(); /* what is mounted below is another number's */
}

void direct_change_end(struct dentry *dentry)
{
	if (dentry)
		pathcache_change_end();
}

#endif
