/*
 * exec.h - what exec.c and elf.c share: one execve(2) on its way.
 *
 * Until exec.c's begin_new_program() all work is done beside the running program, in program->mm,
 * and any error is the call's errno. After it there is no way back: an error ends the process.
 */
#pragma once

#include "fs/vfs.h"
#include "mm/vm.h"

#define EXEC_HEADER 256 /* bytes read to tell what a file is */

#define page_down(x) round_down((u64)(x), (u64)PAGE_SIZE)
#define page_up(x) round_up((u64)(x), (u64)PAGE_SIZE)

struct elf_segment {
	u32 type, flags;
	u64 offset, vaddr, paddr, filesz, memsz, align;
};

struct program {
	struct file *file;
	char header[EXEC_HEADER + 1];
	struct mm *mm;
	u64 window_page; /* the page of @mm that is seen at @window */
	u8 *window;

	bool from_kernel; /* the arguments are in the kernel's memory: init */
	unsigned argc, envc;
	u64 sp, lowest; /* the stack is filled downwards to here, and no further than there */
	u64 env_start, env_end;

	u64 entry, start;      /* of the program; where it starts: its interpreter's */
	u64 phdr, phnum, base; /* the program headers in memory; where the interpreter lies */

	struct cred *cred; /* set-user-id, set-group-id programs; NULL: unchanged */
	bool secure;
	char name[PATH_MAX + 16]; /* as given; the slack is for the path walk, which reads words */
};

/* Open a file that current may execute, and keep it from being written: -EACCES, -ETXTBSY, -ENOENT
 * ... */
struct file *exec_open(const char *name);

/* Where the kernel sees byte @address of the new program, to write up to the page's end; NULL: no
 * memory. Nobody else uses its mm: what is mapped stays, until something else is mapped there. */
u8 *program_byte(struct program *program, u64 address);

/* A random number of pages below 2^@bits, in bytes; 0 where addresses are to be the same each time:
 * under `icount` and `norandmaps`. */
u64 random_pages(unsigned bits);

/*
 * elf.c. Map program->file, or its @interpreter, and what that names: 0, -ENOEXEC (not an ELF of
 * this machine; -ELIBBAD: the interpreter is not), -EACCES (a segment both writable and
 * executable), -ENOMEM, -EIO ...
 */
int elf_load(struct program *program, struct file *file, bool interpreter);
