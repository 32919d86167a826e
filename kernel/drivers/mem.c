/*
 * mem.c - the memory devices: null, zero, full, random, urandom, kmsg.
 */
#include "fs/vfs.h"
#include "kernel/core/random.h"
#include "kernel/drivers/drivers.h"

#define CHUNK 256

/* ---- null, zero, full, random, urandom ------------------------------------------------------- */

static ssize_t null_read(struct file *file, struct io *io, loff_t *position)
{
	return 0;
}

static ssize_t null_write(struct file *file, struct io *io, loff_t *position)
{
	size_t n = io->length;

	io->base = (char *)io->base + n;
	io->length = 0;
	return (ssize_t)n;
}

static loff_t null_llseek(struct file *file, loff_t offset, int whence)
{
	return file->position = 0;
}

/* Move what the program asked for, chunk by chunk: zeros, numbers, or its own to the generator. */
static ssize_t move(struct io *io, char *chunk, size_t size, bool random, bool write)
{
	size_t wanted = io->length, n, moved;

	do {
		n = min(io->length, size);
		if (random && !write)
			get_random_bytes(chunk, n);
		moved = write ? io_get(io, chunk, n) : io_put(io, chunk, n);
		if (write)
			random_mix(chunk, moved);
		cond_resched();
	} while (io->length && moved == n && !signal_pending(current));
	return io->length == wanted && wanted ? -EFAULT : (ssize_t)(wanted - io->length);
}

static ssize_t zero_read(struct file *file, struct io *io, loff_t *position)
{
	static char zeros[PAGE_SIZE];

	return move(io, zeros, sizeof(zeros), false, false);
}

static ssize_t full_write(struct file *file, struct io *io, loff_t *position)
{
	return io->length ? -ENOSPC : 0;
}

static ssize_t random_read(struct file *file, struct io *io, loff_t *position)
{
	char chunk[CHUNK];

	return move(io, chunk, CHUNK, true, false);
}

static ssize_t random_write(struct file *file, struct io *io, loff_t *position)
{
	char chunk[CHUNK];

	return move(io, chunk, CHUNK, true, true);
}

/* ---- kmsg ------------------------------------------------------------------------------------ */

/* A write is one message: "<level>text". */
static ssize_t kmsg_write(struct file *file, struct io *io, loff_t *position)
{
	char text[CHUNK];
	size_t wanted = io->length, n = io_get(io, text, min_t(size_t, wanted, CHUNK));

	if (wanted && !n)
		return -EFAULT;
	log_write(text, n);
	return (ssize_t)wanted; /* what is longer than a message is cut, as printk cuts it */
}

/* Whole lines from the file's position on; 0 at the end of the log. */
static ssize_t kmsg_read(struct file *file, struct io *io, loff_t *position)
{
	char text[1024];
	u64 at = (u64)*position;
	size_t n = log_read(&at, text, min_t(size_t, sizeof(text), io->length));

	if (!n)
		/* no room for a line */
		return io->length && (u64)*position < READ_ONCE(log_complete) ? -EINVAL : 0;
	if (io_put(io, text, n) < n)
		return -EFAULT;
	*position = (loff_t)at;
	return (ssize_t)n;
}

static const struct device {
	const char *name;
	unsigned minor;
	umode_t mode;
	struct file_operations operations;
} devices[] = {
	{"null", 3, 0666, {.read = null_read, .write = null_write, .llseek = null_llseek}},
	{"zero", 5, 0666,
	 {.read = zero_read, .write = null_write, .llseek = null_llseek, .mmap = MAPPED_ZEROS}},
	{"full", 7, 0666, {.read = zero_read, .write = full_write, .llseek = null_llseek}},
	{"random", 8, 0666, {.read = random_read, .write = random_write, .llseek = null_llseek}},
	{"urandom", 9, 0666, {.read = random_read, .write = random_write, .llseek = null_llseek}},
	{"kmsg", 11, 0644, {.read = kmsg_read, .write = kmsg_write}},
};

void mem_devices_init(void)
{
	for (const struct device *device = devices; device < devices + ARRAY_SIZE(devices);
	     device++)
		register_chrdev(MKDEV(1, device->minor), device->name, device->mode,
				&device->operations);
}
