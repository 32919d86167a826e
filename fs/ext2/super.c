/*
 * super.c - mounting: the superblock and the group descriptors, checked; sync, umount, statfs. See
 * ext2.h.
 */
#include "fs/ext2/ext2.h"
#include "kernel/core/printk.h"
#include "kernel/core/string.h"
#include "mm/slab.h"

static struct kmem_cache *ext2_inode_slab;

int ext2_error(struct ext2_fs *fs, const char *format, ...)
{
	static u64 next_ns;
	u64 now = ktime_ns();
	char text[160];
	va_list arguments;

	if (!next_ns || now >= next_ns) {
		next_ns = now + NSEC_PER_SEC;
		va_start(arguments, format);
		vsnprintf(text, sizeof(text), format, arguments);
		va_end(arguments);
		pr_err("ext2 (%s): damaged: %s\n", fs->sb->bdev->name, text);
	}
	if (fs->super && !(fs->sb->flags & SB_RDONLY)) {
		fs->state |= EXT2_STATE_ERROR;
		fs->super->state |= EXT2_STATE_ERROR;
		mark_buffer_dirty(fs->super_buffer);
		if (fs->super->errors == EXT2_ERRORS_READ_ONLY)
			fs->sb->flags |= SB_RDONLY;
	}
	return -EUCLEAN;
}

/* ---- inodes ---------------------------------------------------------------------------------- */

static struct inode *ext2_alloc_inode(struct super_block *sb)
{
	struct ext2_inode *ei = kmem_cache_alloc(ext2_inode_slab, GFP_KERNEL);

	(void)sb;
	if (!ei)
		return NULL;
	memset(ei, 0, offsetof(struct ext2_inode, inode));
	init_rwsem(&ei->map_lock, "ext2_inode.map_lock");
	return &ei->inode;
}

static void ext2_free_inode_memory(struct inode *inode)
{
	kmem_cache_free(ext2_inode_slab, EXT2_I(inode));
}

/* ---- sync and umount ------------------------------------------------------------------------- */

/* Bring the totals in the superblock up to date. */
static void update_super(struct ext2_fs *fs)
{
	mutex_lock(&fs->lock);
	fs->super->free_blocks_count = (u32)fs->free_blocks;
	fs->super->free_inodes_count = (u32)fs->free_inodes;
	fs->super->write_time = (u32)current_time().tv_sec;
	mark_buffer_dirty(fs->super_buffer);
	mutex_unlock(&fs->lock);
}

static int ext2_sync_fs(struct super_block *sb, bool wait)
{
	int error = 0;

	if (sb->flags & SB_RDONLY)
		return 0;
	update_super(EXT2_FS(sb));
	error = sync_buffers(sb->bdev, wait);
	return error || !wait ? error : block_flush(sb->bdev);
}

/* Say on the disk that the file system is in use. */
static int mark_mounted(struct ext2_fs *fs)
{
	fs->super->state &= (u16)~EXT2_STATE_VALID;
	fs->super->mount_count++;
	fs->super->mount_time = (u32)current_time().tv_sec;
	mark_buffer_dirty(fs->super_buffer);
	return sync_dirty_buffer(fs->super_buffer);
}

/* ... and that it was left in order, or as it was found. */
static int mark_clean(struct super_block *sb)
{
	struct ext2_fs *fs = EXT2_FS(sb);
	int error = ext2_sync_fs(sb, true);

	if (error)
		return error;
	fs->super->state = fs->state;
	mark_buffer_dirty(fs->super_buffer);
	error = sync_dirty_buffer(fs->super_buffer);
	return error ? error : block_flush(sb->bdev);
}

static void free_fs(struct ext2_fs *fs)
{
	for (u32 i = 0; fs->descriptor_buffers && i < fs->descriptor_blocks; i++)
		brelse(fs->descriptor_buffers[i]);
	kfree(fs->descriptor_buffers);
	kfree(fs->groups);
	brelse(fs->super_buffer);
	kfree(fs);
}

static void ext2_put_super(struct super_block *sb)
{
	if (!(sb->flags & SB_RDONLY) && mark_clean(sb))
		pr_err("ext2 (%s): not everything could be written\n", sb->bdev->name);
	free_fs(EXT2_FS(sb));
	sb->private = NULL;
	sync_buffers(sb->bdev, true);
	invalidate_buffers(sb->bdev);
}

static int ext2_remount(struct super_block *sb, unsigned flags, const char *options)
{
	struct ext2_fs *fs = EXT2_FS(sb);
	bool read_only = flags & SB_RDONLY;

	(void)options;
	if (read_only == !!(sb->flags & SB_RDONLY))
		return 0;
	if (read_only)
		return mark_clean(sb);
	if (sb->bdev->read_only || (fs->super->feature_ro_compat & ~EXT2_RO_SUPPORTED))
		return -EROFS;
	return mark_mounted(fs);
}

static int ext2_statfs(struct super_block *sb, struct kstatfs *stat)
{
	struct ext2_fs *fs = EXT2_FS(sb);
	u64 overhead = fs->first_data_block;

	for (u32 i = 0; i < fs->group_count; i++)
		overhead += fs->groups[i].system_blocks + 2 + fs->inode_table_blocks;
	stat->type = EXT2_SUPER_MAGIC;
	stat->blocks = fs->blocks_count - min(overhead, (u64)fs->blocks_count);
	stat->bfree = fs->free_blocks;
	stat->bavail = stat->bfree - min(stat->bfree, (u64)fs->reserved_blocks);
	stat->files = fs->inodes_count;
	stat->ffree = fs->free_inodes;
	return 0;
}

static const struct super_operations ext2_super_operations = {
	.alloc_inode = ext2_alloc_inode,
	.free_inode = ext2_free_inode_memory,
	.write_inode = ext2_write_inode,
	.evict_inode = ext2_evict_inode,
	.statfs = ext2_statfs,
	.sync_fs = ext2_sync_fs,
	.remount = ext2_remount,
	.put_super = ext2_put_super,
};

/* ---- mount ----------------------------------------------------------------------------------- */

/* What is wrong with the superblock? NULL: nothing. */
static const char *check_super(const struct ext2_superblock *super,
			       const struct block_device *device)
{
	u32 block_size, inode_size = super->revision ? super->inode_size : EXT2_OLD_INODE_SIZE;
	u64 groups;

	if (super->log_block_size > 2)
		return "block size";
	block_size = 1024u << super->log_block_size;
	if (super->first_data_block != (super->log_block_size == 0))
		return "first data block";
	if (super->blocks_count <= super->first_data_block + 1 ||
	    super->blocks_count > device->sectors / (block_size / SECTOR_SIZE))
		return "size: larger than the device";
	if (super->blocks_per_group < 64 || super->blocks_per_group > 8 * block_size)
		return "blocks per group";
	if (!is_power_of_2(inode_size) || inode_size < EXT2_OLD_INODE_SIZE ||
	    inode_size > block_size)
		return "inode size";
	groups = DIV_ROUND_UP((u64)super->blocks_count - super->first_data_block,
			      super->blocks_per_group);
	if (!super->inodes_per_group || super->inodes_per_group > 8 * block_size ||
	    groups * super->inodes_per_group != super->inodes_count)
		return "number of inodes";
	if (super->revision && (super->first_inode < EXT2_FIRST_INODE_REV0 ||
				super->first_inode > super->inodes_count))
		return "first inode";
	return super->inodes_count < EXT2_FIRST_INODE_REV0 ? "number of inodes" : NULL;
}

/* Has the group a copy of the superblock and the descriptors? */
static bool has_super(const struct ext2_fs *fs, u32 group)
{
	if (group <= 1 ||
	    !(fs->super->revision && (fs->super->feature_ro_compat & EXT2_RO_SPARSE_SUPER)))
		return true;
	for (u64 base = 3; base <= 7; base += 2)
		for (u64 power = base; power <= group; power *= base)
			if (power == group)
				return true;
	return false;
}

static void read_geometry(struct ext2_fs *fs)
{
	const struct ext2_superblock *super = fs->super;
	u32 block_size = 1024u << super->log_block_size;

	fs->block_shift = 10 + super->log_block_size;
	fs->blocks_count = super->blocks_count;
	fs->inodes_count = super->inodes_count;
	fs->first_data_block = super->first_data_block;
	fs->blocks_per_group = super->blocks_per_group;
	fs->inodes_per_group = super->inodes_per_group;
	fs->inode_size = super->revision ? super->inode_size : EXT2_OLD_INODE_SIZE;
	fs->first_inode = super->revision ? super->first_inode : EXT2_FIRST_INODE_REV0;
	fs->inode_table_blocks =
		(u32)DIV_ROUND_UP((u64)fs->inodes_per_group * fs->inode_size, block_size);
	fs->group_count =
		DIV_ROUND_UP(fs->blocks_count - fs->first_data_block, fs->blocks_per_group);
	fs->descriptors_per_block = block_size / (u32)sizeof(struct ext2_group_descriptor);
	fs->descriptor_blocks = DIV_ROUND_UP(fs->group_count, fs->descriptors_per_block);
	fs->reserved_blocks = min(super->reserved_blocks_count, fs->blocks_count);
	fs->state = super->state;
}

/* A group's tables must lie in the group, behind the copies, and not on each other. */
static bool group_ok(const struct ext2_fs *fs, u32 number, const struct ext2_group *group)
{
	u32 start = ext2_group_start(fs, number), blocks = ext2_group_blocks(fs, number);
	u32 table = group->inode_table - start;
	u32 bits = group->block_bitmap - start, inodes = group->inode_bitmap - start;

	return group->system_blocks < blocks && bits < blocks && inodes < blocks &&
	       table < blocks && blocks - table >= fs->inode_table_blocks &&
	       bits >= group->system_blocks && inodes >= group->system_blocks &&
	       table >= group->system_blocks && bits != inodes &&
	       bits - table >= fs->inode_table_blocks && inodes - table >= fs->inode_table_blocks;
}

static int read_groups(struct ext2_fs *fs)
{
	u32 reserved = fs->super->revision ? fs->super->reserved_gdt_blocks : 0;
	struct buffer *unused;

	for (u32 i = 0; i < fs->descriptor_blocks; i++) {
		struct buffer *buffer = bread(fs->sb->bdev, (1024u >> fs->block_shift ? 2 : 1) + i);

		if (IS_ERR(buffer))
			return (int)PTR_ERR(buffer);
		fs->descriptor_buffers[i] = buffer;
	}
	for (u32 i = 0; i < fs->group_count; i++) {
		const struct ext2_group_descriptor *descriptor = ext2_descriptor(fs, i, &unused);
		struct ext2_group *group = &fs->groups[i];

		group->block_bitmap = descriptor->block_bitmap;
		group->inode_bitmap = descriptor->inode_bitmap;
		group->inode_table = descriptor->inode_table;
		group->system_blocks = has_super(fs, i) ? 1 + fs->descriptor_blocks + reserved : 0;
		if (!group_ok(fs, i, group)) {
			pr_err("ext2 (%s): damaged: descriptor of group %u\n", fs->sb->bdev->name,
			       i);
			return -EUCLEAN;
		}
		fs->free_blocks += descriptor->free_blocks_count;
		fs->free_inodes += descriptor->free_inodes_count;
	}
	return 0;
}

/* Set the block size and read the superblock's block. */
static int read_super(struct ext2_fs *fs, bool silent)
{
	struct super_block *sb = fs->sb;
	struct ext2_superblock *super = kmalloc(sizeof(*super), GFP_KERNEL);
	const char *wrong = NULL;
	u32 block_size = 1024;
	int error;

	if (!super)
		return -ENOMEM;
	/* Dirty buffers of the device, if there are any, must be seen. */
	error = sync_buffers(sb->bdev, true);
	if (!error)
		error = block_io(sb->bdev, BLOCK_READ, 1024 / SECTOR_SIZE, super, sizeof(*super));
	if (error == -EINVAL || (!error && super->magic != EXT2_MAGIC)) {
		if (!silent)
			pr_err("ext2 (%s): no ext2 superblock\n", sb->bdev->name);
		error = -EINVAL;
	}
	if (!error)
		wrong = check_super(super, sb->bdev);
	if (wrong) {
		pr_err("ext2 (%s): damaged superblock: %s\n", sb->bdev->name, wrong);
		error = -EUCLEAN;
	}
	if (!error && super->revision && (super->feature_incompat & ~EXT2_INCOMPAT_SUPPORTED)) {
		pr_err("ext2 (%s): unknown features 0x%x\n", sb->bdev->name,
		       super->feature_incompat & ~EXT2_INCOMPAT_SUPPORTED);
		error = -EINVAL;
	}
	if (!error)
		block_size = 1024u << super->log_block_size;
	kfree(super);
	if (!error)
		error = set_block_size(sb->bdev, block_size);
	if (error)
		return error;
	sb->block_size = block_size;
	fs->super_buffer = bread(sb->bdev, 1024 / block_size);
	if (IS_ERR(fs->super_buffer)) {
		error = (int)PTR_ERR(fs->super_buffer);
		fs->super_buffer = NULL;
		return error;
	}
	fs->super = (void *)((char *)fs->super_buffer->data + 1024 % block_size);
	read_geometry(fs);
	return 0;
}

/* Read-only if it has to be; else leave the mark that it is mounted. */
static int decide_writable(struct ext2_fs *fs)
{
	struct super_block *sb = fs->sb;
	u32 unknown = fs->super->revision ? fs->super->feature_ro_compat & ~EXT2_RO_SUPPORTED : 0;

	if (sb->bdev->read_only)
		sb->flags |= SB_RDONLY;
	if (unknown && !(sb->flags & SB_RDONLY)) {
		pr_warn("ext2 (%s): unknown features 0x%x, mounted read-only\n", sb->bdev->name,
			unknown);
		sb->flags |= SB_RDONLY;
	}
	if (sb->flags & SB_RDONLY)
		return 0;
	if (!(fs->state & EXT2_STATE_VALID) || (fs->state & EXT2_STATE_ERROR))
		pr_warn("ext2 (%s): was not unmounted, or has errors: run e2fsck\n",
			sb->bdev->name);
	return mark_mounted(fs);
}

static int mount_root(struct super_block *sb)
{
	struct inode *root = ext2_iget(sb, EXT2_ROOT_INODE);
	int error;

	if (IS_ERR(root))
		return (int)PTR_ERR(root);
	if (S_ISDIR(root->mode))
		sb->root = d_alloc_root(root);
	if (sb->root)
		return 0;
	error = S_ISDIR(root->mode) ? -ENOMEM : ext2_error(EXT2_FS(sb), "the root is no directory");
	remove_inode_hash(root); /* so that it goes away at once */
	iput(root);
	return error;
}

static int ext2_fill_super(struct super_block *sb, const char *options, bool silent)
{
	struct ext2_fs *fs = kzalloc(sizeof(*fs), GFP_KERNEL);
	int error;

	(void)options;
	if (!fs)
		return -ENOMEM;
	fs->sb = sb;
	mutex_init(&fs->lock, "ext2_fs.lock");
	error = read_super(fs, silent);
	if (!error) {
		fs->groups = kzalloc(fs->group_count * sizeof(*fs->groups), GFP_KERNEL);
		fs->descriptor_buffers =
			kzalloc(fs->descriptor_blocks * sizeof(struct buffer *), GFP_KERNEL);
		error = fs->groups && fs->descriptor_buffers ? read_groups(fs) : -ENOMEM;
	}
	if (!error) {
		sb->private = fs;
		sb->op = &ext2_super_operations;
		sb->max_bytes = fs->super->revision ? ext2_max_bytes(fs->block_shift) : 0x7fffffff;
		error = decide_writable(fs);
	}
	if (!error)
		error = mount_root(sb);
	if (error) {
		if (fs->super && fs->super->state != fs->state) {
			fs->super->state = fs->state; /* not mounted after all */
			mark_buffer_dirty(fs->super_buffer);
		}
		free_fs(fs);
		sb->private = NULL;
		sync_buffers(sb->bdev, true);
		invalidate_buffers(sb->bdev);
	}
	return error;
}

struct filesystem ext2_filesystem = {
	.name = "ext2", .needs_device = true, .fill_super = ext2_fill_super};

void ext2_init(void)
{
	ext2_inode_slab = kmem_cache_create("ext2_inode", sizeof(struct ext2_inode), 0,
					    SLAB_RECLAIMABLE, NULL);
	register_filesystem(&ext2_filesystem);
}
