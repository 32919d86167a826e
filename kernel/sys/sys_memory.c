/*
 * sys_memory.c - system calls on the address space: mmap, mprotect, brk ... The work is mm/'s. And
 * memory that processes share by inheritance, descriptor or number: MAP_SHARED without a file,
 * memfd_create(2), System V's segments.
 *
 * All that is shared so is a file of a tmpfs that is mounted nowhere, and what these hold together
 * counts against its limit of half of memory. A segment is such a file and its number; who attaches
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

s64 sys_munmap(u64 address, u64 length)
{
	return mm_unmap(current->mm, address, length);
}

s64 sys_mprotect(u64 address, u64 length, u32 protection)
{
	return mm_protect(current->mm, address, length, protection);
}

s64 sys_mremap(u64 address, u64 old_length, u64 new_length, u32 flags, u64 new_address)
{
	return mm_remap(current->mm, address, old_length, new_length, flags, new_address);
}

s64 sys_msync(u64 address, u64 length, u32 flags)
{
	return mm_sync(current->mm, address, length, flags);
}

s64 sys_madvise(u64 address, u64 length, u32 advice)
{
	return mm_advise(current->mm, address, length, advice);
}

s64 sys_brk(u64 end)
{
	return (s64)mm_brk(current->mm, end);
}

s64 sys_mincore(u64 address, u64 length, u8 *resident)
{
	if (address & (PAGE_SIZE - 1))
		return -EINVAL;
	if (length > USER_TOP || address > USER_TOP - length)
		return -ENOMEM;
	for (u64 end = address + length; address < end; address += PAGE_SIZE, resident++) {
		int there = TRY(mm_resident(current->mm, address));

		if (put_user((u8)there, resident))
			return -EFAULT;
	}
	return 0;
}

s64 sys_mlock(u64 address, u64 length)
{
	return mm_lock(current->mm, address, length, true);
}

s64 sys_munlock(u64 address, u64 length)
{
	return mm_lock(current->mm, address, length, false);
}

s64 sys_memfd_create(const char *name, u32 flags)
{
	enum { CLOEXEC = 1, ALLOW_SEALING = 2, NAME_LENGTH = 249 };
	char text[NAME_LENGTH + 1];
	struct file *file;
	s64 length;
	int fd;

	if (flags & ~(u32)(CLOEXEC | ALLOW_SEALING))
		return -EINVAL;
	length = TRY(strncpy_from_user(text, name, sizeof(text)));
	if (length == sizeof(text))
		return -EINVAL;
	file = TRY_PTR(memory_file(0777, 0));
	fd = fd_alloc(0, flags & CLOEXEC);
	if (fd < 0)
		fput(file);
	else
		fd_install(fd, file);
	return fd;
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
			    MAP_SHARED | (address ? MAP_FIXED_NOREPLACE : 0), segment->file, 0);
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
	return size ? mm_unmap(mm, address, size) : -EINVAL;
}

s64 sys_shmctl(int number, int command, void *buffer)
{
	(void)buffer;
	guard(mutex, &ipc_lock);
	struct ipc_object *segment = TRY_PTR(ipc_find(&segments, number, 0));
	return command == IPC_RMID ? ipc_remove(segment) : -EINVAL;
}
