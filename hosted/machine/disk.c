/*
 * disk.c - hosted: block devices whose sectors are memory. An asynchronous one completes its
 * requests later, in an order that disk_rng chooses, when the task sleeps; so every order of
 * completion can be met.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arch/cpu.h>

#include "hosted/machine/hosted.h"
#include "core/log/assert.h"
#include "core/base/err.h"
#include "core/base/list.h"

struct rng disk_rng = {7};

static unsigned char rubbish[MB(4)]; /* filled by disk_create() */
static LIST_HEAD(in_flight);
static unsigned in_flight_count;

static bool fails(struct hosted_disk *disk, const struct block_request *request, u64 sectors)
{
	unsigned one_in = request->operation == BLOCK_FLUSH ? disk->flush_fails_one_in
							    : disk->fail_one_in;

	if (disk->fail_sector >= request->sector && disk->fail_sector < request->sector + sectors)
		return true;
	return one_in && !rng_below(&disk_rng, one_in);
}

/* A write that fails leaves the sectors as they were, a read leaves rubbish in memory. */
static void transfer(struct hosted_disk *disk, struct block_request *request)
{
	unsigned char *at = disk->image + request->sector * SECTOR_SIZE;
	u64 sectors = 0;
	bool failed;

	for (unsigned i = 0; i < request->segment_count; i++)
		sectors += request->segments[i].length / SECTOR_SIZE;
	failed = fails(disk, request, sectors);
	for (unsigned i = 0; i < request->segment_count; i++) {
		struct block_segment *segment = &request->segments[i];

		BUG_ON(segment->length == 0 || segment->length % SECTOR_SIZE);
		BUG_ON(at + segment->length > disk->image + disk->bytes);
		if (request->operation == BLOCK_WRITE && !failed)
			memcpy(at, segment->data, segment->length);
		else if (request->operation == BLOCK_READ)
			memcpy(segment->data, failed ? rubbish : at, segment->length);
		at += segment->length;
	}
	request->status = failed ? -EIO : 0;
	disk->failed += failed;
	disk->reads += request->operation == BLOCK_READ;
	disk->writes += request->operation == BLOCK_WRITE;
	if (request->operation == BLOCK_WRITE)
		disk->sectors_written += sectors;
	disk->flushed = (request->operation == BLOCK_FLUSH && !failed) ||
			(disk->flushed && request->operation != BLOCK_WRITE);
	if (disk->done)
		disk->done(disk, request);
}

static void submit(struct block_device *device, struct block_request *request)
{
	struct hosted_disk *disk = device->driver;

	BUG_ON(request->operation != BLOCK_FLUSH && request->segment_count == 0);
	if (disk->submitted)
		disk->submitted(disk, request);
	if (disk->asynchronous) {
		list_add_tail(&request->link, &in_flight);
		in_flight_count++;
		while (!hosted_irqs_off && rng_below(&disk_rng, 3) == 0 && disk_complete_one())
			;
		return;
	}
	transfer(disk, request);
	request->done(request);
}

bool disk_complete_one(void)
{
	struct block_request *request;
	struct list_head *link = in_flight.next;
	bool irqs = hosted_irqs_off;

	if (!in_flight_count)
		return false;
	for (u64 n = rng_below(&disk_rng, in_flight_count); n; n--)
		link = link->next;
	request = list_entry(link, struct block_request, link);
	list_del(link);
	in_flight_count--;
	hosted_irqs_off = true;
	transfer(request->device->driver, request); /* as an interrupt: without a lock */
	request->done(request);
	hosted_irqs_off = irqs;
	return true;
}

void disk_create(struct hosted_disk *disk, const char *name, unsigned minor, size_t bytes)
{
	memset(disk, 0, sizeof(*disk));
	memset(rubbish, 0xee, sizeof(rubbish));
	disk->image = calloc(1, bytes);
	disk->bytes = bytes;
	disk->fail_sector = ~0ull;
	disk->device.name = name;
	disk->device.dev = MKDEV(1, minor);
	disk->device.sectors = bytes / SECTOR_SIZE;
	disk->device.submit = submit;
	disk->device.driver = disk;
	register_block_device(&disk->device);
}

int disk_load(struct hosted_disk *disk, const char *path)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = 0, total = 0;

	if (fd < 0)
		return -errno;
	memset(disk->image, 0, disk->bytes);
	while ((size_t)total < disk->bytes &&
	       (n = read(fd, disk->image + total, disk->bytes - (size_t)total)) > 0)
		total += n;
	close(fd);
	disk->device.sectors = (u64)total / SECTOR_SIZE;
	return n < 0 ? -errno : 0;
}

int disk_save(const struct hosted_disk *disk, const char *path, size_t bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	size_t total = 0;
	ssize_t n = 0;

	if (fd < 0)
		return -errno;
	while (total < bytes && (n = write(fd, disk->image + total, bytes - total)) > 0)
		total += (size_t)n;
	close(fd);
	return total == bytes ? 0 : -EIO;
}
