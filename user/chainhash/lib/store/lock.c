/*
 * lock.c - locks on bytes beyond the file. See lock.h.
 */
#include "store/lock.h"

#include <fcntl.h>

#define WRITER_PLACE ((off_t)1 << 62)
#define READERS_PLACE (WRITER_PLACE + 1)

/* @command is one of the open file's. */
static int lock_call(int descriptor, int command, struct flock *lock)
{
	int result;

	lock->l_whence = SEEK_SET;
	lock->l_pid = 0;
	do {
		result = fcntl(descriptor, command, lock);
	} while (result < 0 && errno == EINTR);
	if (result < 0)
		return errno == EACCES ? -EAGAIN : -errno;
	return 0;
}

int lock_writer(int descriptor, bool wait)
{
	struct flock lock = {.l_type = F_WRLCK, .l_start = WRITER_PLACE, .l_len = 1};

	return lock_call(descriptor, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
}

int lock_reader(int descriptor, u64 sequence, bool held)
{
	struct flock lock = {.l_type = held ? F_RDLCK : F_UNLCK,
			     .l_start = READERS_PLACE + (off_t)sequence,
			     .l_len = 1};

	return lock_call(descriptor, F_OFD_SETLK, &lock);
}

int lock_oldest_reader(int descriptor, u64 newest, u64 *oldest)
{
	off_t end = READERS_PLACE + (off_t)newest + 1;

	*oldest = UINT64_MAX;
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
