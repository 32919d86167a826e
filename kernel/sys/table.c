/*
 * table.c - the dispatch table, made from syscalls.def, and what happens to calls that are not
 * there.
 */
#include <arch/process.h>

#include "core/kernel.h"
#include "kernel/sys/syscalls.h"

/* The optional room that would bring the call of @number; NULL: there is none. */
static const char *room_with(u64 number)
{
	switch (number) {
#define SYSCALL(number, name, arguments, differs)
#define SYSCALL_OF(room, number, name, arguments, differs)                                         \
	case number:                                                                               \
		return #room;
#include "core/syscalls.def"
#undef SYSCALL
	}
	return NULL;
}

static s64 syscall_missing(void)
{
	static unsigned long said[SYSCALL_LIMIT / 64 + 1];
	u64 number = current_registers()->orig_ax;
	const char *room;

	if (number >= SYSCALL_LIMIT || test_and_set_bit(number, said))
		return -ENOSYS;
	pr_info("%s[%d]: system call %llu is not there: ENOSYS\n", current->comm, current->pid,
		number);
	room = room_with(number);
	if (room)
		pr_info("a kernel built with %s=y has it\n", room);
	return -ENOSYS;
}

u32 syscall_count = SYSCALL_LIMIT;

/* In a kernel without kernel/trace, whose own it would be. */
__weak s64 syscall_other(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
{
	return syscall_missing();
}

static s64 syscall_tried(void)
{
	return -ENOSYS;
}

static s64 refused_EOPNOTSUPP(void)
{
	return -EOPNOTSUPP;
}

/* libc takes this for a kernel without networks, and goes on; ENOSYS would be a failure to musl, of
 * getgrouplist() and initgroups() for example. */
static s64 refused_EAFNOSUPPORT(void)
{
	return -EAFNOSUPPORT;
}

/* bash asks it of its input: by any other error it is the shell of a remote login. */
static s64 refused_ENOTSOCK(void)
{
	return -ENOTSOCK;
}

/* Calls of optional rooms: what the linker takes where the room is not compiled. */
#pragma GCC diagnostic ignored "-Wattribute-alias"
#define SYSCALL(number, name, arguments, differs)
#define SYSCALL_OF(room, number, name, arguments, differs)                                         \
	s64 __attribute__((weak, alias("syscall_missing"))) sys_##name arguments;
#define SYSCALL_REFUSED_OF(room, error, number, name, arguments, differs)                          \
	s64 __attribute__((weak, alias("refused_" #error))) sys_##name arguments;
#include "core/syscalls.def"
#undef SYSCALL

/* Entries are called with six registers' worth of arguments and take as many as they want. */
#pragma GCC diagnostic ignored "-Woverride-init"
const syscall_function syscall_table[SYSCALL_LIMIT] = {
	[0 ... SYSCALL_LIMIT - 1] = (syscall_function)(void *)syscall_missing,
#define SYSCALL(number, name, arguments, differs) [number] = (syscall_function)(void *)sys_##name,
#define SYSCALL_TRIED(number, name, arguments, without)                                            \
	[number] = (syscall_function)(void *)syscall_tried,
#include "core/syscalls.def"
#undef SYSCALL
};
