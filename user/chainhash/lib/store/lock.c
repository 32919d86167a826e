/*
 * lock.c - locks on bytes beyond the file. See lock.h.
 */
#include "store/lock.h"

#include <fcntl.h>

#define WRITER_PLACE ((off_t)1 << 62)
#define READERS_PLACE (WRITER_PLACE + 1)

/* @command is one of the open file's; l_whence is SEEK_SET, 0. */
static int lock_call(int descriptor, int command, struct flock *lock)
{
	while (fcntl(descriptor, command, lock))
		if (errno != EINTR)
			return errno == EACCES ? -EAGAIN : -errno;
	return 0;
}

/* Of a @size of 0 all bytes from @place on. */
static int lock_bytes(int descriptor, int command, int type, off_t place, off_t size)
{
	struct flock lock = {.l_type = (short)type, .l_start = place, .l_len = size};

	return lock_call(descriptor, command, &lock);
}

int lock_writer(int descriptor, bool wait)
{
	return lock_bytes(descriptor, wait ? F_OFD_SETLKW : F_OFD_SETLK, F_WRLCK, WRITER_PLACE, 1);
}

int lock_readers_out(int descriptor, bool held)
{
	return lock_bytes(descriptor, F_OFD_SETLK, held ? F_WRLCK : F_UNLCK, READERS_PLACE, 0);
}

int lock_reader(int descriptor, u64 sequence, bool held)
{
	return lock_bytes(descriptor, F_OFD_SETLKW, held ? F_RDLCK : F_UNLCK,
			  READERS_PLACE + (off_t)sequence, 1);
}

int lock_oldest_reader(int descriptor, u64 newest, u64 *oldest)
{
	off_t end = READERS_PLACE + (off_t)newest + 1;

	*oldest = newest;
	/* The system names some lock of the range; the oldest is below it or is it. */
	while (end > READERS_PLACE) {
		struct flock lock = {
			.l_type = F_WRLCK, .l_start = READERS_PLACE, .l_len = end - READERS_PLACE};
		int error = lock_call(descriptor, F_OFD_GETLK, &lock);

		if (error)
			return error;
		if (lock.l_type == F_UNLCK)
			break;
		/* Adjacent locks of one handle are one lock; ours have one byte each. */
		if (lock.l_start < READERS_PLACE)
			lock.l_start = READERS_PLACE;
		*oldest = (u64)(lock.l_start - READERS_PLACE);
		end = lock.l_start;
	}
	return 0;
}
