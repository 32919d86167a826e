/*
 * super.c - mounting: the superblock and the group descriptors, checked; sync, umount, statfs. See
 * ext2.h.
 */
#include "fs/ext2/ext2.h"
#include "core/memory/slab.h"

int ext2_error(struct ext2_fs *fs, const char *what, u64 number)
{
	static u64 next_ns;
	u64 now = ktime_ns();

	if (!next_ns || now >= next_ns) {
		next_ns = now + NSEC_PER_SEC;
		pr_err("ext2 (%s): damaged: %s %llu\n", fs->sb->bdev->name, what,
		       (unsigned long long)number);
	}
	if (fs->sb->root && !(fs->sb->flags & SB_RDONLY)) {
		fs->layout.state |= EXT2_STATE_ERROR;
		fs->super->state |= EXT2_STATE_ERROR;
		mark_buffer_dirty(fs->super_buffer);
		if (fs->layout.errors == EXT2_ERRORS_READ_ONLY)
			fs->sb->flags |= SB_RDONLY;
	}
	return -EUCLEAN;
}

/* ---- inodes ---------------------------------------------------------------------------------- */

static int ext2_init_inode(struct inode *inode)
{
	init_rwsem(&EXT2_I(inode)->map_lock, "ext2_inode.map_lock");
	return 0;
}

/* ---- sync and umount ------------------------------------------------------------------------- */

/* What is free now, and when that was, into the superblock's buffer. */
static void update_super(struct ext2_fs *fs)
{
	fs->super->free_blocks_count = (u32)atomic_read(&fs->free[EXT2_BLOCKS]);
	fs->super->free_inodes_count = (u32)atomic_read(&fs->free[EXT2_INODES]);
	fs->super->write_time = (u32)current_time().tv_sec;
	mark_buffer_dirty(fs->super_buffer);
}

/* The superblock goes with the commit. What that frees the caller writes. */
static int ext2_sync_fs(struct super_block *sb)
{
	struct ext2_fs *fs = EXT2_FS(sb);

	if (sb->flags & SB_RDONLY)
		return 0;
	bool leaving = ext2_any_leaving(fs);
	update_super(fs);
	int error = ext2_commit(fs);
	if (leaving)
		update_super(fs);
	return error;
}

static void ext2_write_back(struct super_block *sb)
{
	if (!(sb->flags & SB_RDONLY))
		ext2_commit_freed(EXT2_FS(sb), 1);
}

/* The superblock goes to the disk last of all: that the file system is in use, or was left. */
static int write_super(struct ext2_fs *fs, u32 state)
{
	ext2_commit_freed(fs, 3);
	TRY(ext2_sync_fs(fs->sb));
	TRY(sync_buffers(fs->sb->bdev, WB_SYNC_ALL));
	TRY(block_flush(fs->sb->bdev));
	fs->super->state = (u16)state;
	mark_buffer_dirty(fs->super_buffer);
	TRY(sync_dirty_buffer(fs->super_buffer));
	return block_flush(fs->sb->bdev);
}

static int mark_mounted(struct ext2_fs *fs)
{
	if (!(fs->layout.state & EXT2_STATE_VALID) || (fs->layout.state & EXT2_STATE_ERROR))
		pr_warn("ext2 (%s): was not unmounted, or has errors: run e2fsck\n",
			fs->sb->bdev->name);
	if (fs->layout.revision) { /* what may come: who does not know it, leaves it alone */
		fs->super->feature_compat |= EXT2_COMPAT_EXT_ATTR;
		fs->super->feature_ro_compat |= EXT2_RO_LARGE_FILE;
	}
	fs->super->mount_count++;
	fs->super->mount_time = (u32)current_time().tv_sec;
	return write_super(fs, fs->super->state & ~EXT2_STATE_VALID);
}

/* In order, or as it was found. */
static int mark_unmounted(struct ext2_fs *fs)
{
	if (fs->sb->flags & SB_RDONLY)
		return 0;
	return write_super(fs, fs->layout.state);
}

/* Also when mounting has failed half-way. */
static void free_fs(struct ext2_fs *fs)
{
	for (u32 i = 0; fs->groups && i < fs->group_count; i++)
		brelse(fs->groups[i].descriptor_buffer);
	if (fs->groups)
		ext2_commit_end(fs);
	kfree(fs->groups);
	brelse(fs->super_buffer);
	invalidate_buffers(fs->sb->bdev);
}

static void ext2_put_super(struct super_block *sb)
{
	if (mark_unmounted(EXT2_FS(sb)))
		pr_err("ext2 (%s): not everything could be written\n", sb->bdev->name);
	free_fs(EXT2_FS(sb));
}

static bool can_be_written(const struct ext2_fs *fs)
{
	return !fs->sb->bdev->read_only && !(fs->layout.feature_ro_compat & ~EXT2_RO_SUPPORTED);
}

static int ext2_remount(struct super_block *sb, unsigned flags)
{
	if (!((flags ^ sb->flags) & SB_RDONLY))
		return 0;
	if (flags & SB_RDONLY)
		return atomic_read(&EXT2_FS(sb)->nameless) ? -EBUSY : mark_unmounted(EXT2_FS(sb));
	if (can_be_written(EXT2_FS(sb)))
		return mark_mounted(EXT2_FS(sb));
	return -EROFS;
}

static void ext2_statfs(struct super_block *sb, struct kstatfs *stat)
{
	struct ext2_fs *fs = EXT2_FS(sb);

	stat->blocks = fs->count[EXT2_BLOCKS] - fs->overhead;
	stat->bfree = (u64)(atomic_read(&fs->free[EXT2_BLOCKS]) +
			    atomic_read(&fs->leaving[EXT2_BLOCKS]));
	stat->bavail = stat->bfree - min(stat->bfree, (u64)fs->layout.reserved_blocks_count);
	stat->files = fs->count[EXT2_INODES];
	stat->ffree = (u64)(atomic_read(&fs->free[EXT2_INODES]) +
			    atomic_read(&fs->leaving[EXT2_INODES]));
}

static const struct super_operations ext2_super_operations = {
	.init_inode = ext2_init_inode,
	.read_inode = ext2_read_inode,
	.write_inode = ext2_write_inode,
	.before_evict = ext2_before_evict,
	.evict_inode = ext2_evict_inode,
	.statfs = ext2_statfs,
	.sync_fs = ext2_sync_fs,
	.write_back = ext2_write_back,
	.remount = ext2_remount,
	.put_super = ext2_put_super,
};

/* ---- mount ----------------------------------------------------------------------------------- */

static bool super_ok(const struct ext2_superblock *super, const struct block_device *device)
{
	u32 block_size = 1024u << min(super->log_block_size, 2u), bits = 8 * block_size;
	u64 blocks = (u64)super->blocks_count - super->first_data_block;

	return super->log_block_size <= 2 &&
	       super->first_data_block == (super->log_block_size == 0) &&
	       super->blocks_count > super->first_data_block + 1 &&
	       super->blocks_count <= device->sectors / (block_size / SECTOR_SIZE) &&
	       super->blocks_per_group >= 64 && super->blocks_per_group <= bits &&
	       is_power_of_2(super->inode_size) && super->inode_size >= EXT2_OLD_INODE_SIZE &&
	       super->inode_size <= block_size && super->inodes_per_group &&
	       super->inodes_per_group <= bits &&
	       DIV_ROUND_UP(blocks, super->blocks_per_group) * super->inodes_per_group ==
		       super->inodes_count &&
	       super->first_inode >= EXT2_FIRST_INODE_REV0 &&
	       super->first_inode <= super->inodes_count;
}

/* Has the group a copy of the superblock and the descriptors? */
static bool has_super(const struct ext2_fs *fs, u32 group)
{
	if (group <= 1 || !(fs->layout.feature_ro_compat & EXT2_RO_SPARSE_SUPER))
		return true;
	for (u64 base = 3; base <= 7; base += 2)
		for (u64 power = base; power <= group; power *= base)
			if (power == group)
				return true;
	return false;
}

static void set_geometry(struct ext2_fs *fs)
{
	/* What the pointers reach; with 4 KB blocks what i_blocks counts in 32 bits of 512 bytes,
	 * indirect blocks included. */
	static const u64 max_bytes[] = {17247252480, 275415851008, 2196873666560};
	const struct ext2_superblock *super = &fs->layout;

	fs->block_shift = 10 + super->log_block_size;
	fs->first[EXT2_BLOCKS] = super->first_data_block;
	fs->first[EXT2_INODES] = 1;
	fs->count[EXT2_BLOCKS] = super->blocks_count - super->first_data_block;
	fs->count[EXT2_INODES] = super->inodes_count;
	fs->per_group[EXT2_BLOCKS] = super->blocks_per_group;
	fs->per_group[EXT2_INODES] = super->inodes_per_group;
	fs->inode_table_blocks =
		DIV_ROUND_UP(super->inodes_per_group * super->inode_size, 1u << fs->block_shift);
	fs->group_count = DIV_ROUND_UP(fs->count[EXT2_BLOCKS], super->blocks_per_group);
	fs->sb->block_size = 1u << fs->block_shift;
	fs->sb->max_bytes = super->revision ? max_bytes[super->log_block_size] : 0x7fffffff;
}

/* A group's tables must lie in the group, behind the copies, and not on each other. */
static bool group_ok(const struct ext2_fs *fs, u32 number, const struct ext2_group *group)
{
	u32 per_group = fs->per_group[EXT2_BLOCKS];
	u32 start = fs->first[EXT2_BLOCKS] + number * per_group;
	u32 size = min(per_group, fs->count[EXT2_BLOCKS] - number * per_group);
	u32 table = group->inode_table - start, bits[2];

	for (int kind = EXT2_BLOCKS; kind <= EXT2_INODES; kind++) {
		bits[kind] = group->bitmap[kind] - start;
		if (bits[kind] < group->system_blocks || bits[kind] >= size ||
		    bits[kind] - table < fs->inode_table_blocks)
			return false;
	}
	return bits[0] != bits[1] && table >= group->system_blocks && table < size &&
	       size - table >= fs->inode_table_blocks;
}

static int read_groups(struct ext2_fs *fs)
{
	const u32 per_block = (1u << fs->block_shift) / sizeof(struct ext2_group_descriptor);
	const u32 descriptor_blocks = DIV_ROUND_UP(fs->group_count, per_block);

	fs->groups = TRY_PTR(kzalloc(fs->group_count * sizeof(*fs->groups), GFP_KERNEL));
	for (u32 i = 0; i < fs->group_count; i++) {
		mutex_init(&fs->groups[i].lock, "ext2_group.lock");
		INIT_LIST_HEAD(&fs->groups[i].freed[EXT2_BLOCKS]);
		INIT_LIST_HEAD(&fs->groups[i].freed[EXT2_INODES]);
	}
	for (u32 i = 0; i < fs->group_count; i++) {
		u32 copies = has_super(fs, i) ? 1 + descriptor_blocks : 0;
		struct ext2_group *group = &fs->groups[i];

		group->descriptor_buffer =
			TRY_PTR(bread(fs->sb->bdev, fs->first[EXT2_BLOCKS] + 1 + i / per_block));
		group->descriptor = (struct ext2_group_descriptor *)group->descriptor_buffer->data +
				    i % per_block;
		memcpy(group->bitmap, group->descriptor->bitmap, sizeof(group->bitmap));
		group->inode_table = group->descriptor->inode_table;
		group->system_blocks = copies ? copies + fs->layout.reserved_gdt_blocks : 0;
		if (!group_ok(fs, i, group))
			return ext2_error(fs, "descriptor of group", i);
		fs->overhead += copies + 2 + fs->inode_table_blocks;
		for (int kind = EXT2_BLOCKS; kind <= EXT2_INODES; kind++)
			atomic_add(group->descriptor->free_count[kind], &fs->free[kind]);
	}
	return 0;
}

/* Set the device's block size and take the superblock's buffer. */
static int hold_super(struct ext2_fs *fs, unsigned block_size)
{
	brelse(fs->super_buffer);
	fs->super_buffer = NULL;
	TRY(set_block_size(fs->sb->bdev, block_size));
	fs->super_buffer = TRY_PTR(bread(fs->sb->bdev, 1024 / block_size));
	fs->super = (void *)((char *)fs->super_buffer->data + 1024 % block_size);
	return 0;
}

static int read_super(struct ext2_fs *fs, bool silent)
{
	struct ext2_superblock *super = &fs->layout;
	struct super_block *sb = fs->sb;

	TRY(hold_super(fs, 1024));
	*super = *fs->super;
	if (!super->revision) { /* what that had by rule */
		memset(&super->first_inode, 0,
		       sizeof(*super) - offsetof(struct ext2_superblock, first_inode));
		super->first_inode = EXT2_FIRST_INODE_REV0;
		super->inode_size = EXT2_OLD_INODE_SIZE;
	}
	if (super->magic != EXT2_MAGIC || (super->feature_incompat & ~EXT2_INCOMPAT_FILETYPE)) {
		if (!silent)
			pr_err("ext2 (%s): no ext2 superblock, or unknown features\n",
			       sb->bdev->name);
		return -EINVAL;
	}
	if (!super_ok(super, sb->bdev))
		return ext2_error(fs, "superblock of blocks", super->blocks_count);
	set_geometry(fs);
	return hold_super(fs, sb->block_size);
}

static int fill(struct super_block *sb, bool silent)
{
	struct ext2_fs *fs = EXT2_FS(sb);

	TRY(read_super(fs, silent));
	TRY(read_groups(fs));
	if (!(sb->flags & SB_RDONLY) && !can_be_written(fs)) {
		pr_warn("ext2 (%s): read-only, or of unknown features 0x%x: mounted so\n",
			sb->bdev->name, fs->layout.feature_ro_compat);
		sb->flags |= SB_RDONLY;
	}
	if (!(sb->flags & SB_RDONLY))
		TRY(mark_mounted(fs));
	struct inode *root = iget(sb, EXT2_ROOT_INODE);

	sb->root = IS_ERR(root) ? NULL : may_complete(d_alloc_root(root), EXT2_DIR_REC_LEN(1));
	if (sb->root)
		return 0;
	mark_unmounted(fs);
	if (IS_ERR(root))
		return (int)PTR_ERR(root);
	return -ENOMEM;
}

static int ext2_fill_super(struct super_block *sb, const char *options, bool silent)
{
	struct ext2_fs *fs = sb->private = TRY_PTR(kzalloc(sizeof(*fs), GFP_KERNEL));

	fs->sb = sb;
	mutex_init(&fs->commit_lock, "ext2_fs.commit_lock");
	INIT_LIST_HEAD(&fs->committing);
	sb->op = &ext2_super_operations;
	int error = fill(sb, silent);

	if (error)
		free_fs(fs);
	return error;
}

struct filesystem ext2_filesystem = {
	.name = "ext2", .magic = EXT2_SUPER_MAGIC, .inode_before = offsetof(struct ext2_inode, inode), .needs_device = true,
	.fill_super = ext2_fill_super};
