/*
 * sys_memory.c - system calls on the address space: mmap, mprotect, brk ... The work is mm/'s.
 */
#include "fs/vfs.h"
#include "kernel/proc/process.h"
#include "kernel/sys/syscalls.h"
#include "mm/mman.h"
#include "mm/vm.h"

static_assert((int)LIMIT_DATA == RLIMIT_DATA && (int)LIMIT_STACK == RLIMIT_STACK);
static_assert((int)LIMIT_MEMLOCK == RLIMIT_MEMLOCK && (int)LIMIT_AS == RLIMIT_AS);

u64 memory_limit(enum memory_limit kind)
{
	if (kind == LIMIT_MEMLOCK && capable(current->cred))
		return RLIM_INFINITY;
	return process_limit((enum rlimit_kind)kind);
}

s64 sys_mmap(u64 address, u64 length, u32 protection, u32 flags, int fd, u64 offset)
{
	struct fd f = {0};
	s64 result;

	if (offset & (PAGE_SIZE - 1))
		return -EINVAL;
	if (!(flags & MAP_ANONYMOUS)) {
		f = fdget(fd);
		if (!f.file)
			return -EBADF;
	}
	result = mm_map(current->mm, address, length, protection, flags, f.file, offset);
	if (f.file)
		fdput(f);
	return result;
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
	u64 pages = DIV_ROUND_UP(length, PAGE_SIZE);
	u8 piece[256];

	if (address & (PAGE_SIZE - 1))
		return -EINVAL;
	if (length > USER_TOP || address > USER_TOP - length)
		return -ENOMEM;
	while (pages) {
		unsigned n = min_t(unsigned, pages, sizeof(piece));
		int error = mm_resident(current->mm, address, n, piece);

		if (error)
			return error;
		if (copy_to_user(resident, piece, n))
			return -EFAULT;
		address += n * PAGE_SIZE;
		resident += n;
		pages -= n;
	}
	return 0;
}

s64 sys_mlock(u64 address, u64 length)
{
	return mm_lock(current->mm, address, length, true, true);
}

s64 sys_mlock2(u64 address, u64 length, u32 flags)
{
	if (flags & ~MLOCK_ONFAULT)
		return -EINVAL;
	return mm_lock(current->mm, address, length, true, !(flags & MLOCK_ONFAULT));
}

s64 sys_munlock(u64 address, u64 length)
{
	return mm_lock(current->mm, address, length, false, false);
}

s64 sys_mlockall(u32 flags)
{
	if (!(flags & (MCL_CURRENT | MCL_FUTURE)) ||
	    flags & ~(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT))
		return -EINVAL;
	return mm_lock_all(current->mm, flags);
}

s64 sys_munlockall(void)
{
	return mm_lock_all(current->mm, 0);
}
