/*
 * calls.h - what the system calls on files share. Each call copies its arguments, looks up what
 * they name and has the object's own function do the work: fs/path, fs/inode, fs/file say what that
 * is.
 */
#pragma once

#include "fs/file/file_table.h"
#include "fs/inode/permission.h"
#include "fs/path/namei.h"

/* As LOOKUP_*; -EINVAL: there are others than these two and @more. */
static __always_inline int at_lookup(int flags, int more)
{
	if (unlikely(flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | more)))
		return -EINVAL;
	return (flags & LOOKUP_EMPTY) | (flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW);
}

/* read_write.c: one read or write (@mode: FMODE_READ, FMODE_WRITE) of the @count pieces at @from,
 * at *@offset, or, if @offset is NULL, at the file's own position. As readv(2), preadv(2). */
s64 transfer_vector(int number, const void __user *from, u64 count, loff_t *offset, u32 mode);

#define OPEN_FLAGS                                                                                 \
	(O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC |      \
	 O_DSYNC | O_ASYNC | O_DIRECT | O_LARGEFILE | O_DIRECTORY | O_NOFOLLOW | O_NOATIME |       \
	 O_CLOEXEC | O_PATH | O_TMPFILE)

/* What of open(2)'s @flags is looked at; -EINVAL: they make no sense. */
static __always_inline int open_flags(int flags)
{
	flags = (flags & OPEN_FLAGS) | O_LARGEFILE; /* every file may be, with 64 bits */
	if (flags & O_PATH)
		flags &= O_DIRECTORY | O_NOFOLLOW | O_PATH | O_CLOEXEC;
	if ((flags & (O_CREAT | O_DIRECTORY)) == (O_CREAT | O_DIRECTORY))
		return -EINVAL;
	if (unlikely(flags & __O_TMPFILE) &&
	    (!(flags & O_DIRECTORY) || (flags & O_ACCMODE) == O_RDONLY))
		return -EINVAL;
	return flags;
}

/* attributes.c: the access and modification time at @given (NULL: now), as utimensat(2) has it. A
 * time that is set, be it to now, takes the owner; both to now only the right to write. */
s64 change_times(int dfd, const char __user *name, const struct timespec64 *given, int flags);

/* locks.c: the fcntl commands on locks, of descriptor @number, which is @file; else -EINVAL. */
s64 fcntl_lock_call(int number, struct file *file, u32 command, void __user *user);

/* read_write.c: copy up to @count bytes from @in at *@from to @out at *@to; bytes copied, or the
 * error if there were none. The files are what the caller has checked them to be. May sleep. */
s64 copy_between(struct file *out, loff_t *to, struct file *in, loff_t *from, size_t count);

/* directories.c: an entry, as getdents64(2) gives it; the name is as long as it needs, so @bytes
 * are less. */
struct entry {
	u64 ino;
	s64 next; /* position of the next entry */
	u16 bytes;
	u8 type;
	char name[NAME_MAX + 1 + 8];
};

/* What getdents64(2) has given so far. */
struct getdents {
	struct dir_context context; /* first: emit() is given this */
	char *at;		    /* user memory: where the next entry goes */
	char *previous;		    /* the entry whose d_off is to be filled in; NULL: none */
	unsigned left;
	int error;
};
