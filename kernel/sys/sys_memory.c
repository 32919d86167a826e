/*
 * sys_memory.c - mmap(2), and memory that processes share by inheritance: MAP_SHARED without a
 * file, or of /dev/zero. The other calls on the address space are in mm/space/mmap.c, mm/remap and
 * kernel/residency.
 *
 * What is shared so is a file of a tmpfs that is mounted nowhere and has no limits; it is no larger
 * than memory and swap. Who takes all memory by it is ended as by any other, since the pages that
 * he maps count as his.
 */
#include "fs/tmpfs/tmpfs.h"
#include "kernel/proc/process.h"
#include "mm/space/vm.h"

s64 sys_mmap(u64 address, u64 length, u32 protection, u32 flags, int fd, u64 offset)
{
	struct fd f __free(fd) = {0};
	struct file *memory __free(fput) = NULL, *mapped;

	if (offset & (PAGE_SIZE - 1))
		return -EINVAL;
	if (!(flags & MAP_ANONYMOUS))
		f = TRY_FD(fdget(fd));
	if ((flags & MAP_TYPE) == MAP_SHARED && (!f.file || f.file->fop->mmap == MAPPED_ZEROS)) {
		/* opened as the device was: so far goes what mprotect may add */
		int access = f.file ? (int)(f.file->mode - 1) & O_ACCMODE : O_RDWR;

		memory = TRY_PTR(tmpfs_file(0777, length, access));
		offset = 0;
	}
	mapped = memory ? memory : f.file;
	return mm_map(current->mm, address, length, protection, flags, mapped, offset);
}
