/*
 * vm.h - address spaces: what a process has mapped where, page faults, mmap and its relatives.
 *
 * A struct mm holds areas (struct vma), in a tree by address, and the page tables. An entry that
 * maps a page holds a reference to it. An anonymous page with one reference belongs to
 * its only mapper, so a write fault need not copy it. A page of a file is mapped writable only in
 * shared areas and only as long as it is marked dirty: the machine's dirty bits are not needed.
 *
 * W^X: no page is mapped writable and executable at once. Of an area with PROT_WRITE | PROT_EXEC,
 * as programs that make code ask for, each page is the one or the other, and changes when a fault
 * says so. Of two areas with the same page of a file one may write what the other executes.
 *
 * Lock order: inode->lock -> mm->lock (rw_semaphore; readers: faults, writers: mmap...) -> page
 * lock -> mapping->vma_lock -> mm->page_table_lock -> the page table's bucket lock, mapping->lock.
 * The areas change under mm->lock held for writing; the bounds of an area that maps a file under
 * mapping->vma_lock as well.
 *
 * Limits: at most 65536 areas; no huge pages.
 */
#pragma once

#include <arch/mmu.h>

#include "core/memory/page.h"

struct file;

/* Numbers of mmap(2) and its relatives, as programs are compiled with them (Linux, x86-64). */
enum { PROT_NONE = 0, PROT_READ = 1, PROT_WRITE = 2, PROT_EXEC = 4 };

/* In the bits of MAP_TYPE. */
enum { MAP_SHARED = 0x01, MAP_PRIVATE = 0x02, MAP_SHARED_VALIDATE = 0x03, MAP_TYPE = 0x0f };
enum { MAP_FIXED = 0x10, MAP_FIXED_NOREPLACE = 0x100000, MAP_ANONYMOUS = 0x20, MAP_32BIT = 0x40 };
enum { MAP_GROWSDOWN = 0x0100, MAP_LOCKED = 0x2000, MAP_NORESERVE = 0x4000 };
enum { MS_ASYNC = 1, MS_INVALIDATE = 2, MS_SYNC = 4 };
#define MADV_DONTNEED 4 /* below it: NORMAL, RANDOM, SEQUENTIAL, WILLNEED */

/* Protection and flags have Linux's ABI values in the calls (PROT_*, MAP_*), VM_*
 * inside. */
#define VM_READ (1u << 0)
#define VM_WRITE (1u << 1)
#define VM_EXEC (1u << 2)
#define VM_RIGHTS (VM_READ | VM_WRITE | VM_EXEC)
#define VM_SHARED (1u << 3)
#define VM_GROWSDOWN (1u << 8)

enum area_side { BELOW, ABOVE };

struct vma {
	u64 start, end;	    /* page aligned, end exclusive */
	unsigned flags;	    /* VM_* */
	bool has_anonymous; /* some page is (or was) anonymous: fork must look */
	u8 height;	    /* of its subtree (areas.c); a leaf's is 1 */
	u64 largest_gap;    /* below an area of its subtree: no more bytes than these */
	struct mm *mm;
	struct file *file;	       /* NULL: anonymous */
	struct address_space *mapping; /* the file's, whose pages it shows; or NULL */
	pgoff_t page_offset;	       /* of its start in the file */

	/* Each area's own: a copy begins without. */
	struct list_head link;	       /* in mapping->vmas; what was taken out: in mm->dead */
	struct vma *below, *above;     /* among the areas of mm, the next ones; NULL: none */
	struct vma *parent, *child[2]; /* in their tree; the children by side */
};

struct mm {
	atomic_t users; /* tasks, and who looks at it; a user may count another: atomic_inc() */
	struct rw_semaphore lock;

	/* Under lock. */
	struct vma *areas; /* the root of their tree; NULL: there are none */
	unsigned area_count;
	struct vma *last_hit;	     /* hint for find_vma(): any area, or NULL */
	struct list_head dead;	     /* taken out; mm_write_unlock() frees them */
	u64 total_pages, data_pages; /* of the areas: RLIMIT_AS, RLIMIT_DATA */
#ifdef CONFIG_SWAP
	bool locks_future; /* new areas are VM_LOCKED */
	u64 locks_most;	   /* so many pages: as who locked last might */
	/* Swap's thread goes through the list, and stopped at that address. Under mms_lock. */
	struct list_head swap_link;
	u64 swap_hand;
	u32 swap_round;	   /* of swapoff, that has seen it */
	u64 swapped_pages; /* entries that are swap entries; under page_table_lock */
#endif

	/* Under lock; what a fork copies. */
	unsigned idle_tables;	     /* page tables that may have been left without an area ... */
	u64 idle_last;		     /* ... the last of them: its address / MMU_SLOTS_SPAN */
	u64 brk_start, brk_end;
	u64 mmap_top; /* mappings grow down from here */
	u64 stack_top;
	u64 arg_start, arg_end, env_start, env_end; /* for /proc/PID/cmdline */
	struct file *exe; /* with a reference */

	/* Under page_table_lock. */
	spinlock_t page_table_lock;
	struct mmu_root mmu; /* a context switch makes it this CPU's: mmu_switch() */
	u64 resident_pages;  /* entries that map a page ... */
	u64 file_pages;	     /* ... and those of them that map a page of the page cache */
};

struct mm *mm_create(void);	       /* NULL: out of memory */
struct mm *mm_fork(struct mm *parent); /* copy on write; NULL: out of memory */
void mm_put(struct mm *mm);	       /* the last one unmaps all; may sleep */

/* Linux's mmap(2) semantics on @mm; returns the address or -errno as s64. @file may be NULL for
 * private memory. */
s64 mm_map(struct mm *mm, u64 address, u64 length, unsigned prot, unsigned map_flags,
	   struct file *file, u64 offset);
/* first with end > address, mm->lock held; NULL: none */
struct vma *find_vma(struct mm *mm, u64 address);

/*
 * A page fault at @address. 0: resolved, retry. -EFAULT: no such mapping (SIGSEGV SEGV_MAPERR),
 * -EACCES: protection (SEGV_ACCERR), -EIO: past the end of a file or read error (SIGBUS), -ENOMEM:
 * out of memory and nobody to kill for it, or this process is the one. May sleep; called with
 * interrupts enabled. For kernel-mode faults on user addresses inside copies too (then a failure
 * makes the copy return early). Counts the task's minor_faults and major_faults.
 */
int mm_fault(struct mm *mm, u64 address, unsigned access);

/* Set at boot: what mm_fault() calls when there is no memory and nothing to reclaim. It begins to
 * end the process whose end gives the most memory, and sleeps no longer than for its locks; false:
 * there is none. NULL: nobody can be ended, and such a fault is -ENOMEM. */
extern bool (*oom_killer)(void);
