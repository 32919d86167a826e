/*
 * ramdisk.c - RAM disks. /dev/ram0 is the image that the boot loader brought as a module (qemu
 * -initrd, GRUB module2), used in place; a cpio archive is left to fs/initramfs.c. Without an image
 * ram0 is an empty disk. ramdisk_size=KB (as in Linux) is the size of the empty disk, and makes one
 * behind an image too, of at most half of all memory, which is taken page by page as it is written
 * to; when there is none a write is an I/O error.
 *
 * A request is copied and completed within submit, so that under icount a disk access is a fixed
 * number of instructions.
 *
 * With ramdisk_seek=US or ramdisk_rate=MB a RAM disk takes the time of a disk with a moving head,
 * on the kernel's clock: under icount virtual time, so that what waits for the disk is repeatable
 * too. Requests are served one after the other, in the order they came. One that begins where the
 * last one ended costs its transfer alone; else the head moves first, by
 *
 *	seek / 4  +  seek * 9/4 * distance / size of the disk
 *
 * which is `seek` at a third of the disk, the mean distance between two random places. The time for
 * the disk to turn is part of `seek`. A flush costs nothing: there is no cache.
 */

#include "boot/boot_info.h"
#include "fs/block.h"
#include "kernel/core/cmdline.h"
#include "kernel/core/timer.h"
#include "kernel/drivers/drivers.h"
#include "mm/page_alloc.h"

#define RAMDISK_MAJOR 1
#define EMPTY_KILOBYTES 4096		 /* as Linux has had it for long */
#define SEEK_MICROSECONDS_MAX 1000000ULL /* a second */

static struct ramdisk {
	struct block_device block;
	void **pages; /* of the image, or those of an empty disk that were written to */

	spinlock_t lock;	  /* the model: all that follows */
	struct list_head waiting; /* in order; the first is being served */
	u64 served_ns;		  /* when that one ends */
	sector_t head;		  /* where the head will stand then */
	struct timer timer;
} ramdisks[2];
static unsigned ramdisk_count;
static u64 seek_ns, sector_ns; /* both 0: no model */

/* The next request's service begins at @now. Lock held. */
static void serve_next(struct ramdisk *disk, u64 now)
{
	const struct block_request *request =
		list_first_entry(&disk->waiting, struct block_request, link);
	u64 sectors = request->sectors, time = sectors * sector_ns;
	u64 distance = request->sector > disk->head ? request->sector - disk->head
						    : disk->head - request->sector;

	if (sectors) {
		if (distance)
			time += seek_ns / 4 + seek_ns / 4 * 9 * distance / disk->block.sectors;
		disk->head = request->sector + sectors;
	}
	disk->served_ns = now + time;
	timer_start(&disk->timer, disk->served_ns);
}

static void request_served(void *argument)
{
	struct ramdisk *disk = argument;
	struct block_request *request;
	unsigned long flags;

	spin_lock_irqsave(&disk->lock, flags);
	request = list_first_entry(&disk->waiting, struct block_request, link);
	list_del(&request->link);
	if (!list_empty(&disk->waiting))
		serve_next(disk, disk->served_ns);
	spin_unlock_irqrestore(&disk->lock, flags);
	request->done(request);
}

/* -EIO: no memory for what is written. */
static int copy_segment(void **pages, bool write, u64 at, char *data, size_t length)
{
	for (size_t n; length; at += n, data += n, length -= n) {
		size_t offset = at & (PAGE_SIZE - 1);
		void **slot = &pages[at >> PAGE_SHIFT], *page = READ_ONCE(*slot), *none = NULL;

		n = min(length, PAGE_SIZE - offset);
		if (!page && write) {
			page = get_free_pages(GFP_KERNEL | GFP_NOIO | GFP_ZERO, 0);
			if (page && !try_cmpxchg(slot, &none, page)) {
				free_pages(page, 0); /* another request was faster */
				page = none;
			}
			if (!page)
				return -EIO;
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
	struct ramdisk *disk = device->driver;
	u64 at = request->sector * SECTOR_SIZE;

	request->status = 0;
	for (unsigned i = 0; i < request->segment_count && !request->status; i++) {
		const struct block_segment *segment = &request->segments[i];

		request->status = copy_segment(disk->pages, request->operation == BLOCK_WRITE, at,
					       segment->data, segment->length);
		at += segment->length;
	}
	if (likely(!(seek_ns | sector_ns))) {
		request->done(request);
		return;
	}
	guard(spinlock_irq, &disk->lock);
	bool idle = list_empty(&disk->waiting);

	list_add_tail(&request->link, &disk->waiting);
	if (idle)
		serve_next(disk, ktime_ns());
}

/* @image: what the disk holds, or NULL for zeros. */
static void add_ramdisk(const char *name, char *image, u64 bytes)
{
	struct ramdisk *disk = &ramdisks[ramdisk_count];
	u64 pages = DIV_ROUND_UP(bytes, PAGE_SIZE);
	bool fits = image || pages <= page_alloc_total_pages() / 2;

	disk->pages = fits ? hash_alloc_table(pages * sizeof(*disk->pages)) : NULL;
	if (!disk->pages) {
		pr_err("ramdisk_size=%llu: no memory for a disk so large, no RAM disk is made\n",
		       (unsigned long long)(bytes >> 10));
		return;
	}
	for (u64 i = 0; image && i < pages; i++)
		disk->pages[i] = image + i * PAGE_SIZE;
	spin_lock_init(&disk->lock, "ramdisk");
	INIT_LIST_HEAD(&disk->waiting);
	timer_init(&disk->timer, request_served, disk);
	disk->block.name = name;
	disk->block.dev = MKDEV(RAMDISK_MAJOR, ramdisk_count++);
	disk->block.sectors = bytes / SECTOR_SIZE;
	disk->block.submit = ramdisk_submit;
	disk->block.driver = disk;
	register_block_device(&disk->block);
	pr_info("%s: RAM disk, %llu KB, %s\n", name, (unsigned long long)(bytes >> 10),
		image ? "the boot module" : "empty");
}

void ramdisk_init(void)
{
	u64 bytes = boot_info.initrd_end - boot_info.initrd_start, kilobytes = EMPTY_KILOBYTES;
	bool asked = cmdline_u64("ramdisk_size", &kilobytes);
	char *memory = phys_to_virt(boot_info.initrd_start);
	bool image = bytes >= SECTOR_SIZE && memcmp(memory, "070701", 6);
	u64 microseconds = 0, megabytes = 0;

	cmdline_u64("ramdisk_seek", &microseconds);
	cmdline_u64("ramdisk_rate", &megabytes);
	seek_ns = min(microseconds, SEEK_MICROSECONDS_MAX) * NSEC_PER_USEC;
	sector_ns = megabytes ? SECTOR_SIZE * 1000 / megabytes : 0;
	if (seek_ns | sector_ns)
		pr_info("RAM disks take time: %llu ns a seek, %llu ns a sector\n",
			(unsigned long long)seek_ns, (unsigned long long)sector_ns);
	if (image)
		add_ramdisk("ram0", memory, bytes);
	if (kilobytes && (!image || asked))
		add_ramdisk(image ? "ram1" : "ram0", NULL, KB(min(kilobytes, ~0ULL >> 10)));
}
