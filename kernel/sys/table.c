/*
 * table.c - the dispatch table, made from syscalls.def, and what happens to calls that are not
 * there.
 */
#include <arch/process.h>

#include "core/kernel.h"
#include "kernel/sys/syscalls.h"

static s64 syscall_missing(void)
{
	static unsigned long said[SYSCALL_LIMIT / 64 + 1];
	u64 number = current_registers()->orig_ax;

	if (number < SYSCALL_LIMIT && !test_and_set_bit(number, said))
		pr_info("%s[%d]: system call %llu is not there: ENOSYS\n", current->comm,
			current->pid, number);
	return -ENOSYS;
}

static s64 syscall_tried(void)
{
	return -ENOSYS;
}

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
