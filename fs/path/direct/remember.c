/* remember.c - direct lookup: what a walk has found is remembered, if it is still so. See direct.h.
 */
#ifdef CONFIG_DCACHE_FASTPATH

#include "fs/path/alias/alias.h"
#include "fs/path/direct/find.h"
#include "fs/path/namespace/namespace.h"
#include "fs/path/siblings/siblings.h"

#include "fs/inode/lru.h"
#include "fs/inode/permission.h"
#include "core/memory/slab.h"

/* ---- what is not found ----------------------------------------------------------------------- */

enum direct_result direct_find_further(struct lockless_walk *walk, struct direct_entry *from,
				       u64 changes)
{
	/* a text through a link has an alias; the link itself, with which a lookup may begin, is
	 * not gone through, and nothing is below it */
	bool below = from && S_ISDIR(READ_ONCE(walk->inode->mode));
	enum direct_result result = below ? alias_arrive(walk, from) : DIRECT_UNKNOWN;

	if (result != DIRECT_UNKNOWN)
		return result;
	walk->direct.tried = true;
	walk->direct.changes = changes;
	walk->direct.start = walk->path.dentry;
	walk->direct.from = from;
	alias_attempt(walk);
	return DIRECT_UNKNOWN;
}

/* ---- remembering ----------------------------------------------------------------------------- */

/*
 * @path, which is referenced, gets an entry, or has it, if its dentry is still as @sequence says
 * and nothing has changed since @walk began; then, if @reached, current may reach it. Not if its
 * name was removed before @sequence was taken: a walk that was on its way through the bucket has
 * come to it nevertheless.
 */
static void keep(const struct path *path, const struct signature *signature,
		 const struct lockless_walk *walk, u32 sequence, bool reached)
{
	struct dentry *dentry = path->dentry;
	u64 version;

	rcu_read_lock();
	version = direct_version_of(dentry, path->mount, signature, walk->mount_sequence);
	rcu_read_unlock();
	if (!version)
		version = direct_enter(path, signature, walk->mount_sequence);
	if (!version)
		return;
	if (!direct_nothing_changed(walk) || read_seqcount_retry(&dentry->sequence, sequence) ||
	    d_unlinked(dentry)) {
		direct_forget(dentry);
		return;
	}
	rcu_read_lock(); /* nothing has: it is true, unless something has changed since */
	struct direct_entry *entry = direct_entry_of(dentry, path->mount);
	u64 was = version | DIRECT_UNSURE;
	bool sure = entry && (__atomic_compare_exchange_n(&entry->version, &was, version, false,
							  __ATOMIC_ACQ_REL, __ATOMIC_RELAXED) ||
			      was == version);
	if (sure)
		version = siblings_share(path, walk, version);
	rcu_read_unlock();
	if (sure && reached)
		prefix_remember(version);
}

/* Is @text what its canonical path has: no empty component, no "." nor "..", no slash at the end?
 */
static bool is_canonical(const char *text)
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

/* If *@path is the root of a mount, go to the place that is mounted on. false: somewhere on the way
 * something else is mounted over it. */
static bool leave_mounts(struct path *path)
{
	const struct mount *from = NULL;

	while (mount_on(path) == from) {
		if (path->dentry != path->mount->root || path->mount->parent == path->mount)
			return true;
		from = path->mount;
		*path = (struct path){from->parent, from->mountpoint};
	}
	return false;
}

/*
 * The canonical path of @path, written in front of @at, where a NUL is, but not in front of @start;
 * and may current search all directories above? NULL: no path from the root leads there now, since
 * it was removed, unmounted, mounted over, moved out of what its mount shows, or is looked up anew
 * each time; or it does not fit. All as of one moment.
 */
static char *write_path(struct path path, char *at, const char *start, bool *reached)
{
	*reached = true;
	guard(spinlock, mount_lock());
	guard(spinlock, &dentry_tree_lock);
	while (leave_mounts(&path)) {
		const struct dentry *dentry = path.dentry, *parent = dentry->parent;
		size_t length = dentry->name_length;

		if (dentry == path.mount->root)
			return list_empty(&path.mount->link)
				       ? NULL /* off the tree */
				       : namespace_prepend(path.mount, at, start);
		if (parent == dentry || (READ_ONCE(dentry->flags) & D_UNHASHED) ||
		    (size_t)(at - start) <= length)
			return NULL;
		if (*at)
			*--at = '/';
		at = memcpy(at - length, dentry->name, length);
		path.dentry = dentry->parent;

		struct inode *inode = READ_ONCE(parent->inode);
		if (!inode || may_search(inode))
			*reached = false;
	}
	return NULL;
}

/* *@sum: the signature of @path, which is referenced; *@reached: may current reach it? false: it
 * has none, or there is no memory. Sleeps. */
static bool sign(const struct path *path, struct signature *sum, bool *reached)
{
	char *buffer __free(kfree) = kzalloc(SIGNATURE_MAX + 8, GFP_KERNEL | GFP_NOWARN);

	if (!buffer)
		return false;
	const char *text = write_path(*path, buffer + SIGNATURE_MAX, buffer, reached);
	if (!text)
		return false;
	*sum = signature_of_root;
	if (*text)
		signature_below(sum, sum, text);
	return true;
}

#ifdef CONFIG_DCACHE_SYMLINK_ALIAS
/* What @walk has come to by a text that is not canonical, to @path, or which is absent, and so all
 * @below it, gets an entry by its canonical one, and the text an alias of that. */
static void keep_alias(const struct path *path, const struct lockless_walk *walk, u32 sequence,
		       bool below)
{
	struct signature target;
	bool reached;

	if (!sign(path, &target, &reached) || !reached)
		return;
	keep(path, &target, walk, sequence, true);
	if (!read_seqcount_retry(&path->dentry->sequence, sequence)) /* it had that path then */
		alias_keep(walk, &target, below);
}
#else
#define keep_alias(path, walk, sequence, below) ((void)0)
#endif

/* The start of a lookup, which is referenced, gets an entry, and who may reach it is remembered. */
static void know_start(const struct path *start, const struct lockless_walk *walk)
{
	struct signature signature;
	u32 sequence = read_seqcount_begin(&start->dentry->sequence);
	bool reached;

	if (sign(start, &signature, &reached))
		keep(start, &signature, walk, sequence, reached);
}

#ifdef CONFIG_PREFIX_SIBLINGS
/* The same for the directory of @path, which is referenced, if its names need that. */
static void know_directory(const struct path *path, const struct lockless_walk *walk)
{
	struct path directory __free(path) = {0};

	if (siblings_have_none(path, walk, &directory))
		know_start(&directory, walk);
}
#else
#define know_directory(path, walk) ((void)0)
#endif

/* Where a lookup from @dfd begins, referenced: 0, -EBADF. */
static int start_of(int dfd, bool at_root, struct path *start)
{
	struct fs_context *fs = current->fs;

	if (!at_root && dfd != AT_FDCWD)
		return descriptor_path(dfd, LOOKUP_FD_PATH, start);
	context_path(start, fs, at_root ? &fs->root : &fs->cwd);
	return 0;
}

void direct_remember(const struct lockless_walk *walk, int dfd, const char *name,
		     const struct path *path, u32 sequence, bool below)
{
	struct path start __free(path) = {0};

	if (start_of(dfd, *name == '/', &start) || start.dentry != walk->direct.start)
		return; /* another thread has changed the directory */
	rcu_read_lock();
	const struct direct_entry *from = direct_entry_of(start.dentry, start.mount);
	bool reached = from && from == walk->direct.from && direct_allows(from);
	rcu_read_unlock();

	name = skip_slashes(name);
	if (!reached) {
		know_start(&start, walk);
		return;
	}
	know_directory(path, walk);
	if (!below && !walk->links && is_canonical(name))
		keep(path, &walk->direct.signature, walk, sequence, true);
	else
		keep_alias(path, walk, sequence, below);
}

/* Is something left of the path's text behind the component at which @walk has stopped, be it a
 * slash, which asks for a directory? */
static bool goes_on(const struct lockless_walk *walk)
{
	const struct component *last = walk->component;

	return walk->depth || last->name[last->length];
}

/* If @walk ended with @error at the first of several components, which is short, a hint tells that,
 * and nothing else is remembered; if it went by a hint, and ended elsewhere, that is taken away. */
static bool hint_is_enough(const struct lockless_walk *walk, int error, const char *name)
{
	const struct component *last = walk->component;

	if (!walk->direct.from)
		return false;
	bool first = error == -ENOENT && !walk->links && last->name == skip_slashes(name) &&
		     last->length < 8 && goes_on(walk);
	if (first && walk->direct.tried)
		direct_hint(walk->direct.from, last);
	else if (walk->direct.hinted)
		direct_unhint(walk->direct.from);
	return first;
}

void direct_end_nowhere(const struct lockless_walk *walk, int error, int dfd, const char *name)
{
	bool on_file = error == -ENOTDIR;
	struct path path = {walk->path.mount, on_file ? walk->path.dentry : walk->special};
	u32 sequence = on_file ? walk->sequence : walk->special_sequence;
	bool walked = !hint_is_enough(walk, error, name) && direct_is_new(walk) && path.dentry;
	bool below = walked && (on_file || goes_on(walk));
	bool again = walked && !below && direct_remember_again(walk, path.dentry);
	bool known = walked && !again && (!below || DIRECT_KEEPS_BELOW) &&
		     atomic_inc_not_zero(&path.dentry->refcount);
	bool held = known && percpu_ref_tryget(&path.mount->references);

	rcu_read_unlock();
	if (held) {
		direct_remember(walk, dfd, name, &path, sequence, below);
		path_put(&path);
	} else if (known) {
		dput(path.dentry);
	}
}

/* ---- checks ---------------------------------------------------------------------------------- */

#if defined(CONFIG_DEBUG) || defined(HOSTED)
static u64 entries_of_dentries;

static void check_entry(const struct direct_entry *entry, const struct dentry *dentry)
{
	struct signature signature;
	bool reached;

	entries_of_dentries++;
	BUG_ON(entry->path.dentry != dentry || dentry->direct[entry->place] != entry);
	if (!direct_counts(entry->version) || entry->mount_sequence != mount_sequence.sequence)
		return; /* it is void */
	BUG_ON(!sign(&entry->path, &signature, &reached));
	BUG_ON(signature.length != entry->signature.length);
	BUG_ON(signatures_differ(&signature, &entry->signature));
}

static void check_dentry(const struct dentry *dentry)
{
	for (unsigned place = 0; place < CONFIG_DIRECT_PATHS; place++)
		if (dentry->direct[place])
			check_entry(dentry->direct[place], dentry);
}

static int check_root(struct super_block *sb)
{
	if (sb->root)
		check_dentry(sb->root);
	return 0;
}

static void add_size(u64 size, void *sum)
{
	*(u64 *)sum += size;
}

void direct_check(void)
{
	const struct dentry *dentry;
	u64 entries = 0;

	entries_of_dentries = 0;
	for (unsigned cpu = 0; cpu < NR_CPUS; cpu++)
		list_for_each_entry (dentry, &dentry_lru.of_cpu[cpu].objects, lru)
			check_dentry(dentry);
	for_each_super(check_root);
	path_cache_hash.walk(path_cache_hash.table, add_size, &entries);
	BUG_ON(entries != entries_of_dentries);
}
#endif

#endif
