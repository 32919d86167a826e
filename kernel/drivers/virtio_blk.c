/*
 * virtio_blk.c - disks of a virtual machine: /dev/vda, /dev/vdb ... in the order of the PCI scan.
 *
 * Virtio 1.0 ("modern") devices on PCI with one split queue. A request is a chain of descriptors:
 * header, data, status byte. The queue's descriptors are shared out among slots, as many to each as
 * the longest chain needs; a slot holds header and status of the request that it has in flight.
 * What finds no free slot waits in `waiting`, in order, until the interrupt has made room, so
 * submit never sleeps. Requests are completed by the interrupt, without the disk's lock. Source:
 * Virtual I/O Device (VIRTIO) Version 1.2, sections 2.7 (split virtqueues), 3.1 (start), 4.1 (PCI),
 * 5.2 (block devices).
 *
 * What the device writes is checked before use. A device that breaks the rules is given up: what is
 * in flight and what comes later ends with -EIO. Not done: a change of capacity, disks whose
 * sectors are not of 512 bytes, several queues.
 */
#include <arch/io.h>

#include "fs/block.h"
#include "kernel/drivers/drivers.h"
#include "kernel/drivers/pci.h"
#include "mm/slab.h"

enum { VENDOR = 0x1af4, DEVICE_TRANSITIONAL = 0x1001, DEVICE_MODERN = 0x1042 };
#define VIRTBLK_MAJOR 254 /* Linux takes the highest that is free */
#define MINORS_PER_DISK 16
#define DISKS_MAX 16

/* Vendor capabilities (4.1.4): which structure lies where. */
enum { CAP_COMMON = 1, CAP_NOTIFY, CAP_ISR, CAP_DEVICE, CAP_TYPES };
enum { CAP_TYPE = 3, CAP_BAR, CAP_OFFSET = 8, CAP_LENGTH = 12, CAP_NOTIFY_MULTIPLIER = 16 };

/* The common configuration (4.1.4.3). */
struct common_registers {
	u32 device_select, device_features, driver_select, driver_features;
	u16 config_vector, queue_count;
	u8 status, generation;
	u16 queue_select, queue_size, queue_vector, queue_enable, queue_notify;
	u32 descriptors[2], available[2], used[2];
};
#define NO_VECTOR 0xffff
enum { ACKNOWLEDGE = 1, DRIVER = 2, DRIVER_OK = 4, FEATURES_OK = 8, FAILED = 128 }; /* status */
#define RESET_POLLS 1000 /* of a millisecond */

/* The disk's configuration (5.2.4). */
struct disk_registers {
	u32 capacity[2];
	u32 size_max, seg_max, geometry, block_size;
};
enum { READ_ONLY = 1 << 5, BLOCK_SIZE = 1 << 6, FLUSH = 1 << 9 }; /* features */
enum { VERSION_1 = 1 };						  /* of their second word */

/* The queue (2.7). */
#define QUEUE_MAX 256
struct queue {
	struct descriptor {
		u64 address;
		u32 length;
		u16 flags, next;
	} descriptors[QUEUE_MAX];
	struct {
		u16 flags, index, ring[QUEUE_MAX + 1];
	} available;
	struct {
		_Alignas(4) u16 flags;
		u16 index;
		struct {
			u32 id, length;
		} ring[QUEUE_MAX];
	} used;
};
enum { DESCRIPTOR_NEXT = 1, DESCRIPTOR_WRITE = 2 /* by the device */, USED_NO_NOTIFY = 1 };

/* What a request needs beside its data, while it is in flight. */
struct slot {
	u32 type, reserved;
	u64 sector;
	u8 status;
	struct block_request *request;
	struct slot *next_free;
};
#define HEADER_BYTES 16
#define STATUS_NONE 0xff /* not written by the device; 0: well done */
#define PIECES_MAX (BLOCK_MAX_SEGMENTS + 2)
#define SLOTS_MAX (QUEUE_MAX / PIECES_MAX)

struct disk {
	struct block_device block;
	char name[8];
	struct pci_device pci;
	volatile struct common_registers *common;
	volatile struct disk_registers *registers;
	volatile u8 *isr;
	volatile u16 *notify;
	u32 features;
	bool msix;

	spinlock_t lock; /* all that follows */
	struct queue *queue;
	unsigned queue_size;		 /* a power of two */
	u16 available_index, used_index; /* of the next entry, free-running */
	struct slot slots[SLOTS_MAX], *free_slots;
	struct list_head waiting; /* requests for which there was no slot */
	bool broken;
};

static unsigned disk_count;

/* ---- requests -------------------------------------------------------------------------------- */

static void describe(struct descriptor *descriptor, const void *data, u32 length, unsigned flags)
{
	descriptor->address = virt_to_phys(data);
	descriptor->length = length;
	descriptor->flags = (u16)flags;
}

/* Put @request into the queue; false when there is no slot. Lock held. */
static bool enqueue(struct disk *disk, struct block_request *request)
{
	static const u32 types[] = {[BLOCK_READ] = 0, [BLOCK_WRITE] = 1, [BLOCK_FLUSH] = 4};
	unsigned flags = DESCRIPTOR_NEXT;
	struct queue *queue = disk->queue;
	struct slot *slot = disk->free_slots;
	struct descriptor *descriptor;

	if (!slot)
		return false;
	disk->free_slots = slot->next_free;
	slot->type = types[request->operation];
	slot->sector = request->operation == BLOCK_FLUSH ? 0 : request->sector;
	slot->status = STATUS_NONE;
	slot->request = request;
	descriptor = &queue->descriptors[(slot - disk->slots) * PIECES_MAX];
	queue->available.ring[disk->available_index++ & (disk->queue_size - 1)] =
		(u16)(descriptor - queue->descriptors);
	describe(descriptor++, slot, HEADER_BYTES, flags);
	if (request->operation == BLOCK_READ)
		flags |= DESCRIPTOR_WRITE;
	for (unsigned i = 0; i < request->segment_count; i++)
		describe(descriptor++, request->segments[i].data, request->segments[i].length,
			 flags);
	describe(descriptor, &slot->status, 1, DESCRIPTOR_WRITE);
	smp_store_release(&queue->available.index, disk->available_index);
	return true;
}

/* Tell the device of what was added. Without the lock: the register is slow, and a virtual machine
 * may hold this CPU up there. */
static void notify(struct disk *disk)
{
	/* the device looks at the index after it has set the flag, or sees our notification */
	smp_mb();
	if (!(READ_ONCE(disk->queue->used.flags) & USED_NO_NOTIFY))
		*disk->notify = 0;
}

static void disk_submit(struct block_device *device, struct block_request *request)
{
	struct disk *disk = device->driver;
	bool queued = false, at_once = !request->segment_count;
	unsigned long flags;

	if (request->operation == BLOCK_FLUSH)
		at_once = !(disk->features & FLUSH);
	spin_lock_irqsave(&disk->lock, flags);
	request->status = disk->broken ? -EIO : 0;
	at_once |= disk->broken;
	if (!at_once) {
		queued = list_empty(&disk->waiting) && enqueue(disk, request);
		if (!queued)
			list_add_tail(&request->link, &disk->waiting);
	}
	spin_unlock_irqrestore(&disk->lock, flags);
	if (queued)
		notify(disk);
	else if (at_once)
		request->done(request);
}

/* The request in @slot has ended. Lock held. */
static void finish_slot(struct disk *disk, struct slot *slot, struct list_head *finished)
{
	slot->request->status = READ_ONCE(slot->status) ? -EIO : 0;
	list_add_tail(&slot->request->link, finished);
	slot->request = NULL;
	slot->next_free = disk->free_slots;
	disk->free_slots = slot;
}

/* Move what the device is done with to @finished; false: it answers what it was not asked. Lock
 * held. */
static bool take_finished(struct disk *disk, struct list_head *finished)
{
	struct queue *queue = disk->queue;

	while (disk->used_index != smp_load_acquire(&queue->used.index)) {
		unsigned at = disk->used_index++ & (disk->queue_size - 1);
		u32 id = READ_ONCE(queue->used.ring[at].id), slot = id / PIECES_MAX;

		if (id % PIECES_MAX || slot >= SLOTS_MAX || !disk->slots[slot].request)
			return false;
		finish_slot(disk, &disk->slots[slot], finished);
	}
	return true;
}

/* A reset: the device forgets the queue, and gets no more of our memory to write to. */
static void fail(struct disk *disk)
{
	disk->broken = true;
	disk->common->status = 0;
	disk->common->status = FAILED;
}

/* The device broke the rules: end all that it has with an error. Lock held. */
static void give_up(struct disk *disk, struct list_head *finished)
{
	struct block_request *request;

	pr_err("%s: the device answers what it was not asked; it is not used any more\n",
	       disk->name);
	fail(disk);
	for (struct slot *slot = disk->slots; slot < disk->slots + SLOTS_MAX; slot++) {
		slot->status = STATUS_NONE;
		if (slot->request)
			finish_slot(disk, slot, finished);
	}
	list_for_each_entry (request, &disk->waiting, link)
		request->status = -EIO;
	list_splice_init(&disk->waiting, finished);
}

/* Put in what waits and fits; is the device to be told? Lock held. */
static bool start_waiting(struct disk *disk)
{
	bool any = false;

	while (!list_empty(&disk->waiting)) {
		struct block_request *request =
			list_first_entry(&disk->waiting, struct block_request, link);

		if (!disk->free_slots)
			break;
		list_del(&request->link);
		any = enqueue(disk, request);
	}
	return any;
}

static void disk_interrupt(void *argument)
{
	struct disk *disk = argument;
	struct block_request *request, *next;
	LIST_HEAD(finished);
	unsigned long flags;
	bool any = false;

	if (!disk->msix && !(*disk->isr & 1)) /* reading takes the line down */
		return;
	spin_lock_irqsave(&disk->lock, flags);
	if (!disk->broken) {
		if (likely(take_finished(disk, &finished)))
			any = start_waiting(disk);
		else
			give_up(disk, &finished);
	}
	spin_unlock_irqrestore(&disk->lock, flags);
	if (any)
		notify(disk);
	list_for_each_entry_safe (request, next, &finished, link)
		request->done(request);
}

/* ---- start: these return why the disk cannot be used, or NULL -------------------------------- */

static const char *map_registers(struct disk *disk)
{
	void *registers[CAP_TYPES] = {NULL};
	const struct pci_device *pci = &disk->pci;
	u32 multiplier = 0;

	for (unsigned at = 0; (at = pci_find_capability(pci, PCI_CAPABILITY_VENDOR, at)) != 0;) {
		unsigned type = pci_read8(pci, at + CAP_TYPE);

		if (type >= CAP_TYPES || registers[type])
			continue;
		registers[type] =
			pci_map(pci, pci_read8(pci, at + CAP_BAR), pci_read(pci, at + CAP_OFFSET),
				pci_read(pci, at + CAP_LENGTH));
		if (type == CAP_NOTIFY)
			multiplier = pci_read(pci, at + CAP_NOTIFY_MULTIPLIER);
	}
	for (unsigned type = CAP_COMMON; type < CAP_TYPES; type++)
		if (!registers[type])
			return "no virtio 1.0 registers (disable-modern=off)";
	disk->common = registers[CAP_COMMON];
	disk->isr = registers[CAP_ISR];
	disk->registers = registers[CAP_DEVICE];
	disk->common->queue_select = 0;
	disk->notify = registers[CAP_NOTIFY] + disk->common->queue_notify * multiplier;
	return NULL;
}

static const char *agree_on_features(struct disk *disk)
{
	volatile struct common_registers *common = disk->common;

	common->status = 0;
	for (unsigned polls = 0; common->status; polls++) {
		if (polls == RESET_POLLS)
			return "it does not reset";
		schedule_timeout_ns(NSEC_PER_MSEC);
	}
	common->status = ACKNOWLEDGE | DRIVER;
	common->device_select = 0;
	disk->features = common->device_features & (READ_ONLY | BLOCK_SIZE | FLUSH);
	common->driver_select = 0;
	common->driver_features = disk->features;
	common->driver_select = 1;
	common->driver_features = VERSION_1;
	common->status |= FEATURES_OK;
	if (!(common->status & FEATURES_OK))
		return "it does not accept our features";
	if (disk->features & BLOCK_SIZE && disk->registers->block_size != SECTOR_SIZE)
		return "its sectors are not of 512 bytes";
	return NULL;
}

static void set_address(volatile u32 registers[2], const void *memory)
{
	registers[0] = (u32)virt_to_phys(memory);
	registers[1] = (u32)(virt_to_phys(memory) >> 32);
}

static const char *start_queue(struct disk *disk)
{
	volatile struct common_registers *common = disk->common;
	struct queue *queue = kzalloc(sizeof(*queue), GFP_KERNEL);

	disk->queue = queue;
	disk->queue_size = min_t(unsigned, common->queue_size, QUEUE_MAX);
	if (disk->queue_size < PIECES_MAX)
		return "its queue is too short (queue-size=64)";
	if (!queue ||
	    pci_request_irq(&disk->pci, disk_interrupt, disk, disk->name, &disk->msix) < 0)
		return "no memory or no interrupt for it";
	for (unsigned i = 0; i < QUEUE_MAX; i++)
		queue->descriptors[i].next = (u16)(i + 1);
	for (unsigned i = 0; i < disk->queue_size / PIECES_MAX; i++) {
		disk->slots[i].next_free = disk->free_slots;
		disk->free_slots = &disk->slots[i];
	}
	common->config_vector = NO_VECTOR;
	common->queue_vector = disk->msix ? 0 : NO_VECTOR;
	if (disk->msix && common->queue_vector != 0)
		return "it takes no interrupt vector";
	common->queue_size = (u16)disk->queue_size;
	set_address(common->descriptors, queue->descriptors);
	set_address(common->available, &queue->available);
	set_address(common->used, &queue->used);
	common->queue_enable = 1;
	common->status |= DRIVER_OK;
	return NULL;
}

static void register_disk(struct disk *disk)
{
	volatile const u32 *capacity = disk->registers->capacity;

	disk->broken = false;
	disk->block = (struct block_device){
		.name = disk->name,
		.dev = MKDEV(VIRTBLK_MAJOR, disk_count++ * MINORS_PER_DISK),
		.sectors = capacity[0] | (u64)capacity[1] << 32,
		.read_only = disk->features & READ_ONLY,
		.submit = disk_submit,
		.driver = disk,
	};
	register_block_device(&disk->block);
	pr_info("%s: virtio disk, %llu KB%s, queue of %u\n", disk->name,
		(unsigned long long)disk->block.sectors / 2,
		disk->block.read_only ? ", read-only" : "", disk->queue_size);
}

/* A disk that does not start stays allocated: its interrupt handler does, and the device may hold
 * its queue. */
static void add_disk(const struct pci_device *pci)
{
	struct disk *disk;
	const char *reason;

	if (pci->vendor != VENDOR ||
	    (pci->device != DEVICE_TRANSITIONAL && pci->device != DEVICE_MODERN))
		return;
	disk = disk_count < DISKS_MAX ? kzalloc(sizeof(*disk), GFP_KERNEL) : NULL;
	if (!disk) {
		pr_err("virtio_blk: more than %u disks, or no memory for one\n", DISKS_MAX);
		return;
	}
	snprintf(disk->name, sizeof(disk->name), "vd%c", 'a' + disk_count);
	disk->pci = *pci;
	disk->broken = true; /* until it runs */
	spin_lock_init(&disk->lock, "virtio_blk");
	INIT_LIST_HEAD(&disk->waiting);
	pci_enable(pci);
	reason = map_registers(disk);
	reason = reason ?: agree_on_features(disk);
	reason = reason ?: start_queue(disk);
	if (!reason) {
		register_disk(disk);
		return;
	}
	pr_err("%s: cannot be used: %s\n", disk->name, reason);
	if (disk->common)
		fail(disk);
}

void virtio_blk_init(void)
{
	pci_scan(add_disk);
}
