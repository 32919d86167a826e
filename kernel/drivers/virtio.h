/*
 * virtio.h - what a virtio device is to its driver: features, its own configuration, and a queue.
 *
 * Virtio 1.0 ("modern") devices on PCI, one split queue with an interrupt of its own. Source:
 * Virtual I/O Device (VIRTIO) Version 1.2, sections 2.7 (split virtqueues), 3.1 (start), 4.1 (PCI).
 *
 * What the device writes (used entries, its configuration) is checked before use: a device that
 * breaks the rules is given up, it breaks nothing of ours. A virtio device can write all memory by
 * design, though.
 *
 * Locks: none here; the driver calls the virtqueue_ functions of one queue under one lock of its
 * own, with interrupts off.
 */
#pragma once

#include "kernel/core/types.h"
#include "kernel/drivers/pci.h"

#define VIRTIO_VENDOR 0x1af4
#define VIRTIO_QUEUE_MAX 256 /* descriptors that we use of a queue; 16 bytes each: one page */

#define VIRTIO_F_VERSION_1 32

struct virtqueue_descriptor {
	u64 address;
	u32 length;
	u16 flags, next;
};

struct virtqueue {
	unsigned size; /* descriptors: a power of two */
	unsigned free_count;
	u16 free_head;	     /* free descriptors are chained by `next` */
	u16 available_index; /* where the next chain goes, free-running */
	u16 used_index;	     /* of the next used entry, free-running */
	struct virtqueue_descriptor *descriptors;
	struct virtqueue_available *available;
	struct virtqueue_used *used;
	void *notify;  /* register */
	void **tokens; /* of a chain, by its first descriptor; NULL: not in flight */
};

struct virtio_device {
	struct pci_device *pci;
	u8 *common, *isr, *config;
	size_t config_length;
	u8 *notify;
	u32 notify_length, notify_multiplier;
	u64 features; /* agreed on */
	bool msix;
	struct virtqueue queue;
};

/*
 * Find @device's registers, reset it and agree on the features it has of @features. 0, -ENODEV (not
 * a modern device, or one that does not accept), -ENOMEM. Says in the log what is wrong. Sleeps.
 */
int virtio_start(struct virtio_device *device, struct pci_device *pci, u64 features);

/*
 * Make queue 0, let interrupt(argument) be called when something of it is used, and set the device
 * going. 0, -ENODEV, -ENOMEM, -ENOSPC. Sleeps.
 */
int virtio_start_queue(struct virtio_device *device, irq_handler_t interrupt, void *argument,
		       const char *name);

/* Give up: the device is told that it failed, and gets no more of our memory to write to. */
void virtio_fail(struct virtio_device *device);

/* In an interrupt handler: is this interrupt the device's? */
bool virtio_interrupted(struct virtio_device *device);

/* Fields of the device's own configuration, which may change while several are read: 0 past its
 * end. */
u32 virtio_config32(const struct virtio_device *device, unsigned offset);
u64 virtio_config64(const struct virtio_device *device, unsigned offset);

static inline bool virtio_has(const struct virtio_device *device, unsigned feature)
{
	return device->features >> feature & 1;
}

/*
 * Add a chain of @count pieces, those from @writable_from on written by the device, the others
 * read; @token (not NULL) comes back when it was used. The caller has seen that free_count is large
 * enough.
 */
struct virtio_piece {
	phys_addr_t address;
	u32 length;
};
void virtqueue_add(struct virtqueue *queue, const struct virtio_piece *pieces, unsigned count,
		   unsigned writable_from, void *token);

/* Tell the device of what was added. Needs no lock. */
void virtqueue_notify(struct virtqueue *queue);

/* The token of the next chain that the device is done with, or NULL. *broken is set when it broke
 * the rules. */
void *virtqueue_take(struct virtqueue *queue, bool *broken);
