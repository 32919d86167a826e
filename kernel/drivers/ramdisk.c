/*
 * ramdisk.c - the RAM disk, /dev/ram0: the image that the boot loader brought as a module (qemu
 * -initrd, GRUB module2), used in place; a cpio archive is left to fs/initramfs.c. Without an image
 * it is an empty disk of ramdisk_size=KB (as in Linux), at most half of all memory, which is taken
 * page by page as it is written to; when there is none a write is an I/O error.
 *
 * A request is copied and completed within submit, so that under icount a disk access is a fixed
 * number of instructions.
 *
 * With ramdisk_seek=US or ramdisk_rate=MB it takes the time of a disk with a moving head,
 * on the kernel's clock: under icount virtual time, so that what waits for the disk is repeatable
 * too. Requests are served one after the other, in the order they came; who submits one sleeps
 * until then. One that begins where the last one ended costs its transfer alone; else the head
 * moves first, by
 *
 *	seek / 4  +  seek * 9/4 * distance / size of the disk
 *
 * which is `seek` at a third of the disk, the mean distance between two random places. The time for
 * the disk to turn is part of `seek`. A flush costs nothing: there is no cache.
 */

#include "boot/boot_info.h"
#include "fs/block.h"
#include "kernel/drivers/drivers.h"
#include "mm/page_alloc.h"

#define RAMDISK_MAJOR 1
#define EMPTY_KILOBYTES 4096		 /* as Linux has had it for long */
#define SEEK_MICROSECONDS_MAX 1000000ULL /* a second */

static struct block_device ramdisk;
static void **pages; /* of the image, or those of an empty disk that were written to */

/* The model: */
static u64 seek_ns, sector_ns; /* both 0: none */
static DEFINE_SPINLOCK(ramdisk_lock);
static u64 served_ns;	     /* when the last request is served */
static sector_t head_sector; /* where the head will stand then */

/* In how long @request will be served, which is submitted now. */
static u64 serve(const struct block_request *request)
{
	u64 now = ktime_ns();

	guard(spinlock, &ramdisk_lock);
	u64 distance = request->sector > head_sector ? request->sector - head_sector
						     : head_sector - request->sector;

	served_ns = max(served_ns, now) + request->sectors * sector_ns;
	if (request->sectors && distance)
		served_ns += seek_ns / 4 + seek_ns / 4 * 9 * distance / ramdisk.sectors;
	if (request->sectors)
		head_sector = request->sector + request->sectors;
	return served_ns - now;
}

/* -EIO: no memory for what is written. */
static int copy_segment(bool write, u64 at, char *data, size_t length)
{
	for (size_t n; length; at += n, data += n, length -= n) {
		size_t offset = at & (PAGE_SIZE - 1);
		void **slot = &pages[at >> PAGE_SHIFT], *page = READ_ONCE(*slot), *none = NULL;

		n = min(length, PAGE_SIZE - offset);
		if (!page && write) {
			struct page *frame = alloc_page(GFP_KERNEL | GFP_ZERO);

			if (!frame)
				return -EIO;
			page = page_address(frame);
			if (!try_cmpxchg(slot, &none, page)) {
				put_page(frame); /* another request was faster */
				page = none;
			}
		}
		if (write)
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

		request->status = copy_segment(request->operation == BLOCK_WRITE, at, segment->data,
					       segment->length);
		at += segment->length;
	}
	if (unlikely(seek_ns | sector_ns))
		sleep_ns(serve(request));
	request->done(request);
}

void ramdisk_init(void)
{
	u64 bytes = boot_info.initrd_end - boot_info.initrd_start, kilobytes = EMPTY_KILOBYTES;
	char *memory = phys_to_virt(boot_info.initrd_start);
	bool image = bytes >= SECTOR_SIZE && memcmp(memory, "070701", 6);
	u64 microseconds = 0, megabytes = 0;

	cmdline_u64("ramdisk_size", &kilobytes);
	cmdline_u64("ramdisk_seek", &microseconds);
	cmdline_u64("ramdisk_rate", &megabytes);
	seek_ns = min(microseconds, SEEK_MICROSECONDS_MAX) * NSEC_PER_USEC;
	sector_ns = megabytes ? SECTOR_SIZE * 1000 / megabytes : 0;
	if (seek_ns | sector_ns)
		pr_info("the RAM disk takes time: %llu ns a seek, %llu ns a sector\n", seek_ns,
			sector_ns);
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
