/*
 * files.h - disks and files that swap areas lie on: private to fs/swap.
 *
 * An area's slots are the pages of the disk, or of the file: where on its disk each of these lies
 * is looked up once (as Linux does since 2.5), so that swapping asks no file system for anything.
 * While it is in use nobody can write to the file (ETXTBSY), and a device is no file system's.
 */
#pragma once

#include "fs/block/block.h"
#include "fs/file/file.h"
#include "mm/swap/swap.h"

struct swap_extent { /* slots that lie side by side on the disk */
	u64 slot, count;
	sector_t sector; /* of the first */
};

struct swap_file {
	struct swap_backing backing;
	struct file *file; /* referenced */
	struct block_device *device;
	struct swap_extent *extents;
	unsigned extent_count;
	unsigned type; /* of its area */
	bool leaving;  /* swapoff is at work; swap_mutex */
};

/*
 * Read the header of swap->file, and find its slots: 0, and *@counts, for swap_area_add(), has an
 * item for each of *@slots. -EINVAL: no header, a damaged one, or one of more pages than there are;
 * a hole; a file that is on no disk. -ENOMEM, -EIO. @swap is to be freed by swap_file_free()
 * whatever the result. Sleeps.
 */
int swap_file_read(struct swap_file *swap, u16 **counts, u64 *slots);
void swap_file_free(struct swap_file *swap); /* NULL is allowed */
DEFINE_FREE(swap_file, struct swap_file *, swap_file_free(*variable))
