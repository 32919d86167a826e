/*
 * super.c - file systems by name, and their superblocks: made by the first mount, written out, and
 * shut down with the last mount. See super.h.
 *
 * Locks: mount_mutex guards the list of superblocks, so that who mounts a device again waits until
 * it is unmounted, and whoever visits all of them sees none go away.
 */
#include "fs/block/dirty.h"
#include "fs/inode/lru.h"
#include "fs/path/super.h"
#include "core/memory/slab.h"

struct filesystem *filesystems; /* in order of registration; only at start-up does it change */
DEFINE_MUTEX(mount_mutex);
static LIST_HEAD(super_blocks); /* mount_mutex */

/* ---- kinds of file systems ------------------------------------------------------------------- */

void register_filesystem(struct filesystem *type)
{
	size_t bytes = type->inode_before + sizeof(struct inode);
	struct filesystem **at = &filesystems;

	while (*at)
		at = &(*at)->next;
	*at = type;
	type->inode_slab = kmem_cache_create(type->name, bytes, 0, SLAB_RECLAIMABLE);
}

struct filesystem *find_filesystem(const char *name)
{
	for (struct filesystem *type = filesystems; type; type = type->next)
		if (!strcmp(type->name, name))
			return type;
	return NULL;
}

/* ---- superblocks ----------------------------------------------------------------------------- */

/* Writes all, whatever fails. */
int sync_super(struct super_block *sb)
{
	int inodes = sync_inodes(sb), error = 0;

	if (sb->op->sync_fs)
		error = sb->op->sync_fs(sb);
	if (sb->bdev) {
		error = sync_buffers(sb->bdev, WB_SYNC_ALL) ?: error;
		error = block_flush(sb->bdev) ?: error;
	}
	return inodes ?: error; /* what had no memory can be tried again */
}

/* One try to drop all dentries but the root, and what is dirty can only be written now: has it
 * succeeded? Not while there is no memory to write with and many tries are @left. */
static bool names_gone(struct super_block *sb, unsigned left)
{
	if (sync_super(sb) == -ENOMEM && left > 1000)
		return false;
	return !shrink_dcache_sb(sb) && dentry_count(sb->root) == 1;
}

static void super_free(struct super_block *sb)
{
	synchronize_rcu(); /* who has counted the last inode is through */
	rcu_barrier();	   /* inodes that wait for their end still look at it */
	kfree(sb->private);
	kfree(sb);
}

/* The last mount is gone. Everything is written; then nothing may be left in use, but memory
 * reclaim on another CPU may have some in its hands for a moment. */
static void super_shutdown(struct super_block *sb)
{
	unsigned tries = 2000;
	s64 busy;

	lockdep_assert_held(&mount_mutex);
	while (!names_gone(sb, tries) && --tries)
		sleep_ns(NSEC_PER_MSEC);
	notify(sb->root->inode, IN_UNMOUNT, NULL);
	dput(sb->root);
	/* evict what is left; others may be at it too */
	for (;;) {
		lru_shrink(&inode_lru, sb, ~0ULL, ~0ULL);
		busy = percpu_counter_sum(&sb->inode_count); /* it only falls */
		if (!busy || !tries || !--tries)
			break;
		sleep_ns(NSEC_PER_MSEC);
	}
	if (!tries)
		pr_err("%s: %lld inodes still in use after unmounting\n", sb->type->name,
		       (long long)busy);
	ASSERT(!busy);
	sync_super(sb); /* what was freed */
	if (sb->op->put_super)
		sb->op->put_super(sb);
	if (!busy)
		super_free(sb);
}

/* Under mount_mutex, so that who mounts the device again waits until it is unmounted. */
void super_put(struct super_block *sb)
{
	guard(mutex, &mount_mutex);
	if (!atomic_dec_and_test(&sb->active))
		return;
	list_del(&sb->link);
	super_shutdown(sb);
}

/* A new one, counted once. NULL: no memory. */
static struct super_block *super_alloc(struct filesystem *type, struct block_device *device,
				       unsigned flags)
{
	static u32 minor; /* of those without a device; mount_mutex */
	struct super_block *sb = kzalloc(sizeof(*sb), GFP_KERNEL);

	lockdep_assert_held(&mount_mutex);
	if (!sb)
		return NULL;
	sb->type = type;
	sb->bdev = device;
	minor++;
	sb->dev = device ? device->dev : MKDEV(0, minor);
	sb->flags = flags & SB_RDONLY;
	sb->block_size = PAGE_SIZE;
	sb->max_bytes = ~0ULL >> 1;
	percpu_counter_init(&sb->inode_count, NO_LIMIT);
	atomic_set(&sb->active, 1);
	mutex_init(&sb->rename_lock, "sb->rename_lock");
	mutex_init(&sb->sync_lock, "sb->sync_lock");
	spin_lock_init(&sb->inodes_lock, "sb->inodes_lock");
	INIT_LIST_HEAD(&sb->dirty);
	return sb;
}

/* The superblock that serves this mount already (that of the device, or of a type that has one for
 * all), or a new one; ERR_PTR or NULL: no memory. Counted in sb->active. */
struct super_block *super_get(struct filesystem *type, struct block_device *device,
				     unsigned flags, const char *options)
{
	struct super_block *sb;

	guard(mutex, &mount_mutex);
	list_for_each_entry(sb, &super_blocks, link) {
		if (sb->type != type || (device ? sb->bdev != device : !type->single))
			continue;
		if (device && ((sb->flags ^ flags) & SB_RDONLY))
			return ERR_PTR(-EBUSY);
		atomic_inc(&sb->active);
		return sb;
	}
	sb = super_alloc(type, device, flags);
	if (!sb)
		return NULL;
	int error = type->fill_super(sb, options, flags & MS_SILENT);
	if (error) {
		super_free(sb);
		return ERR_PTR(error);
	}
	list_add_tail(&sb->link, &super_blocks);
	return sb;
}

/* ---- all of them ----------------------------------------------------------------------------- */

int for_each_super(int (*visit)(struct super_block *sb))
{
	struct super_block *sb;
	int error = 0;

	guard(mutex, &mount_mutex);
	list_for_each_entry(sb, &super_blocks, link)
		error = visit(sb) ?: error;
	return error;
}

/* mount_mutex held: the file system becomes writable, or not. */
int remount_super(struct super_block *sb, unsigned read_only, const char *options)
{
	lockdep_assert_held(&mount_mutex);
	if ((sb->flags & SB_RDONLY) != read_only)
		TRY(sync_super(sb));
	if (sb->op->remount)
		TRY(sb->op->remount(sb, read_only));
	else if (*options)
		return -EINVAL;
	WRITE_ONCE(sb->flags, (sb->flags & ~SB_RDONLY) | read_only);
	return 0;
}
