/*
 * program.h - one execve(2) on its way: what exec.c and elf.c know of the new program.
 *
 * exec.c opens the file and fills the stack of a new address space, elf.c maps what the file says,
 * exec.c makes it current's. Nobody else sees it until then: no locks. All may sleep.
 */
#pragma once

#include "core/kernel.h"

struct file;

#define EXEC_HEADER 256 /* bytes read to tell what a file is; ld.so's name is no longer either */
#define ELF_SEGMENT_SIZE 56

#define page_up(x) round_up((u64)(x), (u64)PAGE_SIZE)

/* One execve on its way. The names, arguments and environment are in the program's memory, or, for
 * init, which has no address space yet, in the kernel's. */
struct program {
	struct file *file;
	char header[EXEC_HEADER + 1];
	struct mm *mm;
	u64 argc, envc;
	u64 sp, lowest; /* the stack is filled downwards to here, and no further than there */

	u64 entry, start;      /* of the program; where it starts: its interpreter's */
	u64 phdr, phnum, base; /* the program headers in memory; where the interpreter lies */

	const struct cred *cred;
	bool secure;		  /* it is a set-user-id or set-group-id program */
	bool name_closes;	  /* by its name nobody can open it: that is of a descriptor */
	/* as given; the slack is for the path walk, which reads words, and for "/dev/fd/12345/" */
	char name[PATH_MAX + 32];
};

/* exec.c */
/* A random number of pages below 2^@bits, in bytes; 0 where addresses are to be the same each time:
 * under `icount` and `norandmaps`, and for who asked by personality(2), but not of a @program that
 * may have rights he has not. */
u64 random_pages(const struct program *program, unsigned bits);
/* Open a file that current may execute, and keep it from being written: 0, or -EACCES, -ETXTBSY,
 * -ENOENT ... If *to is set the caller closes it. */
int exec_open(const char *name, struct file **to);
/* What @path leads to; it is taken over as by file_open_path(). */
int exec_open_path(struct path *path, struct file **to);
/* Run program->file in place of current's program: all of it but to open that. Returns only if it
 * fails, with -errno, and @program is the caller's still. May sleep. */
s64 program_run(struct program *program, const u64 *argv, const u64 *envp);
void program_free(struct program **program); /* and what it holds */
DEFINE_FREE(program, struct program *, program_free(variable))
/* @n bytes from @offset on: 0, -ENOEXEC (there are fewer), -EIO ... */
int read_exactly(struct file *file, void *buffer, size_t n, u64 offset);
/* Where the kernel sees byte @address of the new program, to write up to the page's end; NULL: no
 * memory. Nobody else uses its mm: what is mapped stays, until something else is mapped there. */
u8 *program_byte(struct program *program, u64 address);

/* elf.c */
/* Map program->file, and the interpreter that it names; sets where it starts and what the auxiliary
 * vector tells. -ENOEXEC: no program for this machine; -ELIBBAD: its interpreter is none; -ENOMEM
 * ... */
int load_program(struct program *program);
