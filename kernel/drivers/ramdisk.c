/*
 * ramdisk.c - the RAM disk, /dev/ram0: the image that the boot loader brought as a module (qemu
 * -initrd, GRUB module2), used in place; a cpio archive is left to fs/initramfs.c. Without an image
 * it is an empty disk of ramdisk_size=KB (as in Linux), at most half of all memory, which is taken
 * page by page as it is written to; when there is none a write is an I/O error.
 *
 * A request is copied within submit, and without a model completed there, so that under icount a
 * disk access is a fixed number of instructions.
 *
 * With ramdisk_model= it takes the time of a disk, on the kernel's clock: under icount virtual
 * time, so that what waits for the disk is repeatable too. Requests wait in a queue, of which one
 * is served at a time: the next one upwards from the head, or from the lowest when there is none
 * (C-LOOK, as Linux 2.2 sorts them); a timer ends it while processes run. Serving one takes
 *
 *	command  +  seek + (stroke - seek) * sqrt(distance / size of the disk), to another cylinder
 *		 +  the rest of the turn until its first sector comes  +  sectors * turn / track
 *
 * The image is stretched over the whole disk: its cylinders are those of the disk, but fewer and
 * further apart. Where the platter stands follows from the clock. After a request the head goes on,
 * for a turn at most, into the drive's buffer: a read that continues the last request, and a write
 * that has been waiting to, cost what is left of their transfer. Neither the change to the next
 * track nor a flush costs anything: tracks are skewed, and there is no cache of writes. Without a
 * stroke nothing moves or turns. docs/lab/disk-model.md has the numbers of some disks.
 */

#include "boot/boot_info.h"
#include "fs/block/block.h"
#include "kernel/drivers/drivers.h"
#include "core/memory/page_alloc.h"

#define RAMDISK_MAJOR 1
#define EMPTY_KILOBYTES 4096 /* as Linux has had it for long */

static struct block_device ramdisk;
static void **pages; /* of the image, or those of an empty disk that were written to */

/* The model. COMMAND to TURN are nanoseconds, the others sectors; no TURN: there is none. */
enum { COMMAND, SEEK, STROKE, TURN, TRACK, CYLINDER, MODEL_NUMBERS };
static u64 model[MODEL_NUMBERS];

/* Under the lock: */
static DEFINE_SPINLOCK(ramdisk_lock);
static LIST_HEAD(queue);
static struct block_request *in_service; /* NULL: the queue is empty, too */
static struct timer service;		 /* its end */
static sector_t head_sector;		 /* where the head will have come to with it, */
static u64 head_ns;			 /* and when */

static u64 seek_ns(sector_t to)
{
	u64 cylinders = ramdisk.sectors / model[CYLINDER] + 1;
	u64 from = head_sector / model[CYLINDER], goal = to / model[CYLINDER];
	u64 distance = goal > from ? goal - from : from - goal;
	u64 root = int_sqrt((distance << 32) / cylinders); /* of the fraction, in 65536ths */

	return distance ? model[SEEK] + ((model[STROKE] - model[SEEK]) * root >> 16) : 0;
}

/* When @request will have been served, which is begun at @now. */
static u64 serve(const struct block_request *request, u64 now)
{
	u64 ready = now + model[COMMAND];
	bool goes_on = request->sector == head_sector &&
		       (request->operation == BLOCK_READ || now <= head_ns);

	head_ns = max(head_ns, now - min(now, model[TURN]));
	if (model[STROKE] && !goes_on) {
		u64 angle = request->sector % model[TRACK] * model[TURN] / model[TRACK];

		head_ns = ready + seek_ns(request->sector);
		head_ns += (angle + model[TURN] - head_ns % model[TURN]) % model[TURN];
	} else if (!model[STROKE]) {
		head_ns = ready;
	}
	head_ns += request->sectors * model[TURN] / model[TRACK];
	head_sector = request->sector + request->sectors;
	return max(head_ns, ready);
}

static void serve_next(u64 now)
{
	struct block_request *request;

	lockdep_assert_held(&ramdisk_lock);
	in_service = NULL;
	/* What lies behind the head wraps round, and so comes last. */
	list_for_each_entry(request, &queue, link)
		if (!in_service ||
		    request->sector - head_sector < in_service->sector - head_sector)
			in_service = request;
	if (in_service) {
		list_del(&in_service->link);
		timer_start(&service, serve(in_service, now));
	}
}

static void served(void *unused)
{
	struct block_request *request = in_service;

	spin_lock(&ramdisk_lock);
	serve_next(service.deadline_ns);
	spin_unlock(&ramdisk_lock);
	request->done(request);
}

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
	if (likely(!model[TURN]) || !request->sectors) {
		request->done(request);
		return;
	}
	guard(spinlock_irqsave, &ramdisk_lock);
	list_add_tail(&request->link, &queue);
	if (!in_service)
		serve_next(ktime_ns());
}

static void read_model(void)
{
	const char *at = cmdline_value("ramdisk_model");

	for (unsigned i = 0; at && i < MODEL_NUMBERS; at += *at == ',')
		model[i++] = memparse(at, &at);
	if (at && (*at || !model[TRACK] || !model[CYLINDER] ||
		   (model[STROKE] && model[STROKE] < model[SEEK]))) {
		pr_err("ramdisk_model= is no disk (docs/lab/disk-model.md): it takes no time\n");
		model[TURN] = 0;
	}
	timer_init(&service, served, NULL);
}

void ramdisk_init(void)
{
	u64 bytes = boot_info.initrd_end - boot_info.initrd_start, kilobytes = EMPTY_KILOBYTES;
	char *memory = phys_to_virt(boot_info.initrd_start);
	bool image = bytes >= SECTOR_SIZE && memcmp(memory, "070701", 6);

	cmdline_u64("ramdisk_size", &kilobytes);
	read_model();
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
