/*
 * file_table.h - descriptors: small numbers for open files.
 *
 * A table is made by file_table_create() or _fork() for a process and shared by its threads
 * (file_table_get()/_put()); who looks at another task's holds it (file_table_hold()/_release()).
 * A call takes a file by fdget() and lets it go by fdput() (__free(fd)): hot, so without a count
 * where no other task can close it meanwhile. fd_add() gives a file a number and takes its
 * reference over.
 *
 * Lock: the table's own, inside of all that sleep; no file is let go under it. Who alone uses a
 * table changes it without.
 */
#pragma once

#include "fs/file/file.h"

struct file_table *file_table_create(void);		       /* NULL: out of memory */
struct file_table *file_table_fork(struct file_table *parent); /* a copy */
void file_table_get(struct file_table *table);
/* With the last task's reference all is closed; not with a lock held that is below mount_mutex. */
void file_table_put(struct file_table *table);
/* For who looks at another task's: the table stays, what is open in it does not. Any context. */
void file_table_hold(struct file_table *table);
void file_table_release(struct file_table *table);
/* A reference to the file behind @fd, or NULL. With a table used by one task only no count is
 * taken, as the result says: give it to fdput(). Hot path. */
struct fd {
	struct file *file; /* NULL: -EBADF */
	bool counted;
};
struct fd fdget(int fd);     /* NULL also for an O_PATH descriptor */
struct fd fdget_raw(int fd); /* that one too */
static inline void fdput(struct fd fd)
{
	if (unlikely(fd.counted))
		fput(fd.file);
}
DEFINE_FREE(fd, struct fd, fdput(*variable))
/* struct fd fd __free(fd) = TRY_FD(fdget(number)): no such file is -EBADF, returned. */
#define TRY_FD(get)                                                                                \
	({                                                                                         \
		struct fd __fd = (get);                                                            \
		if (unlikely(!__fd.file))                                                          \
			return -EBADF;                                                             \
		__fd;                                                                              \
	})
/* The path of what @fd has open, without a reference, as long as only current can close it; false:
 * it can be closed, or is not open. */
bool fd_peek_path(int fd, struct path *path);
struct fd fdget_shared(struct file_table *table, u32 fd); /* another task's (/proc/PID/fd) */
u32 file_table_size(const struct file_table *table); /* descriptors there is room for; racy */
int file_table_next(struct file_table *table, int fd); /* lowest open descriptor >= fd, or -1 */
/* The lowest free number from @lowest on, for @file, whose reference is taken over in any case; or
 * -EMFILE, -ENOMEM. Of @flags, here and below, O_CLOEXEC is looked at. */
int fd_add(struct file *file, u32 lowest, int flags);
int fd_room(void); /* 0, or -EMFILE if there is no number left: to be asked before making a file */
/* @file also at @number, in place of what is there, which is closed: @number, or -EBADF (too
 * large),
 * -ENOMEM. */
int fd_replace(u32 number, struct file *file, int flags);
/* As fd_add(), with a reference of its own; -EINVAL: @lowest is too large. */
int fd_duplicate(struct file *file, u64 lowest, int flags);
/* Numbers for both, with references of their own, which the program finds at @to: 0; or -EMFILE,
 * -ENOMEM, -EFAULT, and neither is there. @flags as fd_add(). Sleeps. */
int fd_add_pair(struct file *first, struct file *second, int flags, int __user *to);
s64 fd_close(int number); /* 0 or -EBADF, as close(2), which is nothing else; sleeps */
int fd_get_flags(int number); /* FD_CLOEXEC or 0; -EBADF */
int fd_set_flags(int number, int flags);
/* close the close-on-exec ones */
void file_table_exec(struct file_table *table);
void file_table_set_limit(struct file_table *table, u32 limit); /* RLIMIT_NOFILE; any context */
#define FILE_TABLE_MAX 4096					/* its hard limit */
