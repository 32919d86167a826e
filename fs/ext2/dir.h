/*
 * dir.h - entries of directories: private to dir.c and names.c. Everything is called with the
 * directory's inode->lock held, for writing where it changes something.
 *
 * A cursor stands on an entry and keeps its block: begin with {}, find or add, use cursor.entry,
 * and let go at the end of the scope (__free(cursor)). An entry that was found stays where it is
 * while others are added to its block.
 */
#pragma once

#include "fs/ext2/ext2.h"

/* A place in a directory. */
struct cursor {
	struct inode *dir;
	struct buffer *buffer;	      /* of the current entry; NULL before the first */
	struct ext2_dir_entry *entry; /* the current one */
	u32 block, left;	      /* its block, and how many are to come, itself included */
	u32 at, next; /* offsets of the current entry, and of what follows it */
};

DEFINE_FREE(cursor, struct cursor, brelse(variable->buffer))

/* The dentry to find ".." by. */
extern const struct dentry ext2_parent_entry;

/* Go to the entry of @dentry's name: 0, -ENOENT, or what went wrong. */
int ext2_find_entry(struct cursor *cursor, struct inode *dir, const struct dentry *dentry);
/* *@cursor is where @dentry's name, which is @inode's, has been put: 0, -ENOSPC, -EIO ... */
int ext2_add_entry(struct cursor *cursor, struct inode *dir, struct dentry *dentry,
		   struct inode *inode);
/* The entry found becomes @inode's, or goes. The directory's times are the caller's in the first
 * case. The block is written no sooner than @rank. */
void ext2_set_entry(struct cursor *cursor, struct inode *inode, enum buffer_rank rank);
void ext2_remove_entry(struct cursor *cursor, enum buffer_rank rank);
/* Fill an entry in, or give it another inode: the caller has ranks_lock, waits for what is in
 * flight and calls ext2_name_changed(), which makes the block dirty and the directory's times
 * new. */
static inline void ext2_set_inode(struct ext2_dir_entry *entry, const struct inode *inode)
{
	entry->inode = (u32)inode->number;
	entry->file_type = 0;
	if (EXT2_FS(inode->sb)->layout.feature_incompat & EXT2_INCOMPAT_FILETYPE)
		while (ext2_types[entry->file_type] != S_DT(inode->mode))
			entry->file_type++;
}
static inline void ext2_fill_entry(struct ext2_dir_entry *entry, u32 rec_len, const char *name,
				   u8 length, const struct inode *inode)
{
	entry->rec_len = (u16)rec_len;
	entry->name_len = length;
	memcpy(entry->name, name, length);
	ext2_set_inode(entry, inode);
}
void ext2_name_changed(struct cursor *cursor, enum buffer_rank rank);
/* Make @dir's first block, with "." and "..". */
int ext2_make_empty(struct inode *dir, struct inode *parent);
/* 0, -ENOTEMPTY, or what went wrong. */
int ext2_must_be_empty(struct inode *dir);
int ext2_lookup(struct inode *dir, struct dentry *dentry); /* inode_operations.lookup */
