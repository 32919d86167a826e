/*
 * open.c - the calls that make open files: open and pipe; and sockets, of which there are none
 * without kernel/socket.
 */
#include "fs/calls/calls.h"
#include "fs/file/open.h"
#include "fs/tmpfs/tmpfs.h"

s64 sys_openat(int dfd, const char *from, int flags, umode_t mode)
{
	struct path_name name __free(name); /* not cleared: it is large */
	struct file *file;

	TRY(path_name_get(&name, from));
	flags = TRY(open_flags(flags));
	TRY(fd_room());
	TRY(open_at(dfd, name.text, flags, mode, &file));
	return fd_add(file, 0, flags);
}

/* ---- pipes, sockets -------------------------------------------------------------------------- */

s64 sys_pipe2(int *fds, int flags)
{
	struct path path __free(path) = {0};
	u32 nonblock = (u32)flags & O_NONBLOCK;

	if (flags & ~(O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	TRY(tmpfs_nameless(S_IFIFO | 0600, &path));
	struct file *reader __free(fput) = TRY_PTR(file_open_path(&path, O_RDONLY | nonblock));
	path = reader->path;
	path_get(&path);
	struct file *writer __free(fput) = TRY_PTR(file_open_path(&path, O_WRONLY | nonblock));
	return fd_add_pair(reader, writer, flags, fds);
}
