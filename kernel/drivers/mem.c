/*
 * mem.c - the memory devices: null, zero, full, random, urandom, kmsg.
 */
#include "fs/vfs.h"
#include "kernel/core/printk.h"
#include "kernel/core/random.h"
#include "kernel/core/string.h"
#include "kernel/core/uaccess.h"
#include "kernel/drivers/drivers.h"

#define CHUNK 256

/* ---- null, zero, full ------------------------------------------------------------------------ */

static ssize_t null_read(struct file *file, struct io *io, loff_t *position)
{
	(void)file, (void)io, (void)position;
	return 0;
}

static ssize_t null_write(struct file *file, struct io *io, loff_t *position)
{
	size_t n = io->length;

	(void)file, (void)position;
	io->base = (char *)io->base + n;
	io->length = 0;
	return (ssize_t)n;
}

static loff_t null_llseek(struct file *file, loff_t offset, int whence)
{
	(void)offset, (void)whence;
	return file->position = 0;
}

static ssize_t zero_read(struct file *file, struct io *io, loff_t *position)
{
	size_t wanted = io->length, left = 0;

	(void)file, (void)position;
	while (io->length && !left) {
		size_t n = min_t(size_t, io->length, 65536);

		if (io->user)
			left = clear_user(io->base, n);
		else
			memset(io->base, 0, n);
		n -= left;
		io->base = (char *)io->base + n;
		io->length -= n;
		if (signal_pending(current))
			break;
		cond_resched();
	}
	if (left && io->length == wanted)
		return -EFAULT;
	return (ssize_t)(wanted - io->length);
}

static ssize_t full_write(struct file *file, struct io *io, loff_t *position)
{
	(void)file, (void)position;
	return io->length ? -ENOSPC : 0;
}

/* ---- random, urandom ------------------------------------------------------------------------- */

static ssize_t random_read(struct file *file, struct io *io, loff_t *position)
{
	size_t wanted = io->length;
	u8 chunk[CHUNK];

	(void)file, (void)position;
	while (io->length) {
		size_t n = min_t(size_t, io->length, CHUNK);

		get_random_bytes(chunk, n);
		if (io_put(io, chunk, n) < n)
			break;
		if (signal_pending(current))
			break;
		cond_resched();
	}
	if (io->length == wanted && wanted)
		return -EFAULT;
	return (ssize_t)(wanted - io->length);
}

static ssize_t random_write(struct file *file, struct io *io, loff_t *position)
{
	size_t wanted = io->length;
	u8 chunk[CHUNK];

	(void)file, (void)position;
	while (io->length) {
		size_t n = io_get(io, chunk, min_t(size_t, io->length, CHUNK));

		if (!n)
			break;
		random_mix(chunk, n);
	}
	if (io->length == wanted && wanted)
		return -EFAULT;
	return (ssize_t)(wanted - io->length);
}

/* ---- kmsg ------------------------------------------------------------------------------------ */

/* A write is one message: "<level>text". */
static ssize_t kmsg_write(struct file *file, struct io *io, loff_t *position)
{
	char text[CHUNK];
	size_t wanted = io->length, n = io_get(io, text, min_t(size_t, wanted, CHUNK));
	int level = 5;

	(void)file, (void)position;
	if (wanted && !n)
		return -EFAULT;
	if (n >= 3 && text[0] == '<' && text[2] == '>' && text[1] >= '0' && text[1] <= '7') {
		level = text[1] - '0';
		log_write_user(level, text + 3, n - 3);
	} else {
		log_write_user(level, text, n);
	}
	return (ssize_t)wanted; /* what is longer than a message is cut, as printk cuts it */
}

/* Whole lines from the file's position on; 0 at the end of the log. */
static ssize_t kmsg_read(struct file *file, struct io *io, loff_t *position)
{
	char text[1024];
	u64 at = (u64)*position;
	size_t n = log_read(&at, text, min_t(size_t, sizeof(text), io->length));

	(void)file;
	if (!n)
		/* no room for a line */
		return io->length && (u64)*position < log_end() ? -EINVAL : 0;
	if (io_put(io, text, n) < n)
		return -EFAULT;
	*position = (loff_t)at;
	return (ssize_t)n;
}

static const struct file_operations null_operations = {
	.read = null_read,
	.write = null_write,
	.llseek = null_llseek,
};
static const struct file_operations zero_operations = {
	.read = zero_read,
	.write = null_write,
	.llseek = null_llseek,
};
static const struct file_operations full_operations = {
	.read = zero_read,
	.write = full_write,
	.llseek = null_llseek,
};
static const struct file_operations random_operations = {
	.read = random_read,
	.write = random_write,
	.llseek = null_llseek,
};
static const struct file_operations kmsg_operations = {
	.read = kmsg_read,
	.write = kmsg_write,
};

void mem_devices_init(void)
{
	register_chrdev(MKDEV(1, 3), "null", 0666, &null_operations);
	register_chrdev(MKDEV(1, 5), "zero", 0666, &zero_operations);
	register_chrdev(MKDEV(1, 7), "full", 0666, &full_operations);
	register_chrdev(MKDEV(1, 8), "random", 0666, &random_operations);
	register_chrdev(MKDEV(1, 9), "urandom", 0666, &random_operations);
	register_chrdev(MKDEV(1, 11), "kmsg", 0644, &kmsg_operations);
}
