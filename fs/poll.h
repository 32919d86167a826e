/* poll.h - waiting for any of several files; vfs_poll() and poll_wait() are declared in fs/vfs.h.
 */
#pragma once

#include "fs/abi.h"
#include "kernel/core/types.h"

/*
 * vfs_poll() for descriptors in kernel memory: fills in revents. timeout_ns < 0 waits for ever, 0
 * not at all. How many have a non-zero revents, -EINTR, -ENOMEM. Sleeps. (select(2) stands on it.)
 */
s64 poll_descriptors(struct pollfd *fds, u32 count, s64 timeout_ns);
