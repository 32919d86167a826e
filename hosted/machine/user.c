/*
 * user.c - hosted: programs' memory, and what the kernel's other half (kernel/proc, kernel/sys)
 * gives to mm/. See user.h.
 */
#include "fs/tmpfs/tmpfs.h"
#include "core/memory/slab.h"
#include "mm/space/swap_hooks.h"
#include "hosted/machine/user.h"

#include <string.h>

#include "hosted/harness/harness.h"
#include "core/log/assert.h"
#include "core/sched/sched.h"

#define INSTRUCTION 8u /* bytes that one touches at most */
#define TICK_ONE_IN 16 /* instructions */

/* ---- running in an address space ------------------------------------------------------------- */

void user_leave(void)
{
	struct mm *mm = current->mm;

	if (!mm)
		return;
	mmu_switch(NULL);
	current->mm = NULL;
	mm_put(mm);
}

void user_enter(struct mm *mm)
{
	BUG_ON(!mm);
	user_leave();
	current->mm = mm;
	mmu_switch(&mm->mmu);
#ifdef CONFIG_SWAP
	/* As exec does. One that is shared or was forked, and so has areas, is in the list already:
	 * who looks there may be moving it. */
	if (!mm->area_count && !mm->swap_link.next)
		swap_mm_add(mm);
#endif
}

struct mm *user_share(void)
{
	atomic_inc(&current->mm->users);
	return current->mm;
}

struct start {
	struct mm *mm;
	void (*function)(void *);
	void *argument;
};

static void run(void *argument)
{
	struct start start = *(struct start *)argument;

	kfree(argument);
	user_enter(start.mm);
	start.function(start.argument);
}

void user_start(struct mm *mm, void (*function)(void *), void *argument)
{
	struct start *start = kmalloc(sizeof(*start), GFP_KERNEL);

	BUG_ON(!mm || !start);
	*start = (struct start){mm, function, argument};
	task_start(run, start);
}

s64 user_map(u64 address, u64 length, unsigned prot, unsigned flags, const char *path, u64 offset)
{
	bool shared = (flags & MAP_TYPE) == MAP_SHARED;
	struct file *file __free(fput) = NULL;

	if (path)
		file = TRY_PTR(
			open_path(path, shared && prot & PROT_WRITE ? O_RDWR : O_RDONLY, 0));
	else if (shared) /* as sys_mmap() */
		file = TRY_PTR(tmpfs_file(0777, length, O_RDWR));
	return mm_map(current->mm, address, length, prot, path ? flags : flags | MAP_ANONYMOUS,
		      file, offset);
}

/* ---- accesses -------------------------------------------------------------------------------- */

/* 0, or mm_fault()'s error at the first byte that cannot be touched: *@done are before it. */
static int access_user(u64 address, char *data, size_t n, unsigned access, size_t *done)
{
	for (*done = 0; *done < n;) {
		u64 at = address + *done;
		size_t part = min(n - *done, (size_t)(INSTRUCTION - at % INSTRUCTION));
		unsigned fault;

		if (access & FAULT_USER && rng_below(&disk_rng, TICK_ONE_IN) == 0)
			schedule();
		if (at >= USER_TOP)
			return -EFAULT;
		if (mmu_access(at, data + *done, part, access, &fault))
			*done += part;
		else
			TRY(mm_fault(current->mm, at, fault));
	}
	return 0;
}

static int signal_of(int error)
{
	if (error == -ENOMEM)
		return USER_SIGKILL;
	if (error == -EIO)
		return USER_SIGBUS;
	return error ? USER_SIGSEGV : 0;
}

int user_load(u64 address, void *data, size_t n)
{
	size_t done;

	return signal_of(access_user(address, data, n, FAULT_USER, &done));
}

int user_store(u64 address, const void *data, size_t n)
{
	size_t done;

	return signal_of(access_user(address, (char *)data, n, FAULT_USER | FAULT_WRITE, &done));
}

int user_fetch(u64 address)
{
	size_t done;
	char opcode;

	return signal_of(access_user(address, &opcode, 1, FAULT_USER | FAULT_EXEC, &done));
}

/* ---- uaccess.h ------------------------------------------------------------------------------- */

bool user_address(const void *address)
{
	return current->mm && (u64)(uintptr_t)address < USER_TOP;
}

size_t user_copy(const void *address, void *data, size_t n, bool write)
{
	size_t done;

	access_user((u64)(uintptr_t)address, data, n, write ? FAULT_WRITE : 0, &done);
	return n - done;
}
