/*
 * block.h - block devices: what a driver offers and how the caches ask for I/O.
 *
 * A request names consecutive sectors and the memory (up to BLOCK_MAX_SEGMENTS physically contiguous
 * pieces); the driver completes it from its interrupt by calling done(), in any order. Several may be in
 * flight. The elevator is in fs/block.c: requests that continue each other are merged while queued.
 */
#ifndef FS_BLOCK_H
#define FS_BLOCK_H

#include "kernel/core/list.h"
#include "kernel/core/types.h"
#include "mm/page_cache.h"

#define SECTOR_SIZE 512
#define BLOCK_MAX_SEGMENTS 32

enum block_operation { BLOCK_READ, BLOCK_WRITE, BLOCK_FLUSH };

struct block_segment {
	void *data; /* direct-map address */
	u32 length; /* bytes, a multiple of SECTOR_SIZE */
};

struct block_request {
	enum block_operation operation;
	sector_t sector;
	unsigned segment_count;
	struct block_segment segments[BLOCK_MAX_SEGMENTS];
	int status;					/* 0 or -EIO, set by the driver */
	void (*done)(struct block_request *request);	/* interrupt context, or the submitter's */
	void *private;					/* the submitter's */
	struct list_head link;				/* the driver's while in flight */
};

struct block_device {
	const char *name; /* "vda" */
	dev_t dev;
	u64 sectors;
	bool read_only;
	/* Start @request; never fails synchronously: errors come through done(). May sleep if the queue is full. */
	void (*submit)(struct block_device *device, struct block_request *request);
	void *driver;
	unsigned block_size; /* of the file system on it; the buffer cache's unit */
	struct inode *inode; /* its pages (reads and writes of /dev/vda) */
	struct list_head link;
};

void register_block_device(struct block_device *device); /* makes /dev/NAME */
struct block_device *find_block_device(const char *name); /* "vda" or "/dev/vda"; NULL */
struct block_device *find_block_device_by_number(dev_t dev);
/* Read or write synchronously; 0, -EIO or -EINVAL past the end. Sleeps. */
int block_io(struct block_device *device, enum block_operation operation, sector_t sector, void *data, size_t bytes);
int block_flush(struct block_device *device);

#endif /* FS_BLOCK_H */
