/*
 * io.c - whole reads and writes: what is interrupted or comes in parts goes on.
 */
#include "store/store.h"

#include <sys/uio.h>
#include <unistd.h>

int read_all(int descriptor, u8 *bytes, size_t size, u64 offset)
{
	while (size) {
		ssize_t done = pread(descriptor, bytes, size, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -EBADMSG;
		bytes += done;
		size -= (size_t)done;
		offset += (u64)done;
	}
	return 0;
}

int write_all(int descriptor, struct iovec *vector, int count, u64 offset)
{
	while (count) {
		ssize_t done = pwritev(descriptor, vector, count, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -EIO;
		offset += (u64)done;
		while (count && (size_t)done >= vector->iov_len) {
			done -= (ssize_t)vector->iov_len;
			vector++;
			count--;
		}
		if (done) {
			vector->iov_base = (u8 *)vector->iov_base + done;
			vector->iov_len -= (size_t)done;
		}
	}
	return 0;
}
