/* poll.h - waiting for any of several files; poll_wait() is declared in fs/vfs.h. */
#pragma once

#include "fs/abi.h"

/*
 * Ask the files of @count descriptors (in kernel memory), fill in revents, and wait until one is
 * not 0 or ktime_ns() is @deadline (~0: for ever, 0: not at all). How many are not 0, -EINTR,
 * -ENOMEM. Sleeps.
 */
s64 poll_descriptors(struct pollfd *fds, u32 count, u64 deadline);
