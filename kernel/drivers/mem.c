/*
 * mem.c - the memory devices: null, zero, full, random, urandom; and getrandom, which reads the
 * last of them.
 */
#include "fs/devfs/special.h"
#include "fs/file/file.h"
#include "kernel/drivers/drivers.h"

#define CHUNK 256

enum { NULL_MINOR = 3, ZERO_MINOR = 5, FULL_MINOR = 7, RANDOM_MINOR, URANDOM_MINOR };

/* What the device of @minor gives, zeros or random numbers, piece by piece. */
static ssize_t give(struct io *io, unsigned minor)
{
	bool random = minor >= RANDOM_MINOR;
	static char zeros[PAGE_SIZE];
	size_t wanted = io->length, n, moved;
	char numbers[CHUNK];

	do {
		n = min(io->length, random ? sizeof(numbers) : sizeof(zeros));
		if (random)
			get_random_bytes(numbers, n);
		moved = io_put(io, random ? numbers : zeros, n);
		cond_resched();
	} while (io->length && moved == n && !signal_pending(current));
	return io->length == wanted && wanted ? -EFAULT : (ssize_t)(wanted - io->length);
}

s64 sys_getrandom(void *buffer, size_t count, u32 flags)
{
	struct io io = {buffer, min(count, (size_t)0x1ffffff), IO_USER, 0};

	return flags & ~7u ? -EINVAL : give(&io, RANDOM_MINOR);
}

static ssize_t data_read(struct file *file, struct io *io, loff_t *position)
{
	unsigned minor = MINOR(file->inode->rdev);

	return minor == NULL_MINOR ? 0 : give(io, minor);
}

/* All is swallowed; what is meant for the generator adds nothing to it, but is no error. */
static ssize_t sink_write(struct file *file, struct io *io, loff_t *position)
{
	if (MINOR(file->inode->rdev) == FULL_MINOR && io->length)
		return -ENOSPC;
	return (ssize_t)io_advance(io, io->length);
}

void mem_devices_init(void)
{
	static const struct file_operations data = {
		.read = data_read,
		.write = sink_write,
		.seekable = true,
	};
	static struct file_operations zero;

	zero = data;
	zero.mmap = MAPPED_ZEROS;
	register_chrdev(MKDEV(1, NULL_MINOR), "null", 0666, &data);
	register_chrdev(MKDEV(1, ZERO_MINOR), "zero", 0666, &zero);
	register_chrdev(MKDEV(1, FULL_MINOR), "full", 0666, &data);
	register_chrdev(MKDEV(1, RANDOM_MINOR), "random", 0666, &data);
	register_chrdev(MKDEV(1, URANDOM_MINOR), "urandom", 0666, &data);
}
