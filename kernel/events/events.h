/*
 * events.h - files that are no file of a file system and tell of events: eventfd(2) and epoll(7).
 *
 *	anonymous.c	a file on an inode that no directory knows
 *	eventfd.c	a number that is added to by writing and taken by reading
 *	epoll.c		many files watched; calls.c: the calls that wait
 */
#pragma once

#include "core/memory/slab.h"
#include "fs/file/file_table.h"

/* A file with the operations @fop and @private, open as @flags say: O_RDWR or O_RDONLY, O_NONBLOCK
 * or not; others do not count. /proc shows it as anon_inode:@name, and cannot open it again.
 * ERR_PTR(-ENOMEM, -ENFILE): @private is still the caller's. May sleep. */
struct file *anonymous_file(const char *name, const struct file_operations *fop, void *private,
			    u32 flags);

/* struct epoll_event of x86-64, which is packed. */
struct epoll_event {
	u32 events;
	u64 data;
} __packed;
_Static_assert(sizeof(struct epoll_event) == 12, "struct epoll_event of x86-64");

/* Wait until a file that @file, an epoll, watches has events, or @deadline_ns: how many of them, at
 * most @count, are at @to now; 0: it is later; -EINTR, -EFAULT. -EINVAL: @file is no epoll, or
 * @count is not positive. Sleeps. */
s64 epoll_wait_events(struct file *file, struct epoll_event __user *to, int count, u64 deadline_ns);
