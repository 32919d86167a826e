/*
 * exec_stack.c - the arguments of an execve(2): copied into kernel pages, then onto the new
 * program's stack.
 *
 * The stack, from the top: 8 zero bytes, the file name, the environment's strings, the arguments'
 * strings, the platform's name, 16 random bytes; then aligned to 16 the auxiliary vector,
 * environment and argument pointers, and argc at the stack pointer. There is no address
 * randomisation: runs are to repeat exactly.
 */
#include <arch/elf.h>
#include <arch/signal.h>

#include "kernel/core/random.h"
#include "kernel/core/sched.h"
#include "kernel/core/string.h"
#include "kernel/core/uaccess.h"
#include "kernel/proc/exec.h"
#include "kernel/proc/process.h"
#include "mm/mman.h"

#define page_round(x) round_up((u64)(x), (u64)PAGE_SIZE)
#define STACK_INITIAL KB(128)
#define STACK_GAP_MIN MB(128) /* kept free for the stack below its top */

enum auxiliary {
	AT_NULL = 0,
	AT_PHDR = 3,
	AT_PHENT = 4,
	AT_PHNUM = 5,
	AT_PAGESZ = 6,
	AT_BASE = 7,
	AT_FLAGS = 8,
	AT_ENTRY = 9,
	AT_UID = 11,
	AT_EUID = 12,
	AT_GID = 13,
	AT_EGID = 14,
	AT_PLATFORM = 15,
	AT_HWCAP = 16,
	AT_CLKTCK = 17,
	AT_SECURE = 23,
	AT_RANDOM = 25,
	AT_HWCAP2 = 26,
	AT_EXECFN = 31,
	AT_MINSIGSTKSZ = 51,
};

/* ---- argument strings ------------------------------------------------------------------------ */

static size_t strings_limit(void)
{
	u64 limit = process_limit(RLIMIT_STACK) / 4;

	return max(min(limit, (u64)EXEC_PAGES * PAGE_SIZE), (u64)EXEC_STRING_MAX);
}

/* Memory behind the end of the strings, and in *room how much of it. NULL: none, or too long. */
static u8 *strings_end(struct exec_strings *strings, size_t *room)
{
	size_t page = strings->length / PAGE_SIZE, offset = strings->length % PAGE_SIZE;

	if (page >= EXEC_PAGES)
		return NULL;
	if (!strings->pages[page]) {
		strings->pages[page] = get_free_pages(GFP_KERNEL, 0);
		if (!strings->pages[page])
			return NULL;
	}
	*room = PAGE_SIZE - offset;
	return strings->pages[page] + offset;
}

static int append_user(struct exec_strings *strings, const char *from)
{
	size_t length = 0, room;
	s64 n;

	for (;;) {
		u8 *to = strings_end(strings, &room);

		if (!to)
			return -E2BIG;
		n = strncpy_from_user((char *)to, from + length, room);
		if (n < 0)
			return (int)n;
		if ((size_t)n < room) {
			strings->length += (size_t)n + 1;
			return length + (size_t)n < EXEC_STRING_MAX ? 0 : -E2BIG;
		}
		strings->length += room;
		length += room;
		if (length > EXEC_STRING_MAX)
			return -E2BIG;
	}
}

static int append_kernel(struct exec_strings *strings, const char *from)
{
	size_t left = strlen(from) + 1, room, n;

	while (left) {
		u8 *to = strings_end(strings, &room);

		if (!to)
			return -E2BIG;
		n = min(left, room);
		memcpy(to, from, n);
		strings->length += n;
		from += n;
		left -= n;
	}
	return 0;
}

static u8 strings_byte(const struct exec_strings *strings, size_t offset)
{
	return strings->pages[offset / PAGE_SIZE][offset % PAGE_SIZE];
}

void strings_free(struct exec_strings *strings)
{
	for (unsigned i = 0; i < EXEC_PAGES && strings->pages[i]; i++)
		free_pages(strings->pages[i], 0);
}

/* Append the strings of @array from element @first on; count in *count. */
static int append_array(struct program *program, const struct caller *caller, const u64 *array,
			unsigned first, unsigned *count)
{
	u64 pointer;
	int error;

	if (!array)
		return 0;
	for (unsigned i = 0;; i++) {
		if (caller->kernel)
			pointer = array[i];
		else if (get_user(pointer, array + i))
			return -EFAULT;
		if (!pointer)
			return 0;
		if (i < first)
			continue;
		error = caller->kernel ? append_kernel(&program->strings, (const char *)pointer)
				       : append_user(&program->strings, (const char *)pointer);
		if (error)
			return error;
		++*count;
		if (program->strings.length + (program->argc + program->envc) * sizeof(u64) >
		    strings_limit())
			return -E2BIG;
		if (fatal_signal_pending(current))
			return -EINTR;
	}
}

int copy_strings(struct program *program, const struct caller *caller)
{
	struct exec_strings *strings = &program->strings;
	int error = 0;

	for (unsigned i = program->first_prefix; !error && i < ARRAY_SIZE(program->prefix); i++) {
		error = append_kernel(strings, program->prefix[i]);
		program->argc++;
	}
	if (!error)
		error = append_array(program, caller, caller->argv, program->drop_first,
				     &program->argc);
	if (!error && !program->argc) { /* as Linux does since 5.18 */
		error = append_kernel(strings, "");
		program->argc = 1;
	}
	program->argv_bytes = strings->length;
	if (!error)
		error = append_array(program, caller, caller->envp, 0, &program->envc);
	program->env_bytes = strings->length - program->argv_bytes;
	return error ? error : append_kernel(strings, program->name);
}

/* ---- the new address space and its stack ----------------------------------------------------- */

int make_stack(struct program *program)
{
	struct mm *mm = program->mm;
	u64 limit = process_limit(RLIMIT_STACK), size;
	s64 result;

	mm->stack_top = USER_TOP;
	mm->mmap_top = USER_TOP - page_round(max(min(limit, (u64)GB(64)), (u64)STACK_GAP_MIN));
	size = page_round(program->strings.length + (program->argc + program->envc) * sizeof(u64) +
			  STACK_INITIAL);
	result = mm_map(mm, USER_TOP - size, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_GROWSDOWN | MAP_STACK, NULL,
			0);
	return result < 0 ? (int)result : 0;
}

static int put_strings(const struct exec_strings *strings, u64 to)
{
	for (size_t done = 0; done < strings->length; done += PAGE_SIZE) {
		if (copy_to_user((void *)(to + done), strings->pages[done / PAGE_SIZE],
				 min(strings->length - done, PAGE_SIZE)))
			return -EFAULT;
	}
	return 0;
}

/* Pointers to @count strings that begin at strings[*offset] and at user address @base + *offset. */
static int put_pointers(const struct program *program, u64 base, size_t *offset, unsigned count,
			u64 **at)
{
	while (count--) {
		if (put_user(base + *offset, *at))
			return -EFAULT;
		++*at;
		while (strings_byte(&program->strings, *offset))
			++*offset;
		++*offset;
	}
	return put_user(0ULL, (*at)++);
}

static unsigned fill_auxiliary(const struct program *program, u64 *out, u64 name, u64 random,
			       u64 platform)
{
	const struct cred *cred = current->cred;
	const u64 pairs[] = {
		AT_MINSIGSTKSZ, arch_signal_stack_size(),
		AT_HWCAP, arch_hwcap,
		AT_PAGESZ, PAGE_SIZE,
		AT_CLKTCK, 100,
		AT_PHDR, program->phdr,
		AT_PHENT, sizeof(struct elf_segment),
		AT_PHNUM, program->image.header.phnum,
		AT_BASE, program->interpreter.segments ? program->interpreter.bias : 0,
		AT_FLAGS, 0,
		AT_ENTRY, program->image.header.entry + program->image.bias,
		AT_UID, cred->uid,
		AT_EUID, cred->euid,
		AT_GID, cred->gid,
		AT_EGID, cred->egid,
		AT_SECURE, program->secure,
		AT_RANDOM, random,
		AT_HWCAP2, 0,
		AT_EXECFN, name,
		AT_PLATFORM, platform,
		AT_NULL, 0,
	};

	_Static_assert(sizeof(pairs) <= sizeof(((struct mm *)0)->auxv), "mm->auxv is too small");
	memcpy(out, pairs, sizeof(pairs));
	return ARRAY_SIZE(pairs);
}

/* Write the stack of the new program, which is current's already; its stack pointer in *sp. */
int write_stack(struct program *program, u64 *sp)
{
	struct mm *mm = program->mm;
	u64 base = mm->stack_top - 8 - program->strings.length, platform, random, *at;
	u8 seed[16];
	unsigned words;
	size_t offset = 0;
	int error = put_strings(&program->strings, base);

	platform = base - sizeof(ARCH_PLATFORM);
	random = round_down(platform - sizeof(seed), 16ULL);
	get_random_bytes(seed, sizeof(seed));
	if (error || copy_to_user((void *)platform, ARCH_PLATFORM, sizeof(ARCH_PLATFORM)) ||
	    copy_to_user((void *)random, seed, sizeof(seed)))
		return -EFAULT;
	mm->arg_start = base;
	mm->arg_end = mm->env_start = base + program->argv_bytes;
	mm->env_end = mm->env_start + program->env_bytes;
	words = fill_auxiliary(program, mm->auxv, mm->env_end, random, platform);
	at = (u64 *)random - (words + program->argc + program->envc + 3);
	at = (u64 *)round_down((u64)at, 16ULL);
	*sp = (u64)at;
	if (put_user((u64)program->argc, at++) ||
	    put_pointers(program, base, &offset, program->argc, &at) ||
	    put_pointers(program, base, &offset, program->envc, &at) ||
	    copy_to_user(at, mm->auxv, words * sizeof(u64)))
		return -EFAULT;
	return 0;
}
