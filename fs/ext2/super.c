/*
 * super.c - mounting: the superblock and the group descriptors, checked; sync, umount, statfs. See
 * ext2.h.
 */
#include "fs/ext2/ext2.h"

static struct kmem_cache *ext2_inode_slab;

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
		fs->state |= EXT2_STATE_ERROR;
		fs->super->state |= EXT2_STATE_ERROR;
		mark_buffer_dirty(fs->super_buffer);
		if (fs->super->errors == EXT2_ERRORS_READ_ONLY)
			fs->sb->flags |= SB_RDONLY;
	}
	return -EUCLEAN;
}

void ext2_set_feature(struct ext2_fs *fs, u32 *word, u32 feature)
{
	if (*word & feature)
		return;
	__atomic_or_fetch(word, feature, __ATOMIC_SEQ_CST);
	mark_buffer_dirty(fs->super_buffer);
}

/* ---- inodes ---------------------------------------------------------------------------------- */

static struct inode *ext2_alloc_inode(struct super_block *sb)
{
	struct ext2_inode *ei = kmem_cache_alloc(ext2_inode_slab, GFP_KERNEL);

	if (!ei)
		return NULL;
	memset(ei, 0, offsetof(struct ext2_inode, inode));
	init_rwsem(&ei->map_lock, "ext2_inode.map_lock");
	return &ei->inode;
}

static void ext2_free_inode(struct inode *inode)
{
	if (S_ISLNK(inode->mode) && inode->link != (const char *)EXT2_I(inode)->data)
		kfree(inode->link);
	kmem_cache_free(ext2_inode_slab, EXT2_I(inode));
}

/* ---- sync and umount ------------------------------------------------------------------------- */

static int ext2_sync_fs(struct super_block *sb, bool wait)
{
	struct ext2_fs *fs = EXT2_FS(sb);

	if (sb->flags & SB_RDONLY)
		return 0;
	fs->super->free_blocks_count = (u32)atomic_read(&fs->free[EXT2_BLOCKS]);
	fs->super->free_inodes_count = (u32)atomic_read(&fs->free[EXT2_INODES]);
	fs->super->write_time = (u32)current_time().tv_sec;
	mark_buffer_dirty(fs->super_buffer);
	TRY(sync_buffers(sb->bdev, wait));
	return wait ? block_flush(sb->bdev) : 0;
}

static int write_super(struct ext2_fs *fs)
{
	mark_buffer_dirty(fs->super_buffer);
	return sync_dirty_buffer(fs->super_buffer);
}

/* Say on the disk that the file system is in use. */
static int mark_mounted(struct ext2_fs *fs)
{
	fs->super->state &= (u16)~EXT2_STATE_VALID;
	fs->super->mount_count++;
	fs->super->mount_time = (u32)current_time().tv_sec;
	return write_super(fs);
}

/* ... and that it was left in order, or as it was found. */
static int mark_clean(struct super_block *sb)
{
	struct ext2_fs *fs = EXT2_FS(sb);

	TRY(ext2_sync_fs(sb, true));
	fs->super->state = fs->state;
	TRY(write_super(fs));
	return block_flush(sb->bdev);
}

/* Also when mounting has failed half-way. */
static void free_fs(struct ext2_fs *fs)
{
	struct super_block *sb = fs->sb;

	for (u32 i = 0; fs->groups && i < fs->group_count; i++)
		brelse(fs->groups[i].descriptor_buffer);
	kfree(fs->groups);
	brelse(fs->super_buffer);
	kfree(fs);
	sb->private = NULL;
	sync_buffers(sb->bdev, true);
	invalidate_buffers(sb->bdev);
}

static void ext2_put_super(struct super_block *sb)
{
	if (!(sb->flags & SB_RDONLY) && mark_clean(sb))
		pr_err("ext2 (%s): not everything could be written\n", sb->bdev->name);
	free_fs(EXT2_FS(sb));
}

static u32 unknown_ro_features(const struct ext2_fs *fs)
{
	return fs->super->revision ? fs->super->feature_ro_compat & ~EXT2_RO_SUPPORTED : 0;
}

static int ext2_remount(struct super_block *sb, unsigned flags, const char *options)
{
	bool read_only = flags & SB_RDONLY;

	if (read_only == !!(sb->flags & SB_RDONLY))
		return 0;
	if (read_only)
		return mark_clean(sb);
	if (sb->bdev->read_only || unknown_ro_features(EXT2_FS(sb)))
		return -EROFS;
	return mark_mounted(EXT2_FS(sb));
}

static int ext2_statfs(struct super_block *sb, struct kstatfs *stat)
{
	struct ext2_fs *fs = EXT2_FS(sb);

	stat->type = EXT2_SUPER_MAGIC;
	stat->blocks = fs->first[EXT2_BLOCKS] + fs->count[EXT2_BLOCKS] - fs->overhead;
	stat->bfree = (u64)atomic_read(&fs->free[EXT2_BLOCKS]);
	stat->bavail = stat->bfree - min(stat->bfree, (u64)fs->reserved_blocks);
	stat->files = fs->count[EXT2_INODES];
	stat->ffree = (u64)atomic_read(&fs->free[EXT2_INODES]);
	return 0;
}

static const struct super_operations ext2_super_operations = {
	.alloc_inode = ext2_alloc_inode,
	.free_inode = ext2_free_inode,
	.write_inode = ext2_write_inode,
	.evict_inode = ext2_evict_inode,
	.statfs = ext2_statfs,
	.sync_fs = ext2_sync_fs,
	.remount = ext2_remount,
	.put_super = ext2_put_super,
};

/* ---- mount ----------------------------------------------------------------------------------- */

static bool super_ok(const struct ext2_superblock *super, const struct block_device *device)
{
	u32 block_size = 1024u << min(super->log_block_size, 2u), bits = 8 * block_size;
	u32 inode_size = super->revision ? super->inode_size : EXT2_OLD_INODE_SIZE;
	u32 first_inode = super->revision ? super->first_inode : EXT2_FIRST_INODE_REV0;
	u64 blocks = (u64)super->blocks_count - super->first_data_block;

	return super->log_block_size <= 2 &&
	       super->first_data_block == (super->log_block_size == 0) &&
	       super->blocks_count > super->first_data_block + 1 &&
	       super->blocks_count <= device->sectors / (block_size / SECTOR_SIZE) &&
	       super->blocks_per_group >= 64 && super->blocks_per_group <= bits &&
	       is_power_of_2(inode_size) && inode_size >= EXT2_OLD_INODE_SIZE &&
	       inode_size <= block_size && super->inodes_per_group &&
	       super->inodes_per_group <= bits &&
	       DIV_ROUND_UP(blocks, super->blocks_per_group) * super->inodes_per_group ==
		       super->inodes_count &&
	       first_inode >= EXT2_FIRST_INODE_REV0 && first_inode <= super->inodes_count;
}

/* Has the group a copy of the superblock and the descriptors? */
static bool has_super(const struct ext2_fs *fs, u32 group)
{
	if (group <= 1 || !fs->super->revision ||
	    !(fs->super->feature_ro_compat & EXT2_RO_SPARSE_SUPER))
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
	bool revised = super->revision != 0;
	u32 block_size = 1024u << super->log_block_size;

	fs->block_shift = 10 + super->log_block_size;
	fs->first[EXT2_BLOCKS] = super->first_data_block;
	fs->first[EXT2_INODES] = 1;
	fs->count[EXT2_BLOCKS] = super->blocks_count - super->first_data_block;
	fs->count[EXT2_INODES] = super->inodes_count;
	fs->per_group[EXT2_BLOCKS] = super->blocks_per_group;
	fs->per_group[EXT2_INODES] = super->inodes_per_group;
	fs->inode_size = revised ? super->inode_size : EXT2_OLD_INODE_SIZE;
	fs->first_inode = revised ? super->first_inode : EXT2_FIRST_INODE_REV0;
	fs->has_file_types = revised && (super->feature_incompat & EXT2_INCOMPAT_FILETYPE);
	fs->inode_table_blocks =
		(u32)DIV_ROUND_UP((u64)super->inodes_per_group * fs->inode_size, block_size);
	fs->group_count = DIV_ROUND_UP(fs->count[EXT2_BLOCKS], super->blocks_per_group);
	fs->descriptor_blocks = (u32)DIV_ROUND_UP(
		(u64)fs->group_count * sizeof(struct ext2_group_descriptor), block_size);
	fs->reserved_blocks = min(super->reserved_blocks_count, super->blocks_count);
	fs->state = super->state;
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
	u32 reserved = fs->super->revision ? fs->super->reserved_gdt_blocks : 0;

	fs->groups = TRY_PTR(kzalloc(fs->group_count * sizeof(*fs->groups), GFP_KERNEL));
	fs->overhead = fs->first[EXT2_BLOCKS];
	for (u32 i = 0; i < fs->group_count; i++) {
		u32 copies = has_super(fs, i) ? 1 + fs->descriptor_blocks : 0;
		struct ext2_group *group = &fs->groups[i];

		mutex_init(&group->lock, "ext2_group.lock");
		group->descriptor_buffer =
			TRY_PTR(bread(fs->sb->bdev, fs->first[EXT2_BLOCKS] + 1 + i / per_block));
		group->descriptor = (struct ext2_group_descriptor *)group->descriptor_buffer->data +
				    i % per_block;
		memcpy(group->bitmap, group->descriptor->bitmap, sizeof(group->bitmap));
		group->inode_table = group->descriptor->inode_table;
		group->system_blocks = copies ? copies + reserved : 0;
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
	struct super_block *sb = fs->sb;
	const char *wrong = NULL;

	TRY(hold_super(fs, 1024));
	if (fs->super->magic != EXT2_MAGIC)
		wrong = silent ? "" : "no ext2 superblock";
	else if (fs->super->revision && (fs->super->feature_incompat & ~EXT2_INCOMPAT_SUPPORTED))
		wrong = "unknown features";
	else if (!super_ok(fs->super, sb->bdev))
		wrong = "damaged superblock";
	if (wrong) {
		if (*wrong)
			pr_err("ext2 (%s): %s\n", sb->bdev->name, wrong);
		return *wrong == 'd' ? -EUCLEAN : -EINVAL;
	}
	read_geometry(fs);
	sb->block_size = 1u << fs->block_shift;
	sb->max_bytes = fs->super->revision ? ext2_max_bytes(fs->block_shift) : 0x7fffffff;
	return hold_super(fs, sb->block_size);
}

/* Read-only if it has to be; else leave the mark that it is mounted. */
static int decide_writable(struct ext2_fs *fs)
{
	struct super_block *sb = fs->sb;

	if (sb->bdev->read_only)
		sb->flags |= SB_RDONLY;
	if (unknown_ro_features(fs) && !(sb->flags & SB_RDONLY)) {
		pr_warn("ext2 (%s): unknown features 0x%x, mounted read-only\n", sb->bdev->name,
			unknown_ro_features(fs));
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
	struct inode *root = TRY_PTR(ext2_iget(sb, EXT2_ROOT_INODE));

	if (S_ISDIR(root->mode)) {
		sb->root = d_alloc_root(root);
		return sb->root ? 0 : -ENOMEM;
	}
	remove_inode_hash(root); /* so that it goes away at once */
	iput(root);
	return ext2_error(EXT2_FS(sb), "no directory is inode", 2);
}

static int fill(struct super_block *sb, bool silent)
{
	TRY(read_super(EXT2_FS(sb), silent));
	TRY(read_groups(EXT2_FS(sb)));
	TRY(decide_writable(EXT2_FS(sb)));
	int error = mount_root(sb);

	if (error && !(sb->flags & SB_RDONLY))
		mark_clean(sb); /* not mounted after all */
	return error;
}

static int ext2_fill_super(struct super_block *sb, const char *options, bool silent)
{
	struct ext2_fs *fs = TRY_PTR(kzalloc(sizeof(*fs), GFP_KERNEL));

	fs->sb = sb;
	sb->private = fs;
	sb->op = &ext2_super_operations;
	int error = fill(sb, silent);

	if (error)
		free_fs(fs);
	return error;
}

struct filesystem ext2_filesystem = {
	.name = "ext2", .needs_device = true, .fill_super = ext2_fill_super};

void ext2_init(void)
{
	ext2_inode_slab =
		kmem_cache_create("ext2_inode", sizeof(struct ext2_inode), 0, SLAB_RECLAIMABLE);
}
