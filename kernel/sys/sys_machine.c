/*
 * sys_machine.c - the machine as a whole: sysinfo, the log, power-off.
 */
#include "kernel/proc/process.h"
#include "mm/space/swap_hooks.h"

struct sysinfo {
	s64 uptime;
	u64 loads[3];
	u64 total_ram, free_ram, shared_ram, buffer_ram, total_swap, free_swap;
	u16 processes, pad;
	u32 pad2;
	u64 total_high, free_high;
	u32 unit;
	u32 pad3;
};
static_assert(sizeof(struct sysinfo) == 112, "struct sysinfo of x86-64");

s64 sys_sysinfo(void *to)
{
	struct sysinfo info = {
		.uptime = (s64)(ktime_ns() / NSEC_PER_SEC),
		.total_ram = page_alloc_total_pages(),
		.free_ram = page_alloc_free_pages(),
		.buffer_ram = memory_use_total(MEMORY_BUFFER),
		.total_swap = swap_total_pages(),
		.free_swap = swap_free_pages(),
		.processes = (u16)task_count,
		.unit = PAGE_SIZE,
	};

	return write_user(to, &info, sizeof(info));
}

/* The newest @length bytes of the log, or less. */
s64 sys_syslog(int action, char *buffer, int length)
{
	enum { READ_ALL = 3, SIZE = 10 };
	u64 end = READ_ONCE(log_complete), position = end - min((u64)length, end);
	s64 done = 0;

	if (action == SIZE)
		return LOG_SIZE;
	if (action != READ_ALL || !buffer || length < 0)
		return -EINVAL;
	char *chunk __free(kfree) = TRY_PTR(kmalloc(PAGE_SIZE, GFP_KERNEL));
	for (size_t n; position < end; done += (s64)n) {
		n = log_read(&position, chunk, min(PAGE_SIZE, (size_t)(length - done)));
		if (!n)
			break;
		TRY(write_user(buffer + done, chunk, n));
	}
	return done;
}

s64 sys_reboot(u32 magic, u32 magic2, u32 command, void *argument)
{
	if (!capable(current->cred))
		return -EPERM;
	if (magic != 0xfee1dead || magic2 != 672274793)
		return -EINVAL;
	switch (command) {
	case 0x4321fedc: /* power off */
	case 0xcdef0123: /* halt */
		machine_shutdown(POWER_OFF);
	case 0x01234567: /* restart */
		machine_shutdown(RESTART);
	case 0: /* what ctrl-alt-del does: there is no such key */
	case 0x89abcdef:
		return 0;
	}
	return -EINVAL;
}
