/*
 * events.h - what the scenarios of eventfd(2) and epoll(7) share.
 */
#pragma once

#include "../scenarios.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

static inline long put(int fd, uint64_t value)
{
	return write(fd, &value, sizeof(value));
}

/* What a read gets, or its error. */
static inline void get(int fd)
{
	uint64_t value = 0;

	if (T(read(fd, &value, sizeof(value))) > 0)
		say("%llu", (unsigned long long)value);
}

static inline void show_poll(int fd)
{
	struct pollfd item = {fd, POLLIN | POLLOUT | POLLPRI | POLLRDNORM | POLLWRNORM, 0};

	T(poll(&item, 1, 0));
	say("revents=%x", item.revents);
}
