/*
 * vm.h - address spaces: what a process has mapped where, page faults, mmap and its relatives.
 *
 * A struct mm holds areas (struct vma) sorted by address, and the page tables. Lock order:
 * mm->lock (rw_semaphore; readers: faults, writers: mmap...) -> page lock -> mm->page_table_lock.
 */
#ifndef MM_VM_H
#define MM_VM_H

#include <arch/mmu.h>

#include "kernel/core/rwsem.h"
#include "kernel/core/spinlock.h"
#include "mm/page.h"

struct file;

/* Protection and flags have Linux's ABI values in the calls (PROT_*, MAP_*), VM_* inside. */
#define VM_READ (1u << 0)
#define VM_WRITE (1u << 1)
#define VM_EXEC (1u << 2)
#define VM_SHARED (1u << 3)
#define VM_MAYWRITE (1u << 5)
#define VM_GROWSDOWN (1u << 8)
#define VM_STACK (1u << 9)
#define VM_HEAP (1u << 10)

struct vma {
	u64 start, end; /* page aligned, end exclusive */
	unsigned flags; /* VM_* */
	struct mm *mm;
	struct file *file; /* NULL: anonymous */
	pgoff_t page_offset;
	struct list_head link;	       /* in mm->vmas, by address */
	struct list_head mapping_link; /* in the file's address_space->vmas */
};

struct mm {
	atomic_t users; /* tasks */
	struct rw_semaphore lock;
	struct list_head vmas;
	struct vma *last_hit; /* hint for find_vma() */
	unsigned vma_count;
	spinlock_t page_table_lock;
	struct mmu_root mmu;
	u64 brk_start, brk_end;
	u64 mmap_top; /* mappings grow down from here */
	u64 stack_top;
	u64 arg_start, arg_end, env_start, env_end; /* for /proc/PID/cmdline */
	u64 code_start, code_end, data_start, data_end;
	u64 resident_pages, total_pages;
	struct file *exe;
	u64 auxv[2 * 24];
};

struct mm *mm_create(void);			   /* NULL: out of memory */
struct mm *mm_fork(struct mm *parent);		   /* copy on write; NULL: out of memory */
void mm_get(struct mm *mm);
void mm_put(struct mm *mm);			   /* the last one unmaps all; may sleep */
void mm_activate(struct mm *mm);		   /* make it this CPU's address space (context switch) */

/* Linux's mmap(2) semantics on @mm; returns the address or -errno as s64. @file may be NULL. */
s64 mm_map(struct mm *mm, u64 address, u64 length, unsigned prot, unsigned map_flags, struct file *file,
	   u64 offset);
int mm_unmap(struct mm *mm, u64 address, u64 length);
int mm_protect(struct mm *mm, u64 address, u64 length, unsigned prot);
s64 mm_remap(struct mm *mm, u64 address, u64 old_length, u64 new_length, unsigned flags, u64 new_address);
u64 mm_brk(struct mm *mm, u64 new_end); /* the resulting break */
int mm_sync(struct mm *mm, u64 address, u64 length, unsigned flags);
int mm_advise(struct mm *mm, u64 address, u64 length, unsigned advice);
struct vma *find_vma(struct mm *mm, u64 address); /* first with end > address, mm->lock held */

#define FAULT_WRITE (1u << 0)
#define FAULT_EXEC (1u << 1)
#define FAULT_USER (1u << 2)
/*
 * A page fault at @address. 0: resolved, retry. -EFAULT: no such mapping (SIGSEGV SEGV_MAPERR), -EACCES:
 * protection (SEGV_ACCERR), -EIO: past the end of a file or read error (SIGBUS), -ENOMEM: out of memory
 * (the process is killed). May sleep; called with interrupts enabled. For kernel-mode faults on user
 * addresses inside copies too (then a failure makes the copy return early).
 */
int mm_fault(struct mm *mm, u64 address, unsigned access);

/* Unmap pages of @mapping from page @first on from every process (truncation). Takes mapping->lock. */
void mm_unmap_file(struct address_space *mapping, pgoff_t first);

void vm_init(void);

#endif /* MM_VM_H */
