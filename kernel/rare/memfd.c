/*
 * memfd.c - memfd_create(2): memory that is shared by passing a descriptor on. It is a file of a
 * tmpfs that is mounted nowhere and has no limits, as memory that is shared by inheritance
 * (kernel/sys/sys_memory.c).
 */
#include "fs/file/file_table.h"
#include "fs/tmpfs/tmpfs.h"

s64 sys_memfd_create(const char *name, u32 flags)
{
	enum { CLOEXEC = 1, ALLOW_SEALING = 2, NAME_LENGTH = 249 };
	char text[NAME_LENGTH + 1];

	if (flags & ~(u32)(CLOEXEC | ALLOW_SEALING))
		return -EINVAL;
	if (TRY(strncpy_from_user(text, name, sizeof(text))) == sizeof(text))
		return -EINVAL;
	struct file *file = TRY_PTR(tmpfs_file(0777, 0, O_RDWR));

	return fd_add(file, 0, flags & CLOEXEC ? O_CLOEXEC : 0);
}
