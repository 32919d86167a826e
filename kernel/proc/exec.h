/*
 * exec.h - what exec.c and elf.c share: one execve(2) on its way.
 *
 * Until exec.c's begin_new_program() all work happens beside the running program, in program->mm,
 * and any error is the call's errno. After it there is no way back: an error ends the process.
 */
#pragma once

#include "fs/vfs.h"
#include "mm/vm.h"

#define EXEC_HEADER 256	       /* bytes read to tell what a file is */
#define EXEC_STRING_MAX (32 * PAGE_SIZE) /* one argument, as in Linux */
#define EXEC_PAGES 512	       /* all arguments: 2 MB */
#define EXEC_SCRIPTS 5	       /* scripts whose interpreter is a script ... */

/* A string of bytes in pages of its own: the arguments, one NUL-terminated string after the other.
 */
struct exec_strings {
	u8 *pages[EXEC_PAGES];
	size_t length;
};

struct elf_header {
	u8 ident[16];
	u16 type, machine;
	u32 version;
	u64 entry, phoff, shoff;
	u32 flags;
	u16 ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};

struct elf_segment {
	u32 type, flags;
	u64 offset, vaddr, paddr, filesz, memsz, align;
};

struct elf_image {
	struct elf_header header;
	struct elf_segment *segments; /* header.phnum of them; kmalloc'ed */
	u64 bias;		      /* added to every address */
};

struct program {
	struct file *file;
	u8 header[EXEC_HEADER + 1];
	struct mm *mm;
	struct elf_image image, interpreter;
	u64 entry;	/* where it starts: the interpreter's, if there is one */
	u64 phdr;	/* address of the program headers in memory */

	/* The arguments before the caller's own: of scripts, first_prefix.. */
	char *prefix[2 * EXEC_SCRIPTS + 2];
	unsigned first_prefix;
	bool drop_first; /* the caller's argv[0] is replaced */

	struct exec_strings strings;
	unsigned argc, envc;
	size_t argv_bytes, env_bytes;

	struct cred *cred; /* set-user-id, set-group-id programs; NULL: unchanged */
	bool secure;
	char name[PATH_MAX + 16]; /* as given; the slack is for the path walk, which reads words */
};

/* Open a file that current may execute, and keep it from being written: -EACCES, -ETXTBSY, -ENOENT
 * ... */
struct file *exec_open(const char *name);
void exec_close(struct file *file);

/* The caller's argv and envp: pointers in user memory, or (init) in the kernel's. */
struct caller {
	const u64 *argv, *envp;
	bool kernel;
};

/* exec_stack.c. Copy the arguments into program->strings: 0, -E2BIG, -EFAULT, -EINTR. */
int copy_strings(struct program *program, const struct caller *caller);
void strings_free(struct exec_strings *strings);
/* Map the stack in program->mm: 0 or -ENOMEM; and, once that is current's, fill it: *sp, or
 * -EFAULT. */
int make_stack(struct program *program);
int write_stack(struct program *program, u64 *sp);

/*
 * elf.c. Map program->file into program->mm: 0, -ENOEXEC (not an ELF of this machine), -EACCES (a
 * segment both writable and executable), -ENOMEM, -EIO ...
 */
int elf_load(struct program *program);
/* The new mm is current's: clear what lies behind the file's part of segments. 0 or -EFAULT. */
int elf_clear_bss(const struct program *program);
void elf_free(struct program *program);
