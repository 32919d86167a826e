/*
 * block.h - block devices: what a driver offers and how the caches ask for I/O.
 *
 * A request names consecutive sectors and the memory (up to BLOCK_MAX_SEGMENTS physically
 * contiguous pieces); the driver completes it by calling done(), from its interrupt or within
 * submit, in any order. Several may be in flight. There is no queue between: the callers (buffer.c,
 * buffer_page.c) put blocks that continue each other into one request before they submit it, and
 * write-back submits in block order, so a RAM disk pays for no elevator that it does not need.
 * A request comes out of the last reserve of memory, so write-back under memory pressure goes on.
 *
 * A device belongs to one file system at a time. Its block size is the unit of the buffer cache on
 * it, and of reads and writes of /dev/NAME, which go through the buffer cache as in Linux 2.2 and
 * so see what a mounted file system has not yet written.
 */
#pragma once

#include "core/kernel.h"

#define SECTOR_SIZE 512
#define BLOCK_MAX_SEGMENTS 32
#define BLOCK_SIZE_DEFAULT 1024 /* of a device without a file system, as in Linux 2.2 */

enum block_operation { BLOCK_READ, BLOCK_WRITE, BLOCK_FLUSH = 4 }; /* virtio's numbers */

struct block_segment {
	void *data; /* direct-map address */
	u32 length; /* bytes, a multiple of SECTOR_SIZE */
};

struct block_request {
	struct block_device *device;
	enum block_operation operation;
	unsigned segment_count;
	sector_t sector;
	u64 sectors;				     /* of all segments */
	int status;				     /* 0 or -EIO, set by the driver */
	void (*done)(struct block_request *request); /* interrupt context, or the submitter's */
	void *private;				     /* the submitter's */
	struct list_head link;			     /* the driver's while in flight */
	struct block_segment segments[BLOCK_MAX_SEGMENTS];
};

struct block_device {
	const char *name; /* "vda" */
	dev_t dev;
	u64 sectors;
	bool read_only;
	/* Start @request; never fails synchronously: errors come through done(). May sleep if the
	 * queue is full. */
	void (*submit)(struct block_device *device, struct block_request *request);
	void *driver;
	unsigned block_size; /* set by register_block_device() and set_block_size() */
	struct rw_semaphore size_lock; /* held by who reads or writes the device as a file */
	struct list_head link;
	/* How many writes have failed, and of how many somebody was told: block_take_error(). */
	atomic_t write_errors;
	int errors_told;
	atomic64_t writes_done, writes_flushed; /* writes completed; those before the last flush */
};

/* -EIO, once, if a write of the buffer cache has failed of which nobody was told; else 0. */
int block_take_error(struct block_device *device);

/* Make @device known; /dev/NAME exists from now on. Devices do not go away. */
void register_block_device(struct block_device *device);
/* By @name, "vda" or "/dev/vda", or if that is NULL by number; NULL. */
struct block_device *find_block_device(const char *name, dev_t dev);
/* The device after @previous (NULL: the first) in order of registration, or NULL. */
struct block_device *next_block_device(struct block_device *previous);

/*
 * Append memory for the sectors from @sector on to @request; if they do not continue it, it is full
 * or NULL, it is submitted and a new one begun, with private NULL: the request that they are in
 * now. The caller sets done. Sleeps.
 */
struct block_request *block_request_add(struct block_request *request, struct block_device *device,
					enum block_operation operation, sector_t sector, void *data,
					u32 length);
/* What was gathered, if it may be kept while its gatherer waits for other reads. NULL: it is the
 * one request that there is without memory, which they may need, and has been submitted. */
struct block_request *block_request_keep(struct block_request *request);
/*
 * Check a filled-in request (NULL: none) against the device and start it. One that does not fit
 * (past the end, writing to a read-only device) is completed with -EIO at once.
 */
void submit_block_request(struct block_request *request);
/* Once it is done: a line in the log about a failure (one a second), and free it. Any context. */
void block_request_end(struct block_request *request);

/* Woken whenever a request has ended: for all who wait for I/O. */
extern wait_queue_head_t block_wait;

/* The device's own write cache, if anything was written since it was flushed: 0 or -EIO. */
int block_flush(struct block_device *device);
