/*
 * ext2.h - the second extended file system: what is on the disk, and what its files share.
 *
 * On the disk (little-endian, as every machine this kernel runs on): groups of blocks, each with a
 * bitmap of its blocks, a bitmap of its inodes, a piece of the inode table, and data; the
 * superblock at byte 1024 and the group descriptors behind it, with copies in some groups. Sources:
 * Card, Ts'o, Tweedie 1994, and the e2fsprogs documentation of the layout.
 *
 * Everything that comes from the disk is checked where it is used: a block number must lie in the
 * file system and outside its tables (ext2_block_ok), an inode number must be one that files may
 * have, a directory entry must stay in its block, and so on. What is wrong becomes -EUCLEAN (or
 * -EIO where reading failed) and one line in the log (ext2_error), and the superblock is marked to
 * be checked.
 *
 * Lock order: inode->lock -> page lock -> ext2_inode.map_lock -> ext2_fs.commit_lock
 * -> ext2_group.lock or ranks_lock -> buffers.
 *	map_lock	block pointers of the inode and its indirect blocks, inode->blocks, goals
 *	commit_lock	one commit at a time (commit.c); readers and writers take no notice
 *	ext2_group.lock	the group's bitmaps, descriptor and freed lists, and how many inodes share a
 *			block of attributes; never two groups at once
 *	inode->lock	directory contents and hints, extended attributes (writers exclusively)
 *	ranks_lock	one for all disks (fs/block/dirty.h): who changes what leads to other blocks
 *			waits while a round of all ranks is written
 * Else nothing is locked for the file system as a whole: totals are atomic.
 *
 * Limits: 1, 2 and 4 KB blocks; no extents, no htree search (an index is dropped when its directory
 * changes), no attributes in the inode itself (as ext4 has them), no quota.
 */
#pragma once

#include "fs/block/dirty.h"
#include "fs/devfs/special.h"
#include "fs/file/file.h"
#include "fs/path/mount.h"

#define EXT2_MAGIC 0xef53
#define EXT2_ROOT_INODE 2
#define EXT2_FIRST_INODE_REV0 11
#define EXT2_DIRECT 12 /* i_block[12..14]: single, double, triple indirect */
#define EXT2_POINTERS 15
#define EXT2_LINK_MAX 32000

#define EXT2_STATE_VALID 1u
#define EXT2_STATE_ERROR 2u
#define EXT2_ERRORS_READ_ONLY 2

#define EXT2_COMPAT_EXT_ATTR 0x8u
#define EXT2_INCOMPAT_FILETYPE 0x2u
#define EXT2_RO_SPARSE_SUPER 0x1u
#define EXT2_RO_LARGE_FILE 0x2u
#define EXT2_RO_SUPPORTED (EXT2_RO_SPARSE_SUPER | EXT2_RO_LARGE_FILE)

/* inode flags: inode->attributes, and a hashed directory */
#define EXT2_FL_ATTRIBUTES ((u32)(FS_KEPT_FL | FS_INHERITED_FL))
#define EXT2_FL_INDEX 0x1000u

struct ext2_superblock {
	u32 inodes_count, blocks_count, reserved_blocks_count, free_blocks_count;
	u32 free_inodes_count, first_data_block, log_block_size, log_fragment_size;
	u32 blocks_per_group, fragments_per_group, inodes_per_group, mount_time;
	u32 write_time;
	u16 mount_count;
	s16 max_mount_count;
	u16 magic, state, errors, minor_revision;
	u32 last_check, check_interval, creator_os, revision;
	u16 default_reserved_uid, default_reserved_gid;
	/* revision 1; in ext2_fs.layout what revision 0 has by rule */
	u32 first_inode;
	u16 inode_size, this_group;
	u32 feature_compat, feature_incompat, feature_ro_compat;
	u8 uuid[16];
	char volume_name[16], last_mounted[64];
	u32 algorithm_bitmap;
	u8 prealloc_blocks, prealloc_directory_blocks;
	u16 reserved_gdt_blocks;
	u8 unused[1024 - 208];
};
_Static_assert(sizeof(struct ext2_superblock) == 1024, "on the disk");

enum ext2_kind { EXT2_BLOCKS, EXT2_INODES }; /* what a bitmap is about */

struct ext2_group_descriptor {
	u32 bitmap[2], inode_table; /* block numbers */
	u16 free_count[2], used_directories_count, flags;
	u32 reserved[3];
};
_Static_assert(sizeof(struct ext2_group_descriptor) == 32, "on the disk");

struct ext2_raw_inode {
	u16 mode, uid;
	u32 size, atime, ctime, mtime, dtime;
	u16 gid, links_count;
	u32 blocks; /* 512 bytes each, indirect blocks included */
	u32 flags, version;
	u32 block[EXT2_POINTERS];
	u32 generation, attribute_block, size_high, fragment_block;
	u16 fragment, padding, uid_high, gid_high;
	u32 reserved;
	/* in inodes of more than 128 bytes, as far as extra_size reaches */
	u16 extra_size, checksum_high;
	/* nanoseconds << 2 | bits 32 and 33 of the seconds */
	u32 ctime_extra, mtime_extra, atime_extra;
};
#define EXT2_OLD_INODE_SIZE 128
#define EXT2_EXTRA_SIZE 32  /* what new inodes get, if they have more than that */
#define EXT2_EXTRA_TIMES 16 /* extra_size that holds the three times */

struct ext2_dir_entry {
	u32 inode; /* 0: unused */
	u16 rec_len;
	u8 name_len;
	u8 file_type; /* EXT2_INCOMPAT_FILETYPE; else 0, or the high byte of a name length of old */
	char name[];
};
#define EXT2_DIR_HEADER 8u
#define EXT2_DIR_REC_LEN(name_len) ((EXT2_DIR_HEADER + (name_len) + 3u) & ~3u)

/* A block of extended attributes begins with it. */
struct ext2_xattr_header {
	u32 magic, refcount, blocks, hash, reserved[4];
};
#define EXT2_XATTR_MAGIC 0xea020000u

/* A group's tables, checked at mount time. */
struct ext2_group {
	u32 bitmap[2], inode_table;
	u32 system_blocks; /* blocks of superblock and descriptor copies at its start */
	struct mutex lock;
	struct ext2_group_descriptor *descriptor; /* in its buffer; under lock */
	struct buffer *descriptor_buffer;
	struct list_head freed[2]; /* waits for the next commit; under lock */
};

struct ext2_fs {
	struct super_block *sb;
	struct buffer *super_buffer;
	struct ext2_superblock *super; /* in super_buffer, to be written to */
	/* As it was when mounted, checked. Its state goes back to the disk at umount. */
	struct ext2_superblock layout;
	struct ext2_group *groups;

	/* Geometry: constant while mounted. There are count[] blocks and inodes, from first[] on.
	 */
	u32 group_count, count[2], first[2], per_group[2];
	u32 inode_table_blocks;
	u32 overhead; /* blocks that files can never have, as Linux counts them */
	unsigned block_shift;

	/* free[]: to be had now; leaving[]: once a commit is done (commit.c) */
	atomic64_t free[2], leaving[2];
	atomic_t nameless; /* inodes in use without a name, which are yet to be freed */

	struct mutex commit_lock; /* all that follows */
	struct list_head committing;
	u64 commits_begun, commits_done; /* read without */

	/* For who writes one block of inodes alone: how often any was put into its buffer; and the
	 * commit behind which what such inodes lead to is on the disk. */
	atomic64_t encodings;
	u64 leads_ahead;
	/* as ext2_inode.named: of the directory that was moved last; of the last inode of which
	 * more has to be known until then than one that is read anew can tell */
	u64 moved, untold;
};

/* Of ext2_inode.name_block: one is written as late as any; they are in several blocks, none so. */
#define NAMES_LATE 0ULL
#define NAMES_APART (~0ULL)

struct ext2_inode {
	u32 data[EXT2_POINTERS]; /* block pointers, or the text of a fast symbolic link */
	u32 link_slack[2];	 /* what is read behind that text */
	u32 flags, attribute_block, dtime;
	/* how often a block beside the inode has changed, of pointers or attributes, under
	 * map_lock; and had so at the last sync */
	u32 indirect_changes, indirect_synced;
	u64 born;	/* buffers_stamp() when it was made, 0: it was on the disk */
	u64 named;	/* the commit with which its newest name is on the disk */
	u64 name_block; /* where its names are that the disk may not have, or NAMES_* */
	bool encoded;	/* its buffer in the table of inodes has been written to; under map_lock */
	bool replaced;	/* a rename took a name of its over: on the disk that may be its own */
	struct rw_semaphore map_lock;
	u32 next_goal; /* where the next block would best lie; 0: not known */
	/* directories: block of the last find; no room before this one */
	u32 lookup_hint, insert_hint;
	struct inode inode;
};

static inline struct ext2_inode *EXT2_I(struct inode *inode)
{
	return container_of(inode, struct ext2_inode, inode);
}

static inline struct ext2_fs *EXT2_FS(const struct super_block *sb)
{
	return sb->private;
}

static inline u32 ext2_inode_group(const struct inode *inode)
{
	return ((u32)inode->number - 1) / EXT2_FS(inode->sb)->per_group[EXT2_INODES];
}

/* The first block of that group. */
static inline u32 ext2_group_start(const struct inode *inode)
{
	const struct ext2_fs *fs = EXT2_FS(inode->sb);

	return fs->first[EXT2_BLOCKS] + ext2_inode_group(inode) * fs->per_group[EXT2_BLOCKS];
}

/* super.c */
extern struct filesystem ext2_filesystem;
/* The file system is damaged: @what and its @number in the log (one line a second), and the mark in
 * the superblock. Returns -EUCLEAN. Any lock but spinlocks may be held. */
int ext2_error(struct ext2_fs *fs, const char *what, u64 number);

/* alloc.c */
bool ext2_block_ok(const struct ext2_fs *fs, u32 block); /* may a file own it? */
/* bread() for metadata. PATIENT, for who frees things and cannot give up: waits for memory, up to
 * ten seconds. */
enum ext2_patience { GIVE_UP, PATIENT };
struct buffer *ext2_read(struct ext2_fs *fs, u32 block, enum ext2_patience patience);
/* The same for a block that belongs to a file; ERR_PTR(-EUCLEAN) if it cannot. */
struct buffer *ext2_bread(struct ext2_fs *fs, u32 block, enum ext2_patience patience);
/* A free block or inode, near @goal (0: anywhere): its number, or -ENOSPC, -EIO... @mode, here and
 * below: the inode's, since directories are counted; NO_MODE of blocks. */
#define NO_MODE 0
s64 ext2_allocate(struct ext2_fs *fs, enum ext2_kind kind, u32 goal, umode_t mode);
/* A new block, as zeroes and dirty; ERR_PTR. */
struct buffer *ext2_new_block(struct ext2_fs *fs, u32 goal);
/* Consecutive ones, which were checked to lie in the file system; nothing on the disk may lead
 * there (commit.c). */
void ext2_free(struct ext2_fs *fs, enum ext2_kind kind, u32 number, u32 count, umode_t mode);
/* hashed, nlink 1, not yet dirty; ERR_PTR */
struct inode *ext2_new_inode(struct inode *dir, umode_t mode);

/* commit.c */
/* What one call frees, gathered until nothing in the buffers leads there. */
struct ext2_gone {
	bool at_once; /* nothing on the disk does either */
	u8 commits;   /* else: so many are to be waited for */
	struct list_head freed;
};
/* Until then the blocks of pointers and attributes are what they were. */
static inline bool ext2_stays(const struct ext2_gone *gone)
{
	return !gone->at_once && gone->commits > 1;
}
/* Of @inode, under its map_lock, or when nobody else has it. One commit will do. */
void ext2_gone_begin(struct inode *inode, struct ext2_gone *gone);
/* Consecutive ones, as by ext2_free(). Sleeps. */
void ext2_gather(struct ext2_fs *fs, struct ext2_gone *gone, enum ext2_kind kind, u32 number,
		 u32 count, umode_t mode);
/* They will be free. */
void ext2_let_go(struct ext2_fs *fs, struct ext2_gone *gone);
/* All that is in dirty buffers is on the platter, in the order of their ranks, and what was freed
 * before is free: 0, or -EIO. Sleeps; any lock but those of groups may be held. */
int ext2_commit(struct ext2_fs *fs);
void ext2_commit_freed(struct ext2_fs *fs, unsigned times); /* while anything waits to be free */
void ext2_commit_end(struct ext2_fs *fs);		    /* forget what waits */
bool ext2_any_leaving(struct ext2_fs *fs);		    /* does anything wait? */
/* inode.c */
int ext2_read_inode(struct inode *inode);
/* The buffer of the table of inodes that holds @number, and the entry; ERR_PTR. */
struct buffer *ext2_read_raw(struct ext2_fs *fs, u32 number, struct ext2_raw_inode **raw,
			     enum ext2_patience patience);
int ext2_write_inode(struct inode *inode); /* to its buffer */
void ext2_before_evict(struct inode *inode);
void ext2_evict_inode(struct inode *inode);
/* The table of inodes, in its buffer, leads to nothing that @inode has given up. Under map_lock. */
void ext2_forget_pointers(struct inode *inode);
void ext2_set_operations(struct inode *inode);
int ext2_fsync(struct file *file, bool data_only);
int ext2_write_symlink(struct inode *inode, const char *target);

/* map.c */
int ext2_get_block(struct inode *inode, u64 index, u64 *block, bool create);
/* Block @index of a directory or symbolic link, whose blocks are in the buffer cache; a hole is
 * damage. CREATE: a new one, cleared. ERR_PTR. */
enum ext2_access { FIND, CREATE };
struct buffer *ext2_inode_block(struct inode *inode, u64 index, enum ext2_access access);
int ext2_seek(struct inode *inode, loff_t offset, bool hole, loff_t *found);
void ext2_truncate_blocks(struct inode *inode, loff_t size); /* free what lies behind */
/* The same for who calls ext2_let_go() himself. */
void ext2_gather_blocks(struct inode *inode, loff_t size, struct ext2_gone *gone);

/* dir.c */
/* The DT_* that there are, by an entry's type. */
extern const u8 ext2_types[8];
extern const struct file_operations ext2_dir_operations;
extern const struct inode_operations ext2_dir_inode_operations;

/* xattr.c */
/* The buffer of the inode's attributes, its header checked, or NULL: it has none; ERR_PTR. As
 * ext2_bread(). */
struct buffer *ext2_xattr_block(struct inode *inode, enum ext2_patience patience);
/* That @buffer is one inode's less, which others may have as well: freed with the last. It is
 * released. Sleeps. */
void ext2_drop_xattr_block(struct inode *inode, struct buffer *buffer, struct ext2_gone *gone);
void ext2_gather_attributes(struct inode *inode, struct ext2_gone *gone); /* with the inode */
