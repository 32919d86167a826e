/*
 * block.c - the registry of block devices, and requests. See block.h.
 *
 * Locks: devices_lock guards the list of devices, which only grows. Requests to different devices
 * share no lock.
 */
#include "fs/block/block.h"
#include "core/memory/slab.h"

static LIST_HEAD(devices);
static DEFINE_SPINLOCK(devices_lock);

void register_block_device(struct block_device *device)
{
	device->block_size = BLOCK_SIZE_DEFAULT;
	init_rwsem(&device->size_lock, "device->size_lock");
	guard(spinlock, &devices_lock);
	list_add_tail(&device->link, &devices);
}

struct block_device *next_block_device(struct block_device *previous)
{
	guard(spinlock, &devices_lock);
	struct list_head *next = previous ? previous->link.next : devices.next;

	if (next == &devices)
		return NULL;
	return list_entry(next, struct block_device, link);
}

struct block_device *find_block_device(const char *name, dev_t dev)
{
	struct block_device *device = NULL;

	if (name && strncmp(name, "/dev/", 5) == 0)
		name += 5;
	while ((device = next_block_device(device)) != NULL)
		if (name ? strcmp(device->name, name) == 0 : device->dev == dev)
			break;
	return device;
}

/* ---- requests -------------------------------------------------------------------------------- */

DEFINE_WAIT_QUEUE(block_wait);

/* For who finds no memory, so that what would free some can be written: one at a time goes on. */
static struct block_request reserve;
static unsigned long reserve_taken;

static struct block_request *request_get(struct block_device *device,
					 enum block_operation operation, sector_t sector)
{
	struct block_request *request;

	while (!(request = kmalloc(sizeof(*request), GFP_ATOMIC))) {
		if (!test_and_set_bit(0, &reserve_taken)) {
			request = &reserve;
			break;
		}
		sleep_ns(NSEC_PER_MSEC);
	}
	request->device = device;
	request->operation = operation;
	request->segment_count = 0;
	request->sector = sector;
	request->sectors = 0;
	request->status = 0;
	request->private = NULL;
	return request;
}

struct block_request *block_request_add(struct block_request *request, struct block_device *device,
					enum block_operation operation, sector_t sector, void *data,
					u32 length)
{
	struct block_segment *last =
		request ? &request->segments[request->segment_count - 1] : NULL;
	bool continues = request && request->device == device &&
			 sector == request->sector + request->sectors;

	if (continues && (char *)last->data + last->length == (char *)data) {
		last->length += length;
	} else {
		if (!continues || request->segment_count == BLOCK_MAX_SEGMENTS) {
			submit_block_request(request);
			request = request_get(device, operation, sector);
		}
		request->segments[request->segment_count++] = (struct block_segment){data, length};
	}
	request->sectors += length / SECTOR_SIZE;
	return request;
}

struct block_request *block_request_keep(struct block_request *request)
{
	if (request != &reserve)
		return request;
	submit_block_request(request);
	return NULL;
}

void submit_block_request(struct block_request *request)
{
	if (!request)
		return;
	struct block_device *device = request->device;

	if (likely(request->sector <= device->sectors &&
		   request->sectors <= device->sectors - request->sector &&
		   !(request->operation == BLOCK_WRITE && device->read_only))) {
		device->submit(device, request);
		return;
	}
	request->status = -EIO;
	request->done(request);
}

void block_request_end(struct block_request *request)
{
	static const char *const verbs[] = {"reading", "writing", [BLOCK_FLUSH] = "flushing"};
	static u64 next_ns;
	u64 now = request->status ? ktime_ns() : 0;

	if (unlikely(request->status && now >= next_ns)) {
		next_ns = now + NSEC_PER_SEC;
		pr_err("%s: I/O error %s sector %llu\n", request->device->name,
		       verbs[request->operation], (unsigned long long)request->sector);
	}
	if (request == &reserve)
		clear_bit(0, &reserve_taken);
	else
		kfree(request);
	wake_up(&block_wait);
}

/* ---- flushing -------------------------------------------------------------------------------- */

static void flush_done(struct block_request *request)
{
	int *result = request->private, status = request->status;

	smp_store_release(result, status ? status : 1);
	block_request_end(request);
}

int block_flush(struct block_device *device)
{
	s64 covered = atomic_read(&device->writes_done);
	int result = 0;

	if (covered == atomic_read(&device->writes_flushed))
		return 0;
	struct block_request *request = request_get(device, BLOCK_FLUSH, 0);
	request->done = flush_done;
	request->private = &result;
	submit_block_request(request);
	wait_event(block_wait, smp_load_acquire(&result) != 0);
	if (result > 0) /* another's may be newer: then one flush too many is to come */
		atomic_set(&device->writes_flushed, covered);
	return min(result, 0);
}
