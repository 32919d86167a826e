/*
 * user.h - hosted: programs' memory. A task may run in an address space (struct mm) and then load
 * and store there as a program does: by page tables and a TLB (mmu.c), and mm_fault() for what they
 * do not allow.
 *
 *	user_enter(mm_create());
 *	at = user_map(0, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, "/mnt/file", 0);
 *	CHECK_EQUAL(user_store((u64)at, "text", 4), 0);
 *
 * Addresses below USER_TOP are the program's in all calls of a task that has an address space
 * (uaccess.h); all others are plain memory of the test, and so are all of a task that has none.
 */
#pragma once

#include "fs/inode/inode.h"
#include "hosted/machine/hosted.h"
#include "mm/space/vm.h"

/* ---- running in an address space ------------------------------------------------------------- */

void user_enter(struct mm *mm); /* user_leave() first; takes the reference over */
/* Start function(argument) as task_start() does, in @mm, whose reference it takes over: as a thread
 * (user_share()) or the child of a fork (mm_fork(current->mm)). */
void user_start(struct mm *mm, void (*function)(void *), void *argument);
struct mm *user_share(void); /* ours, with another reference */

/* mmap(2): an address, or -errno. @path NULL: no file. A shared mapping opens it for writing too if
 * @prot has that. */
s64 user_map(u64 address, u64 length, unsigned prot, unsigned flags, const char *path, u64 offset);


/* ---- what a program does --------------------------------------------------------------------- */

/* Instructions, each of at most 8 bytes that are aligned so; between two of them another task may
 * run. 0, or the signal that the program gets at the first byte that it cannot touch: SIGSEGV,
 * SIGBUS, or SIGKILL when memory ends. */
enum { USER_SIGBUS = 7, USER_SIGKILL = 9, USER_SIGSEGV = 11 };
int user_load(u64 address, void *data, size_t n);
int user_store(u64 address, const void *data, size_t n);
int user_fetch(u64 address); /* run what is there */

/* ---- mmu.c ----------------------------------------------------------------------------------- */

/*
 * One access of current's to @n bytes at @address, which do not cross a multiple of 8: true, or
 * *@fault has the FAULT_* bits that mm_fault() is told; @access of them: FAULT_WRITE, FAULT_EXEC,
 * FAULT_USER. Does not fault itself.
 */
bool mmu_access(u64 address, void *data, size_t n, unsigned access, unsigned *fault);

/* Called where other CPUs may come between a translation and its use, and again and again by who
 * waits for that use (mmu_flush()): must let other tasks run. NULL: nothing comes between. */
extern void (*mmu_pause)(void);
/* Called before a flush, and before an access looks at the tables: what this CPU has stored is seen
 * by all, as the machine sees to it. NULL: it is anyway. */
extern void (*mmu_fence)(void);
