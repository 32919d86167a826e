/*
 * block.c - the registry of block devices, requests, and reads and writes of /dev/NAME. See
 * block.h.
 *
 * Locks: devices_lock guards the list of devices, which only grows. Requests to different devices
 * share no lock.
 */
#include "fs/block/buffer.h"
#include "fs/vfs.h"

static LIST_HEAD(devices);
static DEFINE_SPINLOCK(devices_lock);

void register_block_device(struct block_device *device)
{
	device->block_size = BLOCK_SIZE_DEFAULT;
	guard(spinlock, &devices_lock);
	list_add_tail(&device->link, &devices);
}

struct block_device *next_block_device(struct block_device *previous)
{
	guard(spinlock, &devices_lock);
	struct list_head *next = previous ? previous->link.next : devices.next;

	return next == &devices ? NULL : list_entry(next, struct block_device, link);
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

int set_block_size(struct block_device *device, unsigned size)
{
	if (device->block_size == size)
		return 0;
	int error = sync_buffers(device, true);

	invalidate_buffers(device);
	device->block_size = size;
	return error;
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

/* ---- /dev/NAME: through the buffer cache ----------------------------------------------------- */

#define BLKROGET 0x125e
#define BLKSSZGET 0x1268
#define BLKGETSIZE64 0x80081272u

static inline loff_t device_size(const struct file *file)
{
	return (loff_t)(file->inode->bdev->sectors * SECTOR_SIZE);
}

/* A block is copied to memory of our own on its way to the program and from there: nobody keeps a
 * reference to a buffer across a copy that may fault (buffer.h). */
static ssize_t move(struct file *file, struct io *io, loff_t *position, bool write)
{
	struct block_device *device = file->inode->bdev;
	size_t size = device->block_size;
	loff_t start = *position, end = device_size(file);
	char *copy __free(kfree) = TRY_PTR(kmalloc(size, GFP_KERNEL));
	int error = write && io->length && start >= end ? -ENOSPC : 0;

	while (io->length && *position < end && !error) {
		size_t offset = (size_t)*position & (size - 1);
		size_t n = min(size - offset, io->length);
		u64 block = (u64)*position / size;

		n = min_t(size_t, n, (size_t)(end - *position));
		if (write && io_get(io, copy, n) < n) {
			error = -EFAULT;
			break;
		}
		struct buffer *buffer =
			write && n == size ? buffer_get(device, block) : bread(device, block);

		if (IS_ERR(buffer)) {
			error = (int)PTR_ERR(buffer);
			break;
		}
		if (write) {
			wait_on_buffer(buffer); /* a read in flight would write over it */
			memcpy((char *)buffer->data + offset, copy, n);
			set_bit_release(B_UPTODATE, &buffer->flags);
			mark_buffer_dirty(buffer);
		} else {
			memcpy(copy, (char *)buffer->data + offset, n);
		}
		brelse(buffer);
		if (!write && io_put(io, copy, n) < n)
			error = -EFAULT;
		else
			*position += (loff_t)n;
	}
	if (write)
		balance_dirty();
	return *position > start ? *position - start : error;
}

static ssize_t block_file_read(struct file *file, struct io *io, loff_t *position)
{
	return move(file, io, position, false);
}

static ssize_t block_file_write(struct file *file, struct io *io, loff_t *position)
{
	return file->inode->bdev->read_only ? -EPERM : move(file, io, position, true);
}

static s64 block_file_ioctl(struct file *file, unsigned command, u64 argument)
{
	struct block_device *device = file->inode->bdev;
	u64 __user *wide = (void *)(uintptr_t)argument;
	int __user *word = (void *)(uintptr_t)argument;

	switch (command) {
	case BLKGETSIZE64:
		return put_user((u64)device_size(file), wide);
	case BLKSSZGET:
		return put_user((int)SECTOR_SIZE, word);
	case BLKROGET:
		return put_user((int)device->read_only, word);
	default:
		return -ENOTTY;
	}
}

static int block_file_fsync(struct file *file, bool data_only)
{
	return sync_buffers(file->inode->bdev, true) ?: block_flush(file->inode->bdev);
}

const struct file_operations block_device_file_operations = {
	.read = block_file_read,
	.write = block_file_write,
	.seekable = true,
	.ioctl = block_file_ioctl,
	.fsync = block_file_fsync,
};
