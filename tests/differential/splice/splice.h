/*
 * splice.h - what the scenarios of splice(2), tee(2) and vmsplice(2) share.
 */
#pragma once

#include "../scenarios.h"

#define PIPE_BYTES 65536

/* What is in the pipe, of which nothing stays. */
static inline void drain(int fd)
{
	static char buffer[PIPE_BYTES + 1];
	int left = 0;
	ssize_t n = 0;

	ioctl(fd, FIONREAD, &left);
	if (left)
		n = read(fd, buffer, PIPE_BYTES);
	if (n < 0)
		n = 0;
	buffer[n] = 0;
	if (n > 60)
		say("[%zd bytes]", n);
	else
		say("[%s]", buffer);
}

static inline void fill(int fd)
{
	static char zeros[PIPE_BYTES];

	T(write(fd, zeros, sizeof(zeros)));
}
