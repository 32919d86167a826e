/*
 * virtio_blk.c - disks of a virtual machine: /dev/vda, /dev/vdb ... in the order of the PCI scan.
 *
 * Virtio 1.0 ("modern") devices on PCI with MSI-X and one split queue. A request is a chain of
 * descriptors: header, data, status byte. The queue's descriptors are shared out among slots, as
 * many to each as the longest chain needs; a slot holds header and status of the request that it
 * has in flight. Who submits waits for a free slot. Requests are completed by the interrupt,
 * without the disk's lock.
 * Source: Virtual I/O Device (VIRTIO) Version 1.2, sections 2.7 (split virtqueues), 3.1 (start),
 * 4.1 (PCI), 5.2 (block devices).
 *
 * The device is trusted, as is all hardware. Not done: a change of capacity, several queues; of a
 * disk with larger sectors than 512 bytes what is not a multiple of them fails with -EIO.
 */
#include <arch/io.h>

#include "fs/block/block.h"
#include "kernel/drivers/drivers.h"
#include "core/memory/slab.h"

enum { ID_TRANSITIONAL = 0x10011af4, ID_MODERN = 0x10421af4 };
#define VIRTBLK_MAJOR 254 /* Linux takes the highest that is free */
#define MINORS_PER_DISK 16
#define DISKS_MAX 16

/* Vendor capabilities (4.1.4): which structure lies where. */
enum { CAP_COMMON = 1, CAP_NOTIFY, CAP_ISR, CAP_DEVICE, CAP_TYPES };
enum { CAP_TYPE = 3, CAP_BAR, CAP_OFFSET = 8, CAP_NOTIFY_MULTIPLIER = 16 };

/* The common configuration (4.1.4.3). */
struct common_registers {
	u32 device_select, device_features, driver_select, driver_features;
	u16 config_vector, queue_count;
	u8 status, generation;
	u16 queue_select, queue_size, queue_vector, queue_enable, queue_notify;
	u32 descriptors[2], available[2], used[2];
};
enum { ACKNOWLEDGE = 1, DRIVER = 2, DRIVER_OK = 4, FEATURES_OK = 8 }; /* status */

enum { READ_ONLY = 1 << 5, FLUSH = 1 << 9 }; /* features */
enum { VERSION_1 = 1 };			     /* of their second word */

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
enum { DESCRIPTOR_NEXT = 1, DESCRIPTOR_WRITE = 2 /* by the device */ };

#define HEADER_BYTES 16
#define PIECES_MAX (BLOCK_MAX_SEGMENTS + 2)
#define SLOTS_MAX (QUEUE_MAX / PIECES_MAX)

struct disk {
	struct block_device block;
	char name[8];
	volatile struct common_registers *common;
	volatile u32 *capacity; /* two words, in units of 512 bytes (5.2.4) */
	volatile u16 *notify;
	u32 features;

	spinlock_t lock; /* all that follows */
	struct queue *queue;
	unsigned queue_size;		 /* a power of two */
	u16 available_index, used_index; /* of the next entry, free-running */
	struct slot {
		u32 type, reserved;
		u64 sector;
		u8 status; /* 0: well done */
		struct block_request *request;
	} slots[SLOTS_MAX];
	unsigned free_slots; /* a bit for each */
};

static unsigned disk_count;

/* ---- requests -------------------------------------------------------------------------------- */

static void describe(struct descriptor *descriptor, const void *data, u32 length, unsigned flags)
{
	descriptor->address = virt_to_phys(data);
	descriptor->length = length;
	descriptor->flags = (u16)flags;
}

/* Put @request into the queue if there is a free slot: is there? */
static bool enqueue(struct disk *disk, struct block_request *request)
{
	unsigned flags = DESCRIPTOR_NEXT;
	struct queue *queue = disk->queue;

	guard(spinlock_irqsave, &disk->lock);
	if (!disk->free_slots)
		return false;
	unsigned index = (unsigned)__builtin_ctz(disk->free_slots), first = index * PIECES_MAX;
	struct descriptor *descriptor = &queue->descriptors[first];
	struct slot *slot = &disk->slots[index];

	disk->free_slots &= ~(1u << index);
	*slot = (struct slot){.type = request->operation,
			      .sector = request->sector,
			      .status = 0xff,
			      .request = request};
	describe(descriptor++, slot, HEADER_BYTES, flags);
	if (request->operation == BLOCK_READ)
		flags |= DESCRIPTOR_WRITE;
	for (unsigned i = 0; i < request->segment_count; i++)
		describe(descriptor++, request->segments[i].data, request->segments[i].length,
			 flags);
	describe(descriptor, &slot->status, 1, DESCRIPTOR_WRITE);
	queue->available.ring[disk->available_index++ & (disk->queue_size - 1)] = (u16)first;
	smp_store_release(&queue->available.index, disk->available_index);
	return true;
}

/* The device is told without the lock: the register is slow, and a virtual machine may hold this
 * CPU up there. */
static void disk_submit(struct block_device *device, struct block_request *request)
{
	struct disk *disk = device->driver;

	if (request->operation == BLOCK_FLUSH && !(disk->features & FLUSH)) {
		request->done(request);
		return;
	}
	wait_event(block_wait, enqueue(disk, request));
	*disk->notify = 0;
}

static void disk_interrupt(void *argument)
{
	struct disk *disk = argument;
	struct queue *queue = disk->queue;
	struct block_request *request, *next;
	LIST_HEAD(finished);

	spin_lock(&disk->lock);
	while (disk->used_index != smp_load_acquire(&queue->used.index)) {
		unsigned at = disk->used_index++ & (disk->queue_size - 1);
		unsigned index = queue->used.ring[at].id / PIECES_MAX;
		struct slot *slot = &disk->slots[index];

		ASSERT(index < SLOTS_MAX && !(disk->free_slots & 1u << index));
		slot->request->status = READ_ONCE(slot->status) ? -EIO : 0;
		list_add_tail(&slot->request->link, &finished);
		disk->free_slots |= 1u << index;
	}
	spin_unlock(&disk->lock);
	list_for_each_entry_safe (request, next, &finished, link)
		request->done(request);
}

/* ---- PCI -------------------------------------------------------------------------------------
 *
 * Configuration space by ports 0xcf8 and 0xcfc. All of it is for start-up, by one CPU, so there is
 * no lock. The firmware has assigned BARs and bus numbers; a BAR or bridge that it left alone is
 * not used. A function of a device is known by its place in configuration space: bus << 16 |
 * slot << 11 | number << 8. Source: PCI Local Bus Specification 3.0, chapter 6; configuration
 * mechanism #1, section 3.2.2.3.2.
 */

#define CONFIG_ADDRESS 0xcf8
#define CONFIG_DATA 0xcfc
#define CONFIG_ENABLE (1u << 31)

/* Registers of every function's header, and of a bridge's. The upper half of COMMAND is the status.
 */
enum { PCI_ID = 0x00, PCI_COMMAND = 0x04, PCI_HEADER_TYPE = 0x0e, PCI_BAR = 0x10 };
enum { PCI_SECONDARY_BUS = 0x19, PCI_CAPABILITIES = 0x34 };
enum { COMMAND_MEMORY = 2, COMMAND_MASTER = 4, COMMAND_NO_INTX = 0x400 };
enum { HEADER_BRIDGE = 1, BAR_64 = 4 };
enum { CAPABILITY_VENDOR = 0x09, CAPABILITY_MSIX = 0x11 };

/* MSI-X: the capability's first register (id, next, control), and where it tells of the table. */
#define MSIX_ENABLE (1u << 31)
#define MSIX_MASK_ALL (1u << 30)
enum { MSIX_TABLE = 4 };

/* The 32-bit register at @offset of the configuration space, a multiple of 4 below 256. */
static u32 pci_read(u32 function, unsigned offset)
{
	outl(CONFIG_ENABLE | function | offset, CONFIG_ADDRESS);
	return inl(CONFIG_DATA);
}

/* One byte of it. */
static u8 pci_read8(u32 function, unsigned offset)
{
	return (u8)(pci_read(function, offset & ~3u) >> (offset & 3) * 8);
}

static void pci_write(u32 function, unsigned offset, u32 value)
{
	outl(CONFIG_ENABLE | function | offset, CONFIG_ADDRESS);
	outl(value, CONFIG_DATA);
}

/* What lies at @offset of memory BAR @bar, a page of it. */
static void *pci_map(u32 function, unsigned bar, u32 offset)
{
	u32 low = pci_read(function, PCI_BAR + 4 * bar);
	u64 high = low & BAR_64 ? pci_read(function, PCI_BAR + 4 * bar + 4) : 0;

	return map_device((high << 32 | (low & ~15u)) + offset, PAGE_SIZE);
}

/* ---- start: these return why the disk cannot be used, or NULL -------------------------------- */

/* Find and map its registers, and have it interrupt by entry 0 of its MSI-X table. */
static const char *take_device(struct disk *disk, u32 function)
{
	u32 command = pci_read(function, PCI_COMMAND) & 0xffff; /* ones would clear the status */
	void *registers[CAP_TYPES] = {NULL};
	u32 multiplier = 0, msix = 0;

	pci_write(function, PCI_COMMAND,
		  command | COMMAND_MEMORY | COMMAND_MASTER | COMMAND_NO_INTX);
	for (unsigned at = pci_read8(function, PCI_CAPABILITIES); at;
	     at = pci_read8(function, at + 1)) {
		u8 id = pci_read8(function, at), type = pci_read8(function, at + CAP_TYPE);

		if (id == CAPABILITY_MSIX)
			msix = at;
		if (id != CAPABILITY_VENDOR || type >= CAP_TYPES || registers[type])
			continue;
		registers[type] = pci_map(function, pci_read8(function, at + CAP_BAR),
					  pci_read(function, at + CAP_OFFSET));
		if (type == CAP_NOTIFY)
			multiplier = pci_read(function, at + CAP_NOTIFY_MULTIPLIER);
	}
	if (!registers[CAP_COMMON] || !registers[CAP_NOTIFY] || !registers[CAP_DEVICE])
		return "no virtio 1.0 registers (disable-modern=off)";
	disk->common = registers[CAP_COMMON];
	disk->capacity = registers[CAP_DEVICE];
	disk->common->queue_select = 0;
	disk->notify = registers[CAP_NOTIFY] + disk->common->queue_notify * multiplier;
	if (!msix)
		return "it has no message-signalled interrupts (vectors=2)";
	u32 table = pci_read(function, msix + MSIX_TABLE);
	u32 *entry = pci_map(function, table & 7, table & ~7u);
	struct irq_message message = irq_request_message(disk_interrupt, disk);

	writel(message.address, entry);
	writel(0, entry + 1);
	writel(message.data, entry + 2);
	writel(0, entry + 3); /* not masked */
	pci_write(function, msix, (pci_read(function, msix) | MSIX_ENABLE) & ~MSIX_MASK_ALL);
	return NULL;
}

static void set_address(volatile u32 registers[2], const void *memory)
{
	registers[0] = (u32)virt_to_phys(memory);
	registers[1] = (u32)(virt_to_phys(memory) >> 32);
}

static const char *start(struct disk *disk)
{
	volatile struct common_registers *common = disk->common;
	struct queue *queue = kzalloc(sizeof(*queue), GFP_KERNEL);

	common->status = 0;
	while (common->status) /* the reset goes on */
		schedule();
	common->status = ACKNOWLEDGE | DRIVER;
	common->device_select = 0;
	disk->features = common->device_features & (READ_ONLY | FLUSH);
	common->driver_select = 0;
	common->driver_features = disk->features;
	common->driver_select = 1;
	common->driver_features = VERSION_1;
	common->status |= FEATURES_OK;
	disk->queue = queue;
	disk->queue_size = min_t(unsigned, common->queue_size, QUEUE_MAX);
	if (!queue || disk->queue_size < PIECES_MAX)
		return "its queue is too short (queue-size=64), or no memory for it";
	for (unsigned i = 0; i < QUEUE_MAX; i++)
		queue->descriptors[i].next = (u16)(i + 1);
	disk->free_slots = (1u << disk->queue_size / PIECES_MAX) - 1;
	common->queue_vector = 0;
	common->queue_size = (u16)disk->queue_size;
	set_address(common->descriptors, queue->descriptors);
	set_address(common->available, &queue->available);
	set_address(common->used, &queue->used);
	common->queue_enable = 1;
	common->status |= DRIVER_OK;
	return NULL;
}

/* A disk that does not start stays allocated: its interrupt handler does, and the device may hold
 * its queue. */
static void add_disk(u32 function, u32 id)
{
	if (id != ID_TRANSITIONAL && id != ID_MODERN)
		return;
	struct disk *disk = disk_count < DISKS_MAX ? kzalloc(sizeof(*disk), GFP_KERNEL) : NULL;

	if (!disk) {
		pr_err("virtio_blk: more than %u disks, or no memory for one\n", DISKS_MAX);
		return;
	}
	snprintf(disk->name, sizeof(disk->name), "vd%c", 'a' + disk_count);
	spin_lock_init(&disk->lock, "virtio_blk");
	const char *reason = take_device(disk, function) ?: start(disk);

	if (reason) {
		pr_err("%s: cannot be used: %s\n", disk->name, reason);
		return;
	}
	disk->block = (struct block_device){
		.name = disk->name,
		.dev = MKDEV(VIRTBLK_MAJOR, disk_count * MINORS_PER_DISK),
		.sectors = disk->capacity[0] | (u64)disk->capacity[1] << 32,
		.read_only = disk->features & READ_ONLY,
		.submit = disk_submit,
		.driver = disk,
	};
	disk_count++;
	register_block_device(&disk->block);
	pr_info("%s: virtio disk, %llu KB%s, queue of %u\n", disk->name, disk->block.sectors / 2,
		disk->block.read_only ? ", read-only" : "", disk->queue_size);
}

/* A function that is not there reads as ones. */
void virtio_blk_init(void)
{
	u32 last_bus = 0; /* that a bridge has been seen to lead to */

	for (u32 function = 0; function >> 16 <= last_bus; function += 1 << 8) {
		add_disk(function, pci_read(function, PCI_ID));
		if ((pci_read8(function, PCI_HEADER_TYPE) & 0x7f) == HEADER_BRIDGE)
			last_bus = max(last_bus, (u32)pci_read8(function, PCI_SECONDARY_BUS));
	}
}
