/*
 * listing.c - getdents64() of directories that may be complete: from the children, or from the file
 * system, whose names then become children. See complete.h.
 */
#include "fs/calls/calls.h"
#include "fs/path/dcache.h"

/* ---- from the children ----------------------------------------------------------------------- */

/*
 * Entries are gathered in the kernel, under the directory's dentry->lock, and copied out without
 * it, a batch at a time: a child may be evicted in between, and then the file system has the rest.
 */
struct batch {
	char *at, *end;	    /* where the next entry goes, and where none reaches */
	struct entry *last; /* the entry before, or NULL */
	struct checksum {
		u64 entries, sum;
	} checksum; /* in a debug kernel */
};

#define BATCH_SIZE 1024

static const char dots[16] = "..";

#ifdef CONFIG_DEBUG
static void checksum_add(struct checksum *checksum, const char *name, unsigned length,
			 ino_t ino, loff_t position)
{
	u64 sum = ino * 31 + (u64)position;

	for (unsigned i = 0; i < length; i++)
		sum = sum * 31 + (u8)name[i];
	checksum->entries++;
	checksum->sum += sum;
}
#else
#define checksum_add(checksum, name, length, ino, position) ((void)0)
#endif

/* The name, of which eight bytes behind its end can be read, is at @position, which the entry
 * before is told. false: there is no room. */
static __always_inline bool batch_add(struct batch *batch, const char *name, unsigned length,
				      ino_t ino, unsigned type, loff_t position)
{
	size_t bytes = round_up(offsetof(struct entry, name) + length + 1, 8ul);
	struct entry *entry = (struct entry *)batch->at;

	if (likely(batch->last != NULL))
		batch->last->next = position;
	if (bytes > (size_t)(batch->end - batch->at))
		return false;
	entry->ino = ino;
	entry->bytes = (u16)bytes;
	entry->type = (u8)type;
	for (size_t i = 0; i < length; i += 8)
		__builtin_memcpy(entry->name + i, name + i, 8);
	/* what lies behind the name is none of the program's business: to the entry's end, and
	 * some bytes more, which are the next one's */
	__builtin_memset(entry->name + length, 0, 8);
	batch->at += bytes;
	batch->last = entry;
	checksum_add(&batch->checksum, name, length, ino, position);
	return true;
}

/* @dir's first child at @position or behind it, or NULL. */
static struct dentry *first_child(struct dentry *dir, u64 position)
{
	struct dentry *child, *found = NULL, *hint = dir->next_child;

	lockdep_assert_held(&dir->lock);
	if (position <= dir->dotdot) {
		list_for_each_entry(child, &dir->children, child_link)
			if (child->cookie)
				return child;
		return NULL;
	}
	struct list_head *link =
		hint && hint->cookie >= position ? &hint->child_link : dir->children.prev;
	for (; link != &dir->children; link = link->prev) {
		child = list_entry(link, struct dentry, child_link);
		if (child->cookie < position)
			break;
		found = child;
	}
	return found;
}

/* Of @child, which has a position: is there no such name any more? Then it leaves the order. */
static bool retire(struct dentry *dir, struct dentry *child)
{
	u8 flags = READ_ONCE(child->flags);

	lockdep_assert_held(&dir->lock);
	if (likely(!(flags & D_UNHASHED)) && likely(child->inode || (flags & D_NUMBERED)))
		return false;
	child_unlink(child, dir);
	child->cookie = 0;
	list_add(&child->child_link, &dir->children);
	return true;
}

/* Of @child, whose name is there, all that getdents64() says is put where the next listing finds it
 * together, but for a long name's letters. */
static void note_listed(struct dentry *child)
{
	const struct inode *inode = child->inode;

	if (inode) {
		child->number = (u32)inode->number;
		child->type = (u8)S_DT(READ_ONCE(inode->mode));
	}
	child->listed = child->name_length;
	if (child->listed >= sizeof(child->inline_name))
		child->elsewhere = child->name;
}

static __always_inline bool add_child(struct batch *batch, const struct dentry *child)
{
	unsigned length = child->listed;
	const char *name = child->inline_name;

	if (length >= sizeof(child->inline_name))
		name = child->elsewhere;
	return batch_add(batch, name, length, child->number, child->type,
			 (loff_t)child->cookie);
}

/* The names from @position on: where the first one is that had no room, or the directory's end. */
static loff_t add_children(struct dentry *dir, struct batch *batch, loff_t position)
{
	struct dentry *child = first_child(dir, (u64)position);
	struct list_head *link = child ? &child->child_link : &dir->children, *next;

	for (; link != &dir->children; link = next) {
		child = list_entry(link, struct dentry, child_link);
		next = link->next;
		if (unlikely(!child->listed)) {
			if (retire(dir, child))
				continue;
			note_listed(child);
		}
		if (unlikely(!add_child(batch, child))) {
			dir->next_child = child;
			return (loff_t)child->cookie;
		}
	}
	if (batch->last)
		batch->last->next = dir->inode->data.size;
	return dir->inode->data.size;
}

/* The same of all entries; -EAGAIN: the directory is not complete. */
static loff_t gather(struct dentry *dir, struct batch *to, loff_t position)
{
	struct batch batch = *to; /* in registers */

	lockdep_assert_held(&dir->inode->lock);
	guard(spinlock, &dir->lock);
	if (dir->known_to != KNOWN_ALL)
		return -EAGAIN;
	if (position <= 0 && !batch_add(&batch, dots, 1, dir->inode->number, DT_DIR, 0))
		return 0;
	if (position <= dir->dotdot && !batch_add(&batch, dots, 2, dir->parent->inode->number,
						  DT_DIR, dir->dotdot)) {
		*to = batch;
		return dir->dotdot;
	}
	position = add_children(dir, &batch, position);
	*to = batch;
	return position;
}

#ifdef CONFIG_DEBUG
struct check {
	struct dir_context context; /* first */
	loff_t end;
	struct checksum found;
};

static bool check_emit(struct dir_context *context, const char *name, unsigned length, ino_t ino,
		       unsigned type)
{
	struct check *check = (struct check *)context;

	if (context->position >= check->end)
		return false;
	checksum_add(&check->found, name, length, ino, context->position);
	return true;
}

/* Is it what the file system has from @start to @end? */
static void check_batch(struct file *file, const struct batch *batch, loff_t start, loff_t end)
{
	struct check check = {.context = {check_emit, start}, .end = end};

	if (file->fop->iterate(file, &check.context))
		return;
	BUG_ON(check.found.entries != batch->checksum.entries);
	BUG_ON(check.found.sum != batch->checksum.sum);
}
#else
#define check_batch(file, batch, start, end) ((void)0)
#endif

/* As iterate_directory(): true: as far as there is room; false: the file system has to go on. */
static bool list_children(struct file *file, struct getdents *out)
{
	char text[BATCH_SIZE + 8] __aligned(8);

	while (out->context.position < file->inode->data.size) {
		struct batch batch = {text, text + min(out->left, (unsigned)BATCH_SIZE), NULL, {}};
		loff_t next = gather(file->path.dentry, &batch, out->context.position);
		size_t bytes = (size_t)(batch.at - text);

		if (next < 0)
			return false;
		check_batch(file, &batch, out->context.position, next);
		/* if that fails, the file system finds out how far it can, entry by entry */
		if (copy_to_user(out->at, text, bytes))
			return false;
		out->context.position = next;
		if (!batch.last) { /* there is none, or no room for it */
			out->error = next < file->inode->data.size ? -EINVAL : 0;
			return true;
		}
		out->previous = out->at + ((char *)batch.last - text);
		out->at += bytes;
		out->left -= (unsigned)bytes;
	}
	return true;
}

/* ---- from the file system -------------------------------------------------------------------- */

struct filler {
	struct dir_context context; /* first */
	struct getdents *out;
	struct dentry *dir;
	u64 reached; /* once it has failed: to there it had not */
	bool failed;
};

/* A name that the file system has in @dir gets its dentry: true, or false: there is no memory, or
 * it is no name to have one. */
static bool add_name(struct dentry *dir, const char *name, unsigned length, ino_t ino,
		     unsigned type, loff_t position)
{
	char text[NAME_MAX + 1 + 8];

	__builtin_memcpy(text, name, length);
	__builtin_memset(text + length, 0, 8);

	struct component component = take_component(dir, text);

	if (!length || component.length != length || ino != (u32)ino)
		return false; /* with a slash in it, or a NUL; or its number has no room */
	struct dentry *dentry = d_lookup(dir, &component, HASH_LOOK);
	if (!dentry) {
		dentry = d_alloc_hashed(dir, text, length, component.hash);
		if (!dentry)
			return false;
		dentry->number = (u32)ino;
		dentry->type = (u8)type;
		dentry->flags |= D_NUMBERED;
		d_add(dentry, NULL);
	}
	/* not if it is known not to exist, or is there twice: a disk that is damaged */
	bool fits = (dentry->inode || d_is_numbered(dentry)) &&
		    (!dentry->cookie || dentry->cookie == (u64)position);
	if (fits)
		set_position(dentry, position);
	dput(dentry);
	return fits;
}

static bool is_dots(const char *name, unsigned length)
{
	return name[0] == '.' && (length == 1 || (length == 2 && name[1] == '.'));
}

static bool fill_emit(struct dir_context *context, const char *name, unsigned length, ino_t ino,
		      unsigned type)
{
	struct filler *filler = (struct filler *)context;
	struct getdents *out = filler->out;
	struct dentry *dir = filler->dir;
	loff_t position = context->position;
	bool added;

	out->context.position = position;
	if (!out->context.emit(&out->context, name, length, ino, type))
		return false;
	if (filler->failed)
		return true;
	if (is_dots(name, length))
		added = position == (length == 1 ? 0 : dir->dotdot);
	else
		added = position > dir->dotdot && !(READ_ONCE(dir->filling) & LOST) &&
			add_name(dir, name, length, ino, type, position);
	if (!added) {
		filler->failed = true;
		filler->reached = (u64)position;
	}
	return true;
}

/* May a reading from @position on add dentries? Then it is the only one that does. */
static bool begin_to_fill(struct dentry *dir, u64 position)
{
	guard(spinlock, &dir->lock);
	if (dir->filling || position > dir->known_to)
		return false;
	dir->filling = FILLING;
	return true;
}

/* It has added all to @reached. */
static void end_to_fill(struct dentry *dir, u64 reached)
{
	lockdep_assert_held(&dir->inode->lock);
	guard(spinlock, &dir->lock);
	if (!(dir->filling & LOST) && reached > dir->known_to)
		dir->known_to = reached;
	dir->filling = 0;
}

static int fill(struct file *file, struct getdents *out)
{
	struct filler filler = {.context = {fill_emit, out->context.position},
				.out = out,
				.dir = file->path.dentry};

	if (!begin_to_fill(filler.dir, (u64)filler.context.position))
		return file->fop->iterate(file, &out->context);
	int error = file->fop->iterate(file, &filler.context);
	out->context.position = filler.context.position;
	if (!filler.failed)
		filler.reached = (u64)filler.context.position;
	if (!error && !filler.failed && filler.context.position >= file->inode->data.size)
		filler.reached = KNOWN_ALL;
	end_to_fill(filler.dir, filler.reached);
	return error;
}

int iterate_directory(struct file *file, struct getdents *out)
{
	lockdep_assert_held(&file->inode->lock);
	if (!file->path.dentry->dotdot)
		return file->fop->iterate(file, &out->context);
	return list_children(file, out) ? 0 : fill(file, out);
}
