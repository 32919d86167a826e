/*
 * commit.c - what was freed is handed out again only when nothing on the disk leads to it any more.
 * See ext2.h.
 *
 * A power cut may leave any older state of a block behind. If a block of pointers that was freed
 * had been given to another file meanwhile, an inode of old on the disk would still lead there, and
 * e2fsck would "repair" the new owner's bytes; an inode that was given away would show a stranger's
 * file under an old name. So blocks and inodes that are freed wait, still marked as used, until a
 * commit that began later is done: all dirty buffers written, rank by rank (fs/block/buffer.h), and
 * the disk flushed. Who frees has changed what led there, in its buffer, before. A commit is part
 * of every sync, of an fsync that needs more than one inode, and of write-back; and who finds no
 * space makes one.
 *
 * What never was on the disk, since it was made after the last write of any metadata, is free at
 * once: so short-lived files cost nothing. A file that was replaced by a rename takes two commits:
 * until the first is done the name on the disk may still be its own, so its inode there is left
 * alone; then that is cleared, and what it had waits for the second. Not so what it loses before,
 * while somebody has it open: that is a change of the old file like any other.
 *
 * The ideas are those of soft updates (Ganger, McKusick, Soules, Patt 2000), for the whole file
 * system at a time instead of for each block.
 */
#include "fs/ext2/ext2.h"
#include "core/memory/slab.h"

/* Waits in its group's list. */
struct ext2_freed {
	struct list_head link;
	u32 number, count;
	u8 kind, commits;
	umode_t type; /* S_IFDIR or 0 */
};

void ext2_gone_begin(struct inode *inode, struct ext2_gone *gone)
{
	struct ext2_inode *ei = EXT2_I(inode);

	if (!(READ_ONCE(inode->flags) & I_FREEING)) /* else nobody else has it */
		lockdep_assert_held(&ei->map_lock);
	gone->at_once = !ei->encoded && buffers_stamp_good(ei->born);
	gone->commits = 1;
	INIT_LIST_HEAD(&gone->freed);
}

/* Sleeps for memory, up to ten seconds: who frees cannot give up. */
static struct ext2_freed *new_entry(void)
{
	struct ext2_freed *entry = kmalloc(sizeof(*entry), GFP_KERNEL);

	for (unsigned tries = 0; !entry && tries < 1000; tries++) {
		sleep_ns(10 * NSEC_PER_MSEC);
		entry = kmalloc(sizeof(*entry), GFP_KERNEL);
	}
	return entry;
}

void ext2_gather(struct ext2_fs *fs, struct ext2_gone *gone, enum ext2_kind kind, u32 number,
		 u32 count, umode_t mode)
{
	if (gone->at_once) {
		ext2_free(fs, kind, number, count, mode);
		return;
	}
	struct ext2_freed *entry = new_entry();

	if (!entry) {
		ext2_error(fs, "no memory to free what begins at", number);
		return;
	}
	*entry = (struct ext2_freed){.number = number,
				     .count = count,
				     .kind = (u8)kind,
				     .commits = gone->commits,
				     .type = S_ISDIR(mode) ? S_IFDIR : 0};
	list_add_tail(&entry->link, &gone->freed);
}

/* Does @entry go on where @last ends? */
static bool continues(const struct ext2_freed *last, const struct ext2_freed *entry)
{
	return last->number + last->count == entry->number && last->commits == entry->commits &&
	       last->type == entry->type;
}

/* From the list it is on to that of its group. What is removed was often made in a row. */
static void queue(struct ext2_fs *fs, struct ext2_freed *entry)
{
	u32 number = (entry->number - fs->first[entry->kind]) / fs->per_group[entry->kind];
	struct ext2_group *group = &fs->groups[number];
	struct list_head *list = &group->freed[entry->kind];

	guard(mutex, &group->lock);
	if (!list_empty(list)) {
		struct ext2_freed *last = list_last_entry(list, struct ext2_freed, link);

		if (continues(last, entry)) {
			last->count += entry->count;
			list_del(&entry->link);
			kfree(entry);
			return;
		}
	}
	list_move_tail(&entry->link, list);
}

void ext2_let_go(struct ext2_fs *fs, struct ext2_gone *gone)
{
	struct ext2_freed *entry, *next;

	list_for_each_entry_safe (entry, next, &gone->freed, link) {
		atomic_add(entry->count, &fs->leaving[entry->kind]);
		queue(fs, entry);
	}
}

/* ---- committing ------------------------------------------------------------------------------ */

/* The inode on the disk is nobody's now. */
static void clear_inode(struct ext2_fs *fs, u32 number)
{
	struct ext2_raw_inode *raw;
	struct buffer *buffer __free(buffer) = ext2_read_raw(fs, number, &raw, PATIENT);

	if (IS_ERR(buffer)) {
		ext2_error(fs, "cannot be freed: inode", number);
		return;
	}
	raw->dtime = (u32)current_time().tv_sec;
	raw->links_count = 0;
	raw->size = raw->size_high = raw->blocks = raw->attribute_block = 0;
	memset(raw->block, 0, sizeof(raw->block));
	mark_buffer_dirty(buffer);
}

/* Nothing on the disk's names leads to @entry any more. */
static void release(struct ext2_fs *fs, struct ext2_freed *entry)
{
	for (u32 i = 0; i < entry->count && entry->kind == EXT2_INODES && entry->commits > 1; i++)
		clear_inode(fs, entry->number + i);
	if (--entry->commits) {
		queue(fs, entry);
		return;
	}
	list_del(&entry->link);
	atomic_sub(entry->count, &fs->leaving[entry->kind]);
	ext2_free(fs, (enum ext2_kind)entry->kind, entry->number, entry->count, entry->type);
	kfree(entry);
}

/* What @group has freed goes to @list, which has what an earlier commit failed for. */
static void take_freed(struct ext2_group *group, struct list_head *list)
{
	struct ext2_freed *entry, *next;

	guard(mutex, &group->lock);
	for (unsigned kind = 0; kind < 2; kind++)
		list_for_each_entry_safe (entry, next, &group->freed[kind], link)
			list_move_tail(&entry->link, list);
}

bool ext2_any_leaving(struct ext2_fs *fs)
{
	return atomic_read(&fs->leaving[EXT2_BLOCKS]) || atomic_read(&fs->leaving[EXT2_INODES]);
}

int ext2_commit(struct ext2_fs *fs)
{
	struct block_device *device = fs->sb->bdev;
	struct ext2_freed *entry, *next;

	guard(mutex, &fs->commit_lock);
	WRITE_ONCE(fs->commits_begun, fs->commits_begun + 1);
	smp_mb(); /* named() in names.c */
	for (u32 i = 0; ext2_any_leaving(fs) && i < fs->group_count; i++)
		take_freed(&fs->groups[i], &fs->committing);
	TRY(sync_buffers(device, WB_SYNC_ALL));
	TRY(block_flush(device));
	WRITE_ONCE(fs->commits_done, fs->commits_begun);
	list_for_each_entry_safe (entry, next, &fs->committing, link)
		release(fs, entry);
	return 0;
}

void ext2_commit_freed(struct ext2_fs *fs, unsigned times)
{
	while (ext2_any_leaving(fs) && times--)
		(void)ext2_commit(fs); /* an error is told by the next fsync */
}

void ext2_commit_end(struct ext2_fs *fs)
{
	struct ext2_freed *entry, *next;

	for (u32 i = 0; i < fs->group_count; i++)
		take_freed(&fs->groups[i], &fs->committing);
	list_for_each_entry_safe (entry, next, &fs->committing, link)
		kfree(entry);
}
