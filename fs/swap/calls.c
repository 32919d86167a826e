/*
 * calls.c - swapon(2), swapoff(2), /proc/swaps.
 *
 * swap_mutex guards the table of what is in use. It is not held while swapoff empties an area,
 * which may take long: that is `leaving`. It is outside of all locks of file systems.
 */
#include "core/base/room.h"
#include "fs/calls/calls.h"
#include "fs/file/open.h"
#include "fs/path/super.h"
#include "fs/proc/proc.h"
#include "fs/swap/files.h"
#include "fs/swap/start.h"

enum { FLAG_PREFER = 0x8000, PRIORITY_MASK = 0x7fff };
enum { FLAGS_DISCARD = 0x70000 }; /* hints for devices that can: none here */
#define PATH_WIDTH 40		  /* columns, as in Linux */
#define WIDE_SIZE 10000000	  /* has eight digits */

static DEFINE_MUTEX(swap_mutex);
static struct swap_file *in_use[SWAP_AREAS]; /* by type */

/* ---- finding --------------------------------------------------------------------------------- */

static bool is_same(const struct inode *a, const struct inode *b)
{
	return a == b || (S_ISBLK(a->mode) && S_ISBLK(b->mode) && a->rdev == b->rdev);
}

/* The one on @inode, or on its device; NULL. */
static struct swap_file *find(const struct inode *inode)
{
	lockdep_assert_held(&swap_mutex.sem);
	for (unsigned type = 0; type < SWAP_AREAS; type++)
		if (in_use[type] && is_same(in_use[type]->file->inode, inode))
			return in_use[type];
	return NULL;
}

static const struct block_device *wanted; /* by is_mounted(); mount_mutex is taken around that */

static int is_of_wanted(struct super_block *sb)
{
	if (sb->bdev && sb->bdev == wanted)
		return -EBUSY;
	return 0;
}

/* ---- swapon ---------------------------------------------------------------------------------- */

/* As with a program that runs: until the last fput() nobody may write to it. */
static int deny_writing(struct file *file)
{
	if (!S_ISREG(file->inode->mode))
		return 0;
	TRY(deny_write_access(file->inode));
	file->mode |= FMODE_EXEC;
	return 0;
}

/* @flag is I_SWAPFILE: nobody may remove or rename the file; 0: it may be again. */
static void keep_names(struct swap_file *swap, u32 flag)
{
	inode_change_flags(swap->file->inode, flag, flag ^ I_SWAPFILE);
}

static int check_unused(const struct inode *inode)
{
	guard(mutex, &swap_mutex);
	if (find(inode))
		return -EBUSY;
	return 0;
}

static int use_file(struct swap_file *swap, u32 flags)
{
	int priority = flags & FLAG_PREFER ? (int)(flags & PRIORITY_MASK) : -1;
	u16 *counts = NULL;
	u64 slots = 0;

	guard(mutex, &swap_mutex);
	if (find(swap->file->inode))
		return -EBUSY;
	wanted = S_ISBLK(swap->file->inode->mode) ? swap->file->inode->bdev : NULL;
	if (wanted)
		TRY(for_each_super(is_of_wanted));
	TRY(deny_writing(swap->file));
	TRY(swap_file_read(swap, &counts, &slots));
	int type = swap_area_add(&swap->backing, counts, slots, priority);
	if (type < 0) {
		kfree(counts);
		return type;
	}
	swap->type = (unsigned)type;
	in_use[type] = swap;
	keep_names(swap, I_SWAPFILE);
	struct swap_area_info info = swap_area_info(swap->type);
	pr_info("Adding %lluk swap, priority %d, in %u pieces on %s\n",
		info.pages * PAGE_SIZE / 1024, info.priority, swap->extent_count,
		swap->device->name);
	return 0;
}

s64 sys_swapon(const char *name, u32 flags)
{
	struct path_name text __free(name) = {0};

	if (flags & ~(u32)(FLAG_PREFER | PRIORITY_MASK | FLAGS_DISCARD))
		return -EINVAL;
	if (!capable(current->cred))
		return -EPERM;
	struct swap_file *swap __free(swap_file) = TRY_PTR(kzalloc(sizeof(*swap), GFP_KERNEL));
	TRY(path_name_get(&text, name));
	struct file *file = TRY_PTR(filp_open(text.text, O_RDONLY, 0));
	swap->file = file;
	TRY(check_unused(file->inode)); /* else it could not be written to because of that */
	struct file *writable = TRY_PTR(filp_open(text.text, O_RDWR, 0));
	fput(writable);
	TRY(use_file(swap, flags));
	swap = NULL;
	return 0;
}

/* ---- swapoff --------------------------------------------------------------------------------- */

static struct swap_file *begin_leaving(const struct inode *inode)
{
	guard(mutex, &swap_mutex);
	struct swap_file *swap = find(inode);

	if (!swap || swap->leaving)
		return NULL;
	swap->leaving = true;
	return swap;
}

static void end_leaving(struct swap_file *swap, int error)
{
	guard(mutex, &swap_mutex);
	swap->leaving = false;
	if (error)
		return;
	keep_names(swap, 0);
	swap_area_remove(swap->type);
	in_use[swap->type] = NULL;
}

s64 sys_swapoff(const char *name)
{
	struct path path __free(path) = {0};

	if (!capable(current->cred))
		return -EPERM;
	TRY(user_path_at(AT_FDCWD, name, LOOKUP_FOLLOW, &path));
	if (S_ISDIR(path.dentry->inode->mode))
		return -EISDIR;
	struct swap_file *swap = begin_leaving(path.dentry->inode);
	if (!swap)
		return -EINVAL;
	int error = swap_area_empty(swap->type);
	end_leaving(swap, error);
	if (!error)
		swap_file_free(swap);
	return error;
}

/* ---- /proc/swaps ----------------------------------------------------------------------------- */

/* A number of pages in kB, and as many tabs as it has room for. */
static void print_size(struct text *out, u64 pages)
{
	u64 kilobytes = pages * (PAGE_SIZE / 1024);

	text_printf(out, "%llu\t", kilobytes);
	if (kilobytes < WIDE_SIZE)
		text_printf(out, "\t");
}

static void swap_line(struct text *out, const struct swap_file *swap)
{
	struct swap_area_info info = swap_area_info(swap->type);
	size_t begin = out->length, length;
	int gap = 1;

	proc_show_path(out, &swap->file->path, " \t\n\\");
	length = out->length - begin;
	if (length < PATH_WIDTH)
		gap = (int)(PATH_WIDTH - length);
	text_printf(out, "%*s", gap, " ");
	if (S_ISBLK(swap->file->inode->mode))
		text_printf(out, "partition\t");
	else
		text_printf(out, "file\t\t");
	print_size(out, info.pages);
	print_size(out, info.used);
	text_printf(out, "%d\n", info.priority);
}

static void swaps_show(struct text *out, const struct proc_entry *entry)
{
	guard(mutex, &swap_mutex);
	text_printf(out, "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n");
	for (unsigned type = 0; type < SWAP_AREAS; type++)
		if (in_use[type])
			swap_line(out, in_use[type]);
}

void swap_files_init(void)
{
	static const struct proc_node nodes[] = {
		{"swaps", PROC_FILE, .show = swaps_show},
		{NULL},
	};

	proc_register(nodes);
	swap_start();
}
ROOM_START(swap_files_init);
