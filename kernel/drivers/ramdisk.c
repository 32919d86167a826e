/*
 * ramdisk.c - the RAM disk, /dev/ram0: the image that the boot loader brought as a module (qemu
 * -initrd, GRUB module2), used in place; a cpio archive is left to fs/initramfs.c. Without an image
 * it is an empty disk of ramdisk_size=KB (as in Linux), at most half of all memory, which is taken
 * page by page as it is written to; when there is none a write is an I/O error.
 *
 * A request is copied within submit, and without a model completed there, so that under icount a
 * disk access is a fixed number of instructions.
 *
 * With a model (kernel/drivers/model) a request that was copied is completed when a disk would have
 * served it.
 */
#include "boot/boot_info.h"
#include "fs/block/block.h"
#include "kernel/drivers/drivers.h"
#include "core/memory/page_alloc.h"

#define RAMDISK_MAJOR 1
#define EMPTY_KILOBYTES 4096 /* as Linux has had it for long */

static struct block_device ramdisk;
static void **pages; /* of the image, or those of an empty disk that were written to */

void (*ramdisk_model)(struct block_request *request);

/* -EIO: no memory for what is written. */
static int copy_segment(enum block_operation operation, u64 at, char *data, size_t length)
{
	for (size_t n; length; at += n, data += n, length -= n) {
		size_t offset = at & (PAGE_SIZE - 1);
		void **slot = &pages[at >> PAGE_SHIFT], *page = READ_ONCE(*slot), *none = NULL;

		n = min(length, PAGE_SIZE - offset);
		if (!page && operation == BLOCK_WRITE) {
			struct page *frame = alloc_page(GFP_KERNEL | GFP_ZERO);

			if (!frame)
				return -EIO;
			page = page_address(frame);
			if (!try_cmpxchg(slot, &none, page)) {
				put_page(frame); /* another request was faster */
				page = none;
			}
		}
		if (operation == BLOCK_WRITE)
			memcpy(page + offset, data, n);
		else if (page)
			memcpy(data, page + offset, n);
		else
			memset(data, 0, n);
	}
	return 0;
}

static void ramdisk_submit(struct block_device *device, struct block_request *request)
{
	u64 at = request->sector * SECTOR_SIZE;

	for (unsigned i = 0; i < request->segment_count && !request->status; i++) {
		const struct block_segment *segment = &request->segments[i];

		request->status =
			copy_segment(request->operation, at, segment->data, segment->length);
		at += segment->length;
	}
	if (unlikely(ramdisk_model != NULL) && request->sectors)
		ramdisk_model(request);
	else
		request->done(request);
}

void ramdisk_init(void)
{
	u64 bytes = boot_info.initrd_end - boot_info.initrd_start, kilobytes = EMPTY_KILOBYTES;
	char *memory = phys_to_virt(boot_info.initrd_start);
	bool image = bytes >= SECTOR_SIZE && memcmp(memory, "070701", 6);

	cmdline_u64("ramdisk_size", &kilobytes);
	if (cmdline_value("ramdisk_model") && !ramdisk_model)
		pr_err("ramdisk_model= is no disk, or DISK_MODEL=y is missing: it takes no time\n");
	if (!image && kilobytes > page_alloc_total_pages() * (PAGE_SIZE / KB(1)) / 2) {
		pr_err("ramdisk_size=%llu: no memory for a disk so large, there is none\n",
		       kilobytes);
		return;
	}
	bytes = image ? bytes : KB(kilobytes);
	pages = hash_alloc_table(DIV_ROUND_UP(bytes, PAGE_SIZE) * sizeof(*pages));
	if (!pages || !bytes)
		return;
	for (u64 at = 0; image && at < bytes; at += PAGE_SIZE)
		pages[at / PAGE_SIZE] = memory + at;
	ramdisk.name = "ram0";
	ramdisk.dev = MKDEV(RAMDISK_MAJOR, 0);
	ramdisk.sectors = bytes / SECTOR_SIZE;
	ramdisk.submit = ramdisk_submit;
	register_block_device(&ramdisk);
	pr_info("ram0: RAM disk, %llu KB, %s\n", bytes >> 10, image ? "the boot module" : "empty");
}
