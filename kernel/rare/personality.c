/*
 * personality.c - personality(2), of which programs that want their addresses to stay use a bit.
 */
#include "kernel/proc/process.h"

/* Of Linux alone, and of what it can be told apart from that only the one thing. */
s64 sys_personality(u32 new)
{
	const u32 ask = ~0u, old = current->process->personality;

	if (new != ask && new & ~ADDR_NO_RANDOMIZE)
		return -EINVAL;
	if (new != ask)
		current->process->personality = new;
	return old;
}
