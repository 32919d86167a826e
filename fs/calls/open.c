/*
 * open.c - the calls that make open files: open and pipe; and sockets, of which there are none
 * without kernel/socket.
 */
#include "fs/calls/calls.h"
#include "fs/file/open.h"
#include "fs/tmpfs/tmpfs.h"

#define OPEN_FLAGS                                                                                 \
	(O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC |      \
	 O_DSYNC | O_ASYNC | O_DIRECT | O_LARGEFILE | O_DIRECTORY | O_NOFOLLOW | O_NOATIME |       \
	 O_CLOEXEC | O_PATH | O_TMPFILE)

static __always_inline s64 open_descriptor(int dfd, const char *from, int flags, umode_t mode,
					   unsigned resolve)
{
	struct path_name name __free(name); /* not cleared: it is large */

	TRY(path_name_get(&name, from));
	flags = (flags & OPEN_FLAGS) | O_LARGEFILE; /* every file may be, with 64 bits */
	if (flags & O_PATH)
		flags &= O_DIRECTORY | O_NOFOLLOW | O_PATH | O_CLOEXEC;
	if ((flags & (O_CREAT | O_DIRECTORY)) == (O_CREAT | O_DIRECTORY))
		return -EINVAL;
	if (unlikely(flags & __O_TMPFILE) &&
	    (!(flags & O_DIRECTORY) || (flags & O_ACCMODE) == O_RDONLY))
		return -EINVAL;
	TRY(fd_room());
	struct file *file;
	if (resolve)
		TRY(open_at_restricted(dfd, name.text, flags, mode, resolve, &file));
	else
		TRY(open_at(dfd, name.text, flags, mode, &file));
	return fd_add(file, 0, flags);
}

s64 sys_openat(int dfd, const char *from, int flags, umode_t mode)
{
	return open_descriptor(dfd, from, flags, mode, 0);
}

/* Unlike openat(2), what is not known or makes no sense is an error. */
s64 sys_openat2(int dfd, const char *name, const void *user_how, size_t size)
{
	const u64 of_path = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	const u64 makes = O_CREAT | __O_TMPFILE;
	struct {
		u64 flags, mode, resolve;
	} how;

	if (size != sizeof(how))
		return size < sizeof(how) ? -EINVAL : -E2BIG;
	TRY(read_user(&how, user_how, sizeof(how)));
	if ((how.flags & ~(u64)OPEN_FLAGS) || (how.resolve & ~(u64)RESOLVE_ALL) ||
	    (how.resolve & RESOLVE_SCOPED) == RESOLVE_SCOPED ||
	    how.mode & (how.flags & makes ? ~(u64)S_IALLUGO : ~0ULL) ||
	    (how.flags & O_PATH && how.flags & ~of_path))
		return -EINVAL;
	if ((how.resolve & RESOLVE_CACHED) && (how.flags & (makes | O_TRUNC)))
		return -EAGAIN;
	return open_descriptor(dfd, name, (int)how.flags, (umode_t)how.mode, (unsigned)how.resolve);
}

/* ---- pipes, sockets -------------------------------------------------------------------------- */

s64 sys_pipe2(int *fds, int flags)
{
	struct path path __free(path) = {0};
	u32 nonblock = (u32)flags & O_NONBLOCK;

	if (flags & ~(O_CLOEXEC | O_NONBLOCK | O_DIRECT))
		return -EINVAL;
	TRY(tmpfs_nameless(S_IFIFO | 0600, &path));
	struct file *reader __free(fput) = TRY_PTR(file_open_path(&path, O_RDONLY | nonblock));
	struct file *writer __free(fput) = TRY_PTR(file_open_path(&path, O_WRONLY | nonblock));
	return fd_add_pair(reader, writer, flags, fds);
}
