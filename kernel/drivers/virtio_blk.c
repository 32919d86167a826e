/*
 * virtio_blk.c - disks of a virtual machine: /dev/vda, /dev/vdb ... in the order of the PCI scan.
 *
 * A request is a chain of descriptors: header, data, status byte; header and status lie in a slot
 * that belongs to the chain's request while it is in flight. As many requests are in flight as the
 * queue has descriptors for; what does not fit waits in `waiting`, in order, until the interrupt
 * has made room, so submit never sleeps. Requests are completed by the interrupt, without the
 * disk's lock. Source: VIRTIO 1.2, section 5.2.
 *
 * A device that breaks the rules is given up: what is in flight and what comes later ends with
 * -EIO. Not done: a change of capacity, disks whose sectors are not of 512 bytes, several queues.
 */
#include <arch/page.h>

#include "fs/block.h"
#include "kernel/core/errno.h"
#include "kernel/core/printk.h"
#include "kernel/core/spinlock.h"
#include "kernel/core/string.h"
#include "kernel/drivers/drivers.h"
#include "kernel/drivers/virtio.h"
#include "mm/slab.h"

#define DEVICE_TRANSITIONAL 0x1001
#define DEVICE_MODERN 0x1042
#define VIRTBLK_MAJOR 254 /* Linux takes the highest that is free */
#define MINORS_PER_DISK 16
#define DISKS_MAX 16

#define FEATURE_SIZE_MAX 1
#define FEATURE_SEG_MAX 2
#define FEATURE_READ_ONLY 5
#define FEATURE_BLOCK_SIZE 6
#define FEATURE_FLUSH 9

#define CONFIG_CAPACITY 0
#define CONFIG_SIZE_MAX 8
#define CONFIG_SEG_MAX 12
#define CONFIG_BLOCK_SIZE 20
#define SEGMENT_BYTES_MAX (128 * 1024) /* what fs/ asks for in one piece */

#define TYPE_READ 0
#define TYPE_WRITE 1
#define TYPE_FLUSH 4
#define STATUS_OK 0
#define STATUS_NONE 0xff /* not written by the device */

/* What a request needs beside its data, while it is in flight. */
struct slot {
	u32 type, reserved;
	u64 sector;
	u8 status;
	u8 padding[7];
	struct block_request *request;
	struct slot *next_free;
};
#define HEADER_BYTES 16
#define PIECES_MAX (BLOCK_MAX_SEGMENTS + 2)

struct disk {
	struct block_device block;
	char name[8];
	bool flushes; /* it has a cache to be flushed */

	spinlock_t lock; /* all that follows, and the queue */
	struct virtio_device virtio;
	struct slot *slots; /* one a descriptor: enough for any mix */
	struct slot *free_slots;
	struct list_head waiting; /* requests for which there was no room */
	bool broken;
};

static unsigned disk_count;

/* ---- requests -------------------------------------------------------------------------------- */

/* Put @request into the queue; false when there is no room. Lock held. */
static bool enqueue(struct disk *disk, struct block_request *request)
{
	static const u32 types[] = {
		[BLOCK_READ] = TYPE_READ, [BLOCK_WRITE] = TYPE_WRITE, [BLOCK_FLUSH] = TYPE_FLUSH};
	struct virtqueue *queue = &disk->virtio.queue;
	struct virtio_piece pieces[PIECES_MAX];
	struct slot *slot = disk->free_slots;
	unsigned count = 0;

	if (queue->free_count < request->segment_count + 2)
		return false;
	disk->free_slots = slot->next_free;
	slot->type = types[request->operation];
	slot->sector = request->operation == BLOCK_FLUSH ? 0 : request->sector;
	slot->status = STATUS_NONE;
	slot->request = request;
	pieces[count++] = (struct virtio_piece){virt_to_phys(slot), HEADER_BYTES};
	for (unsigned i = 0; i < request->segment_count; i++)
		pieces[count++] = (struct virtio_piece){virt_to_phys(request->segments[i].data),
							request->segments[i].length};
	pieces[count++] = (struct virtio_piece){virt_to_phys(&slot->status), 1};
	virtqueue_add(queue, pieces, count, request->operation == BLOCK_READ ? 1 : count - 1, slot);
	return true;
}

/* Does it need the device at all? */
static bool is_empty(const struct disk *disk, const struct block_request *request)
{
	return request->operation == BLOCK_FLUSH ? !disk->flushes : !request->segment_count;
}

static void disk_submit(struct block_device *device, struct block_request *request)
{
	struct disk *disk = device->driver;
	bool at_once = is_empty(disk, request), notify = false;
	unsigned long flags;

	request->status = 0;
	if (!at_once) {
		spin_lock_irqsave(&disk->lock, flags);
		if (unlikely(disk->broken)) {
			request->status = -EIO;
			at_once = true;
		} else if (list_empty(&disk->waiting) && enqueue(disk, request)) {
			notify = true;
		} else {
			list_add_tail(&request->link, &disk->waiting);
		}
		spin_unlock_irqrestore(&disk->lock, flags);
	}
	/* Without the lock: the register is slow, and a virtual machine may hold this CPU up there.
	 */
	if (notify)
		virtqueue_notify(&disk->virtio.queue);
	if (at_once)
		request->done(request);
}

/* Move what the device is done with to @finished. Lock held. */
static void take_finished(struct disk *disk, struct list_head *finished)
{
	struct slot *slot;

	while ((slot = virtqueue_take(&disk->virtio.queue, &disk->broken)) != NULL) {
		slot->request->status = READ_ONCE(slot->status) == STATUS_OK ? 0 : -EIO;
		list_add_tail(&slot->request->link, finished);
		slot->request = NULL;
		slot->next_free = disk->free_slots;
		disk->free_slots = slot;
	}
}

/* Put in what waits and fits; is the device to be told? Lock held. */
static bool start_waiting(struct disk *disk)
{
	bool any = false;

	while (!list_empty(&disk->waiting)) {
		struct block_request *request =
			list_first_entry(&disk->waiting, struct block_request, link);

		if (!enqueue(disk, request))
			break;
		list_del(&request->link);
		any = true;
	}
	return any;
}

/* The device broke the rules: end all that it has with an error. Lock held. */
static void give_up(struct disk *disk, struct list_head *finished)
{
	struct block_request *request, *next;

	pr_err("%s: the device answers what it was not asked; it is not used any more\n",
	       disk->name);
	virtio_fail(&disk->virtio);
	for (unsigned i = 0; i < disk->virtio.queue.size; i++) {
		if (!disk->slots[i].request)
			continue;
		disk->slots[i].request->status = -EIO;
		list_add_tail(&disk->slots[i].request->link, finished);
		disk->slots[i].request = NULL;
	}
	list_for_each_entry_safe (request, next, &disk->waiting, link) {
		list_del(&request->link);
		request->status = -EIO;
		list_add_tail(&request->link, finished);
	}
}

static void disk_interrupt(void *argument)
{
	struct disk *disk = argument;
	struct block_request *request, *next;
	LIST_HEAD(finished);
	unsigned long flags;
	bool notify = false;

	if (!virtio_interrupted(&disk->virtio))
		return;
	spin_lock_irqsave(&disk->lock, flags);
	if (!disk->broken) {
		take_finished(disk, &finished);
		if (unlikely(disk->broken))
			give_up(disk, &finished);
		else
			notify = start_waiting(disk);
	}
	spin_unlock_irqrestore(&disk->lock, flags);
	if (notify)
		virtqueue_notify(&disk->virtio.queue);
	list_for_each_entry_safe (request, next, &finished, link) {
		list_del(&request->link);
		if (unlikely(request->status))
			pr_err("%s: I/O error, %s sector %llu\n", disk->name,
			       request->operation == BLOCK_READ ? "reading" : "writing",
			       (unsigned long long)request->sector);
		request->done(request);
	}
}

/* ---- start ----------------------------------------------------------------------------------- */

/* Why the disk cannot be used, or NULL. */
static const char *unusable(const struct virtio_device *virtio)
{
	if (virtio_has(virtio, FEATURE_BLOCK_SIZE) &&
	    virtio_config32(virtio, CONFIG_BLOCK_SIZE) != SECTOR_SIZE)
		return "its sectors are not of 512 bytes";
	if (virtio_has(virtio, FEATURE_SIZE_MAX) &&
	    virtio_config32(virtio, CONFIG_SIZE_MAX) < SEGMENT_BYTES_MAX)
		return "it takes too small segments (size_max)";
	if (virtio_has(virtio, FEATURE_SEG_MAX) &&
	    virtio_config32(virtio, CONFIG_SEG_MAX) < BLOCK_MAX_SEGMENTS)
		return "it takes too few segments (seg_max)";
	if (virtio_config64(virtio, CONFIG_CAPACITY) > ~0ULL / SECTOR_SIZE)
		return "its capacity is impossible";
	return NULL;
}

static int start_disk(struct disk *disk, struct pci_device *pci)
{
	struct virtio_device *virtio = &disk->virtio;
	const char *reason;
	int error = virtio_start(virtio, pci,
				 1u << FEATURE_SIZE_MAX | 1u << FEATURE_SEG_MAX |
					 1u << FEATURE_READ_ONLY | 1u << FEATURE_BLOCK_SIZE |
					 1u << FEATURE_FLUSH);

	if (error)
		return error;
	reason = unusable(virtio);
	if (reason) {
		pr_err("%s: cannot be used: %s\n", disk->name, reason);
		return -ENODEV;
	}
	disk->slots = kzalloc(VIRTIO_QUEUE_MAX * sizeof(*disk->slots), GFP_KERNEL);
	if (!disk->slots)
		return -ENOMEM;
	error = virtio_start_queue(virtio, disk_interrupt, disk, disk->name);
	if (!error && virtio->queue.size < PIECES_MAX) {
		pr_err("%s: cannot be used: its queue of %u is too short (queue-size=64)\n",
		       disk->name, virtio->queue.size);
		error = -ENODEV;
	}
	for (unsigned i = 0; !error && i < virtio->queue.size; i++) {
		disk->slots[i].next_free = disk->free_slots;
		disk->free_slots = &disk->slots[i];
	}
	return error;
}

static void register_disk(struct disk *disk)
{
	struct block_device *block = &disk->block;

	block->name = disk->name;
	block->dev = MKDEV(VIRTBLK_MAJOR, disk_count * MINORS_PER_DISK);
	block->sectors = virtio_config64(&disk->virtio, CONFIG_CAPACITY);
	block->read_only = virtio_has(&disk->virtio, FEATURE_READ_ONLY);
	block->submit = disk_submit;
	block->driver = disk;
	disk->flushes = virtio_has(&disk->virtio, FEATURE_FLUSH);
	disk_count++;
	register_block_device(block);
	pr_info("%s: virtio disk, %llu KB%s, queue of %u\n", disk->name,
		(unsigned long long)block->sectors / 2, block->read_only ? ", read-only" : "",
		disk->virtio.queue.size);
}

/* A disk that does not start stays allocated: its interrupt handler does, and the device may hold
 * its queue. */
static void add_disk(struct pci_device *pci)
{
	struct disk *disk;
	int error;

	if (disk_count == DISKS_MAX) {
		pr_err("virtio_blk: only %u disks are used\n", DISKS_MAX);
		return;
	}
	disk = kzalloc(sizeof(*disk), GFP_KERNEL);
	if (!disk) {
		pr_err("virtio_blk: no memory for a disk\n");
		return;
	}
	snprintf(disk->name, sizeof(disk->name), "vd%c", 'a' + disk_count);
	spin_lock_init(&disk->lock, "virtio_blk");
	INIT_LIST_HEAD(&disk->waiting);
	disk->broken = true; /* until it runs */
	error = start_disk(disk, pci);
	if (!error) {
		disk->broken = false;
		register_disk(disk);
	} else {
		pr_err("%s: error %d at start, the disk is not used\n", disk->name, -error);
		if (disk->virtio.common)
			virtio_fail(&disk->virtio);
	}
}

void virtio_blk_init(void)
{
	struct pci_device *pci = NULL;

	while ((pci = pci_next(pci)) != NULL)
		if (pci->vendor == VIRTIO_VENDOR &&
		    (pci->device == DEVICE_TRANSITIONAL || pci->device == DEVICE_MODERN))
			add_disk(pci);
}
