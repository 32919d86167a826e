/*
 * sys_memory.c - mmap(2), and memory that processes share by inheritance, descriptor or number:
 * MAP_SHARED without a file, memfd_create(2), System V's segments. The other calls on the address
 * space are in mm/mmap.c.
 *
 * All that is shared so is a file of a tmpfs that is mounted nowhere and has no limits: who takes
 * all memory by it is ended as by any other. A segment is such a file and its number; who attaches
 * it maps the file, and so keeps it.
 */
#include "fs/tmpfs/tmpfs.h"
#include "kernel/proc/ipc.h"
#include "kernel/proc/process.h"
#include "mm/mman.h"
#include "mm/vm.h"

static_assert((int)LIMIT_DATA == RLIMIT_DATA && (int)LIMIT_STACK == RLIMIT_STACK);
static_assert((int)LIMIT_AS == RLIMIT_AS);

u64 memory_limit(enum memory_limit kind)
{
	return process_limit((enum rlimit_kind)kind);
}

/* A file of @size that could be in memory, or ERR_PTR(). */
static struct file *memory_file(umode_t mode, u64 size)
{
	return size > page_alloc_total_pages() << PAGE_SHIFT ? ERR_PTR(-ENOMEM)
							     : tmpfs_file(mode, (loff_t)size);
}

s64 sys_mmap(u64 address, u64 length, u32 protection, u32 flags, int fd, u64 offset)
{
	struct fd f __free(fd) = {0};
	struct file *memory __free(fput) = NULL;

	if (offset & (PAGE_SIZE - 1))
		return -EINVAL;
	if (!(flags & MAP_ANONYMOUS)) {
		f = fdget(fd);
		if (!f.file)
			return -EBADF;
	}
	if ((flags & MAP_TYPE) == MAP_SHARED && (!f.file || f.file->fop->mmap == MAPPED_ZEROS)) {
		memory = TRY_PTR(memory_file(0777, length));
		offset = 0;
	}
	return mm_map(current->mm, address, length, protection, flags, memory ? memory : f.file,
		      offset);
}

s64 sys_memfd_create(const char *name, u32 flags)
{
	enum { CLOEXEC = 1, ALLOW_SEALING = 2, NAME_LENGTH = 249 };
	char text[NAME_LENGTH + 1];

	if (flags & ~(u32)(CLOEXEC | ALLOW_SEALING))
		return -EINVAL;
	if (TRY(strncpy_from_user(text, name, sizeof(text))) == sizeof(text))
		return -EINVAL;
	return fd_add(TRY_PTR(memory_file(0777, 0)), 0, flags & CLOEXEC);
}

/* ---- System V shared memory ------------------------------------------------------------------ */

#define SHM_RDONLY 010000
#define SHM_RND 020000
#define SHM_EXEC 0100000

static struct ipc_table segments;

s64 sys_shmget(int key, u64 size, u32 flags)
{
	return ipc_get(&segments, key, size, flags);
}

s64 sys_shmat(int number, u64 address, u32 flags)
{
	bool writable = !(flags & SHM_RDONLY);
	unsigned prot =
		PROT_READ | (writable ? PROT_WRITE : 0) | (flags & SHM_EXEC ? PROT_EXEC : 0);

	if (flags & SHM_RND)
		address = round_down(address, (u64)PAGE_SIZE);
	if (address & (PAGE_SIZE - 1) || flags & ~(u32)(SHM_RDONLY | SHM_RND | SHM_EXEC))
		return -EINVAL;
	guard(mutex, &ipc_lock);
	const struct ipc_object *segment =
		TRY_PTR(ipc_find(&segments, number, MAY_READ | (writable ? MAY_WRITE : 0)));
	s64 result = mm_map(current->mm, address, segment->size, prot,
			    MAP_SHARED | (address ? MAP_FIXED_NOREPLACE : 0) |
				    (writable ? 0 : MAP_NEVER_WRITE),
			    segment->file, 0);
	return result == -EEXIST ? -EINVAL : result;
}

s64 sys_shmdt(u64 address)
{
	struct mm *mm = current->mm;
	const struct vma *vma;
	u64 size = 0;

	down_read(&mm->lock);
	vma = find_vma(mm, address);
	if (vma && vma->start == address && vma->file && !vma->page_offset &&
	    vma->file->private == &segments)
		size = (u64)vma->file->inode->size;
	up_read(&mm->lock);
	return size ? sys_munmap(address, size) : -EINVAL;
}

s64 sys_shmctl(int number, int command, void *buffer)
{
	(void)buffer;
	guard(mutex, &ipc_lock);
	struct ipc_object *segment = TRY_PTR(ipc_find(&segments, number, 0));
	return command == IPC_RMID ? ipc_remove(segment) : -EINVAL;
}
