/*
 * files.c - the header of a swap area, where its slots lie, and reading and writing them. See
 * files.h.
 *
 * The header is that of mkswap(8), version 1 (Linux 2.1.117): in the first page, behind 1024 bytes
 * that are the boot loader's, and a signature at the page's end. Numbers are little-endian.
 */
#include "core/memory/slab.h"
#include "fs/block/dirty.h"
#include "fs/inode/inode.h"
#include "fs/path/super.h"
#include "fs/swap/files.h"

#define SIGNATURE "SWAPSPACE2"
#define SIGNATURE_LENGTH 10
#define BAD_PAGES_MAX ((PAGE_SIZE - 1024 - 512 - SIGNATURE_LENGTH) / sizeof(u32))
#define SLOTS_MAX (MB(4) / sizeof(u16) - 1) /* kmalloc() gives that many counts: 8 GB */
#define SECTORS_PER_PAGE (PAGE_SIZE / SECTOR_SIZE)

struct header {
	u8 boot[1024];
	u32 version, last_page, bad_count;
	u8 uuid[16], label[16];
	u32 padding[117];
	u32 bad_pages[BAD_PAGES_MAX];
	u8 rest[PAGE_SIZE - 1536 - sizeof(u32) * BAD_PAGES_MAX - SIGNATURE_LENGTH];
	char signature[SIGNATURE_LENGTH];
};
static_assert(sizeof(struct header) == PAGE_SIZE, "the header is a page");

/* ---- reading and writing slots --------------------------------------------------------------- */

static void pages_done(struct block_request *request)
{
	bool read = request->operation == BLOCK_READ;

	for (unsigned i = 0; i < request->segment_count; i++) {
		char *data = request->segments[i].data, *end = data + request->segments[i].length;

		for (; data < end; data += PAGE_SIZE)
			swap_page_done(virt_to_page(data), read ? SWAP_READ : SWAP_WRITE,
				       request->status);
	}
	block_request_end(request);
}

static sector_t sector_of(const struct swap_file *swap, u64 slot)
{
	unsigned low = 0, high = swap->extent_count; /* it is in [low, high) */

	while (high - low > 1) {
		unsigned middle = (low + high) / 2;

		if (swap->extents[middle].slot <= slot)
			low = middle;
		else
			high = middle;
	}
	return swap->extents[low].sector + (slot - swap->extents[low].slot) * SECTORS_PER_PAGE;
}

static void start(struct swap_backing *backing, enum swap_operation operation,
		  const struct swap_transfer *transfers, unsigned count)
{
	struct swap_file *swap = container_of(backing, struct swap_file, backing);
	struct block_request *request = NULL;

	for (unsigned i = 0; i < count; i++) {
		sector_t sector = sector_of(swap, swap_slot(transfers[i].entry));

		request = block_request_add(request, swap->device,
					    operation == SWAP_READ ? BLOCK_READ : BLOCK_WRITE,
					    sector, page_address(transfers[i].page), PAGE_SIZE);
		request->done = pages_done;
	}
	submit_block_request(request);
}

/* ---- where the slots lie --------------------------------------------------------------------- */

/* Slot @slot lies at @sector: it continues the last extent, or begins a new one. 0 or -ENOMEM. */
static int add_extent(struct swap_file *swap, u64 slot, sector_t sector)
{
	unsigned n = swap->extent_count;
	struct swap_extent *last = n ? &swap->extents[n - 1] : NULL;

	if (last && last->slot + last->count == slot &&
	    last->sector + last->count * SECTORS_PER_PAGE == sector) {
		last->count++;
		return 0;
	}
	if (!(n & (n - 1))) { /* full: there is room for powers of two */
		struct swap_extent *more =
			TRY_PTR(kmalloc(max(2 * n, 1u) * sizeof(*more), GFP_KERNEL));

		memcpy(more, swap->extents, n * sizeof(*more));
		kfree(swap->extents);
		swap->extents = more;
	}
	swap->extents[swap->extent_count++] = (struct swap_extent){slot, 1, sector};
	return 0;
}

/* Where page @slot of the file lies: 0 and *@sector, or 0 in it: not in one piece. -EINVAL: it has
 * a hole there. */
static int map_page(struct inode *inode, u64 slot, sector_t *sector)
{
	unsigned blocks = PAGE_SIZE / inode->sb->block_size;
	u64 first = 0, block;

	*sector = 0;
	for (unsigned i = 0; i < blocks; i++) {
		TRY(inode->data.ops->get_block(inode, slot * blocks + i, &block, false));
		if (!block)
			return -EINVAL;
		if (!i)
			first = block;
		else if (block != first + i)
			return 0;
	}
	*sector = first * (inode->sb->block_size / SECTOR_SIZE);
	return 0;
}

static int map_file(struct swap_file *swap, u16 *counts, u64 slots)
{
	struct inode *inode = swap->file->inode;

	for (u64 slot = 0; slot < slots; slot++) {
		sector_t sector;

		TRY(map_page(inode, slot, &sector));
		if (sector)
			TRY(add_extent(swap, slot, sector));
		else
			counts[slot] = SWAP_BAD;
		cond_resched();
	}
	return 0;
}

/* ---- the header ------------------------------------------------------------------------------ */

/* Pages that there are, or -EINVAL: it is not the kind of file. */
static s64 pages_of(struct swap_file *swap)
{
	struct inode *inode = swap->file->inode;

	if (S_ISBLK(inode->mode)) {
		swap->device = inode->bdev;
		return (s64)(swap->device->sectors / SECTORS_PER_PAGE);
	}
	if (!S_ISREG(inode->mode) || !inode->sb->bdev)
		return -EINVAL;
	swap->device = inode->sb->bdev;
	return (s64)((u64)inode->data.size / PAGE_SIZE);
}

/* The slots that @header tells of, of a file of @pages, or -EINVAL. */
static s64 check_header(const struct header *header, u64 pages, bool on_device)
{
	u64 slots = (u64)header->last_page + 1;

	if (memcmp(header->signature, SIGNATURE, SIGNATURE_LENGTH) || header->version != 1)
		return -EINVAL;
	if (!header->last_page || slots > pages || header->bad_count > BAD_PAGES_MAX ||
	    (header->bad_count && !on_device))
		return -EINVAL;
	for (unsigned i = 0; i < header->bad_count; i++)
		if (!header->bad_pages[i] || header->bad_pages[i] > header->last_page)
			return -EINVAL;
	return (s64)min(slots, SLOTS_MAX);
}

/* The slots that are no use, as @header has them. */
static void mark_bad(const struct header *header, u16 *counts, u64 slots)
{
	counts[0] = SWAP_BAD;
	for (unsigned i = 0; i < header->bad_count; i++)
		if (header->bad_pages[i] < slots)
			counts[header->bad_pages[i]] = SWAP_BAD;
}

/* What is still to be written there would be written over pages; what is remembered of it is going
 * to be wrong. */
static int forget_contents(struct swap_file *swap)
{
	int error;

	if (S_ISBLK(swap->file->inode->mode)) {
		error = sync_buffers(swap->device, WB_SYNC_ALL);
		invalidate_buffers(swap->device);
	} else {
		error = vfs_fsync(swap->file, false);
		invalidate_inode_pages(&swap->file->inode->data);
	}
	return error;
}

int swap_file_read(struct swap_file *swap, u16 **counts, u64 *slots)
{
	bool on_device = S_ISBLK(swap->file->inode->mode), any = false;
	u64 pages = (u64)TRY(pages_of(swap));
	struct header *header __free(kfree) = TRY_PTR(kzalloc(sizeof(*header), GFP_KERNEL));
	ssize_t n = TRY(kernel_read(swap->file, header, sizeof(*header), 0));

	if (n < (ssize_t)sizeof(*header))
		return -EINVAL;
	*slots = (u64)TRY(check_header(header, pages, on_device));
	u16 *made __free(kfree) = kzalloc(*slots * sizeof(*made), GFP_KERNEL);
	if (!made)
		return -ENOMEM;
	mark_bad(header, made, *slots);
	TRY(forget_contents(swap));
	if (on_device)
		TRY(add_extent(swap, 0, 0));
	else
		TRY(map_file(swap, made, *slots));
	for (u64 slot = 1; slot < *slots; slot++)
		any |= made[slot] != SWAP_BAD;
	if (!any)
		return -EINVAL;
	swap->backing.start = start;
	*counts = made;
	made = NULL;
	return 0;
}

void swap_file_free(struct swap_file *swap)
{
	if (!swap)
		return;
	if (swap->file)
		fput(swap->file);
	kfree(swap->extents);
	kfree(swap);
}
