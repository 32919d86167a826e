/*
 * capget.c - capget(2): the one privilege there is, in the shape of capabilities, all or none.
 */
#include "kernel/proc/process.h"

s64 sys_capget(u32 *user_header, u32 *data)
{
	enum { VERSION_3 = 0x20080522 };
	u32 all = capable(current->cred) ? ~0u : 0, header[2];
	/* effective, permitted, inheritable, twice */
	u32 sets[6] = {all, all, 0, all & 0x1ff, all & 0x1ff, 0};

	TRY(read_user(header, user_header, sizeof(header)));
	if (header[0] != VERSION_3)
		TRY(put_user((u32)VERSION_3, user_header));
	if (!data)
		return 0;
	if (header[0] != VERSION_3)
		return -EINVAL;
	if (header[1] && (pid_t)header[1] != current->pid)
		return (int)header[1] < 0 ? -EINVAL : -ESRCH; /* of others: not known */
	return write_user(data, sets, sizeof(sets));
}
