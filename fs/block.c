/*
 * block.c - the registry of block devices, requests, and synchronous I/O. See block.h.
 *
 * Locks: devices_lock guards the list of devices, which only grows. Requests to different devices
 * share no lock: they come from a slab, whose free objects lie with the CPUs.
 */
#include "fs/block.h"

#include "fs/buffer.h"
#include "mm/slab.h"

#define RESERVE 4 /* requests for when memory is gone */

static LIST_HEAD(devices);
static DEFINE_SPINLOCK(devices_lock);

void register_block_device(struct block_device *device)
{
	device->block_size = BLOCK_SIZE_DEFAULT;
	atomic_set(&device->writes_in_flight, 0);
	device->write_error = 0;
	spin_lock(&devices_lock);
	list_add_tail(&device->link, &devices);
	spin_unlock(&devices_lock);
}

struct block_device *next_block_device(struct block_device *previous)
{
	struct list_head *next;

	spin_lock(&devices_lock);
	next = previous ? previous->link.next : devices.next;
	spin_unlock(&devices_lock);
	return next == &devices ? NULL : list_entry(next, struct block_device, link);
}

struct block_device *find_block_device(const char *name)
{
	struct block_device *device = NULL;

	if (strncmp(name, "/dev/", 5) == 0)
		name += 5;
	while ((device = next_block_device(device)) != NULL)
		if (strcmp(device->name, name) == 0)
			break;
	return device;
}

struct block_device *find_block_device_by_number(dev_t dev)
{
	struct block_device *device = NULL;

	while ((device = next_block_device(device)) != NULL)
		if (device->dev == dev)
			break;
	return device;
}

int set_block_size(struct block_device *device, unsigned size)
{
	int error;

	if (size < SECTOR_SIZE || size > PAGE_SIZE || (size & (size - 1)))
		return -EINVAL;
	if (device->block_size == size)
		return 0;
	error = sync_buffers(device, true);
	invalidate_buffers(device);
	device->block_size = size;
	return error;
}

/* ---- requests -------------------------------------------------------------------------------- */

static struct kmem_cache *request_slab;
static struct block_request reserve[RESERVE];
static unsigned long reserve_used; /* a bit for each */
static DEFINE_WAIT_QUEUE(reserve_wait);

static struct block_request *take_reserve(void)
{
	for (unsigned i = 0; i < RESERVE; i++)
		if (!test_and_set_bit(i, &reserve_used))
			return &reserve[i];
	return NULL;
}

struct block_request *block_request_get(enum block_operation operation, sector_t sector,
					void (*done)(struct block_request *))
{
	struct block_request *request =
		kmem_cache_alloc(request_slab, GFP_KERNEL | GFP_NOIO | GFP_NOWARN);

	if (unlikely(!request))
		wait_event(reserve_wait, (request = take_reserve()) != NULL);
	request->operation = operation;
	request->segment_count = 0;
	request->sector = sector;
	request->status = 0;
	request->done = done;
	return request;
}

void block_request_put(struct block_request *request)
{
	if (likely(request < reserve || request >= reserve + RESERVE)) {
		kmem_cache_free(request_slab, request);
		return;
	}
	clear_bit(request - reserve, &reserve_used);
	wake_up(&reserve_wait);
}

void submit_block_request(struct block_device *device, struct block_request *request)
{
	u64 sectors = block_request_sectors(request);

	if (unlikely(request->sector > device->sectors ||
		     sectors > device->sectors - request->sector ||
		     (request->operation == BLOCK_WRITE && device->read_only))) {
		request->status = -EIO;
		request->done(request);
		return;
	}
	device->submit(device, request);
}

void block_report_error(const struct block_device *device, enum block_operation operation,
			sector_t sector)
{
	static const char *const verbs[] = {"reading", "writing", "flushing"};
	static u64 next_ns;
	u64 now = ktime_ns();

	if (now < next_ns)
		return;
	next_ns = now + NSEC_PER_SEC;
	pr_err("%s: I/O error %s sector %llu\n", device->name, verbs[operation],
	       (unsigned long long)sector);
}

/* ---- synchronous I/O ------------------------------------------------------------------------- */

static DEFINE_WAIT_QUEUE(sync_wait);

static void sync_done(struct block_request *request)
{
	smp_store_release((int *)request->private, request->status ? request->status : 1);
	wake_up(&sync_wait);
}

int block_io(struct block_device *device, enum block_operation operation, sector_t sector,
	     void *data, u32 bytes)
{
	struct block_request *request = block_request_get(operation, sector, sync_done);
	int result = 0;

	request->private = &result;
	if (bytes)
		block_request_add(request, data, bytes);
	submit_block_request(device, request);
	wait_event(sync_wait, smp_load_acquire(&result) != 0);
	block_request_put(request);
	if (unlikely(result < 0))
		block_report_error(device, operation, sector);
	return min(result, 0);
}

int block_flush(struct block_device *device)
{
	return block_io(device, BLOCK_FLUSH, 0, NULL, 0);
}

void block_init(void)
{
	request_slab = kmem_cache_create("block_request", sizeof(struct block_request), 0, 0);
}
