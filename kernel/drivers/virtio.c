/*
 * virtio.c - virtio devices on PCI: finding their registers, starting them, and the split queue.
 * See virtio.h.
 */
#include "kernel/drivers/virtio.h"

#include <arch/io.h>
#include <arch/page.h>

#include "kernel/core/atomic.h"
#include "kernel/core/bitops.h"
#include "kernel/core/errno.h"
#include "kernel/core/printk.h"
#include "kernel/core/sched.h"
#include "mm/page_alloc.h"
#include "mm/slab.h"

/* Vendor capabilities (4.1.4): which structure lies where. */
enum { CAP_COMMON = 1, CAP_NOTIFY = 2, CAP_ISR = 3, CAP_DEVICE = 4 };
#define CAP_TYPE 3
#define CAP_BAR 4
#define CAP_OFFSET 8
#define CAP_LENGTH 12
#define CAP_NOTIFY_MULTIPLIER 16

/* The common configuration (4.1.4.3). */
#define COMMON_DEVICE_SELECT 0
#define COMMON_DEVICE_FEATURES 4
#define COMMON_DRIVER_SELECT 8
#define COMMON_DRIVER_FEATURES 12
#define COMMON_CONFIG_VECTOR 16
#define COMMON_STATUS 20
#define COMMON_GENERATION 21
#define COMMON_QUEUE_SELECT 22
#define COMMON_QUEUE_SIZE 24
#define COMMON_QUEUE_VECTOR 26
#define COMMON_QUEUE_ENABLE 28
#define COMMON_QUEUE_NOTIFY 30
#define COMMON_QUEUE_DESCRIPTORS 32
#define COMMON_QUEUE_DRIVER 40
#define COMMON_QUEUE_DEVICE 48
#define COMMON_LENGTH 56
#define NO_VECTOR 0xffff

#define STATUS_ACKNOWLEDGE 1
#define STATUS_DRIVER 2
#define STATUS_DRIVER_OK 4
#define STATUS_FEATURES_OK 8
#define STATUS_FAILED 128
#define CONFIG_TRIES 100
#define RESET_POLLS 1000 /* of a millisecond */

#define DESCRIPTOR_NEXT 1
#define DESCRIPTOR_WRITE 2
#define USED_NO_NOTIFY 1

struct virtqueue_available {
	u16 flags, index;
	u16 ring[];
};

struct virtqueue_used {
	u16 flags, index;
	struct {
		u32 id, length;
	} ring[];
};

/* One block of two pages: descriptors, then both rings. */
#define QUEUE_ORDER 1
#define USED_OFFSET 1024
_Static_assert(sizeof(struct virtqueue_descriptor) * VIRTIO_QUEUE_MAX <= (1 << PAGE_SHIFT),
	       "one page");
_Static_assert(sizeof(struct virtqueue_available) + 2 * VIRTIO_QUEUE_MAX + 2 <= USED_OFFSET,
	       "before the other");

/* ---- registers ------------------------------------------------------------------------------- */

static bool map_capabilities(struct virtio_device *device)
{
	struct pci_device *pci = device->pci;
	unsigned at = 0;

	for (unsigned i = 0;
	     i < 48 && (at = pci_find_capability(pci, PCI_CAPABILITY_VENDOR, at)) != 0; i++) {
		u32 offset = pci_read32(pci, at + CAP_OFFSET),
		    length = pci_read32(pci, at + CAP_LENGTH);
		unsigned type = pci_read8(pci, at + CAP_TYPE), bar = pci_read8(pci, at + CAP_BAR);
		u8 *registers = type >= CAP_COMMON && type <= CAP_DEVICE
					? pci_map(pci, bar, offset, length)
					: NULL;

		if (!registers)
			continue;
		if (type == CAP_COMMON && !device->common && length >= COMMON_LENGTH) {
			device->common = registers;
		} else if (type == CAP_ISR && !device->isr && length) {
			device->isr = registers;
		} else if (type == CAP_DEVICE && !device->config) {
			device->config = registers;
			device->config_length = length;
		} else if (type == CAP_NOTIFY && !device->notify) {
			device->notify = registers;
			device->notify_length = length;
			device->notify_multiplier = pci_read32(pci, at + CAP_NOTIFY_MULTIPLIER);
		}
	}
	return device->common && device->isr && device->notify;
}

static void add_status(struct virtio_device *device, u8 bits)
{
	writeb(readb(device->common + COMMON_STATUS) | bits, device->common + COMMON_STATUS);
}

static bool reset(struct virtio_device *device)
{
	unsigned polls = 0;

	writeb(0, device->common + COMMON_STATUS);
	while (readb(device->common + COMMON_STATUS) && ++polls < RESET_POLLS)
		schedule_timeout_ns(1000000);
	return polls < RESET_POLLS;
}

static bool agree(struct virtio_device *device, u64 features)
{
	u64 offered;

	writel(0, device->common + COMMON_DEVICE_SELECT);
	offered = readl(device->common + COMMON_DEVICE_FEATURES);
	writel(1, device->common + COMMON_DEVICE_SELECT);
	offered |= (u64)readl(device->common + COMMON_DEVICE_FEATURES) << 32;
	device->features = offered & (features | 1ULL << VIRTIO_F_VERSION_1);
	writel(0, device->common + COMMON_DRIVER_SELECT);
	writel((u32)device->features, device->common + COMMON_DRIVER_FEATURES);
	writel(1, device->common + COMMON_DRIVER_SELECT);
	writel((u32)(device->features >> 32), device->common + COMMON_DRIVER_FEATURES);
	add_status(device, STATUS_FEATURES_OK);
	return virtio_has(device, VIRTIO_F_VERSION_1) &&
	       readb(device->common + COMMON_STATUS) & STATUS_FEATURES_OK;
}

int virtio_start(struct virtio_device *device, struct pci_device *pci, u64 features)
{
	const char *wrong = NULL;

	device->pci = pci;
	if (!map_capabilities(device)) {
		pr_err("virtio %02x:%02x.%u: no virtio 1.0 registers (disable-modern=off)\n",
		       pci->bus, pci->slot, pci->function);
		return -ENODEV;
	}
	pci_enable(pci);
	if (!reset(device)) {
		wrong = "does not reset";
	} else {
		add_status(device, STATUS_ACKNOWLEDGE);
		add_status(device, STATUS_DRIVER);
		if (!agree(device, features))
			wrong = "does not accept our features";
	}
	if (!wrong)
		return 0;
	pr_err("virtio %02x:%02x.%u: the device %s\n", pci->bus, pci->slot, pci->function, wrong);
	virtio_fail(device);
	return -ENODEV;
}

void virtio_fail(struct virtio_device *device)
{
	writeb(0, device->common + COMMON_STATUS); /* a reset: it forgets the queue */
	add_status(device, STATUS_FAILED);
}

bool virtio_interrupted(struct virtio_device *device)
{
	return device->msix || readb(device->isr) & 1; /* reading takes the line down */
}

u32 virtio_config32(const struct virtio_device *device, unsigned offset)
{
	return offset + 4 <= device->config_length ? readl(device->config + offset) : 0;
}

u64 virtio_config64(const struct virtio_device *device, unsigned offset)
{
	u64 value = 0;

	for (unsigned tries = 0; tries < CONFIG_TRIES; tries++) {
		u8 generation = readb(device->common + COMMON_GENERATION);

		value = virtio_config32(device, offset) | (u64)virtio_config32(device, offset + 4)
								  << 32;
		if (generation == readb(device->common + COMMON_GENERATION))
			break;
	}
	return value;
}

/* ---- the queue ------------------------------------------------------------------------------- */

static int allocate_queue(struct virtqueue *queue, unsigned size)
{
	u8 *memory = get_free_pages(GFP_KERNEL | GFP_ZERO, QUEUE_ORDER);

	queue->tokens = kzalloc(size * sizeof(*queue->tokens), GFP_KERNEL);
	if (!memory || !queue->tokens) {
		if (memory)
			free_pages(memory, QUEUE_ORDER);
		kfree(queue->tokens);
		return -ENOMEM;
	}
	queue->size = queue->free_count = size;
	queue->descriptors = (void *)memory;
	queue->available = (void *)(memory + PAGE_SIZE);
	queue->used = (void *)(memory + PAGE_SIZE + USED_OFFSET);
	for (unsigned i = 0; i + 1 < size; i++)
		queue->descriptors[i].next = (u16)(i + 1);
	return 0;
}

static void write_address(phys_addr_t address, u8 *reg)
{
	writel((u32)address, reg);
	writel((u32)(address >> 32), reg + 4);
}

int virtio_start_queue(struct virtio_device *device, irq_handler_t interrupt, void *argument,
		       const char *name)
{
	struct virtqueue *queue = &device->queue;
	u8 *common = device->common;
	u64 notify;
	unsigned size;
	int error;

	writew(0, common + COMMON_QUEUE_SELECT);
	size = min_t(unsigned, readw(common + COMMON_QUEUE_SIZE), VIRTIO_QUEUE_MAX);
	notify = (u64)readw(common + COMMON_QUEUE_NOTIFY) * device->notify_multiplier;
	if (!size || notify + 2 > device->notify_length)
		return -ENODEV;
	queue->notify = device->notify + notify;
	error = allocate_queue(queue, 1u << (fls(size) - 1));
	if (!error)
		error = pci_request_irq(device->pci, interrupt, argument, name, &device->msix);
	if (error)
		return error;
	writew(NO_VECTOR, common + COMMON_CONFIG_VECTOR);
	writew(device->msix ? 0 : NO_VECTOR, common + COMMON_QUEUE_VECTOR);
	if (device->msix && readw(common + COMMON_QUEUE_VECTOR) != 0)
		return -ENODEV;
	writew((u16)queue->size, common + COMMON_QUEUE_SIZE);
	write_address(virt_to_phys(queue->descriptors), common + COMMON_QUEUE_DESCRIPTORS);
	write_address(virt_to_phys(queue->available), common + COMMON_QUEUE_DRIVER);
	write_address(virt_to_phys(queue->used), common + COMMON_QUEUE_DEVICE);
	writew(1, common + COMMON_QUEUE_ENABLE);
	add_status(device, STATUS_DRIVER_OK);
	return 0;
}

void virtqueue_add(struct virtqueue *queue, const struct virtio_piece *pieces, unsigned count,
		   unsigned writable_from, void *token)
{
	struct virtqueue_descriptor *descriptor = NULL;
	u16 head = queue->free_head, at = head;

	for (unsigned i = 0; i < count; i++) {
		descriptor = &queue->descriptors[at];
		descriptor->address = pieces[i].address;
		descriptor->length = pieces[i].length;
		descriptor->flags = DESCRIPTOR_NEXT | (i >= writable_from ? DESCRIPTOR_WRITE : 0);
		at = descriptor->next;
	}
	descriptor->flags &= (u16)~DESCRIPTOR_NEXT;
	queue->free_head = at;
	queue->free_count -= count;
	queue->tokens[head] = token;
	queue->available->ring[queue->available_index++ & (queue->size - 1)] = head;
	smp_store_release(&queue->available->index, queue->available_index);
}

void virtqueue_notify(struct virtqueue *queue)
{
	/* the device looks at the index after it has set the flag, or sees our notification */
	smp_mb();
	if (!(READ_ONCE(queue->used->flags) & USED_NO_NOTIFY))
		writew(0, queue->notify);
}

/* Put the chain at @head in front of the free descriptors. */
static void free_chain(struct virtqueue *queue, u16 head)
{
	unsigned count = 1;
	u16 at = head;

	while (queue->descriptors[at].flags & DESCRIPTOR_NEXT && count < queue->size) {
		at = queue->descriptors[at].next & (queue->size - 1);
		count++;
	}
	queue->descriptors[at].next = queue->free_head;
	queue->free_head = head;
	queue->free_count += count;
}

void *virtqueue_take(struct virtqueue *queue, bool *broken)
{
	void *token;
	u32 head;

	if (queue->used_index == smp_load_acquire(&queue->used->index))
		return NULL;
	head = READ_ONCE(queue->used->ring[queue->used_index++ & (queue->size - 1)].id);
	token = head < queue->size ? queue->tokens[head] : NULL;
	if (!token) {
		*broken = true;
		return NULL;
	}
	queue->tokens[head] = NULL;
	free_chain(queue, (u16)head);
	return token;
}
