/*
 * robust_list.c - get_robust_list(2). musl asks for its own, to learn whether there are robust
 * lists; others are for checkpoints of programs.
 */
#include "kernel/proc/process.h"

#define ROBUST_LIST_HEAD_SIZE 24 /* three words: futex.c */

s64 sys_get_robust_list(int pid, u64 *head, size_t *size)
{
	if (pid && pid != current->pid)
		return -EPERM;
	TRY(put_user(ROBUST_LIST_HEAD_SIZE, size));
	return put_user(current->robust_list, head);
}
