/*
 * sys_machine.c - the machine as a whole: sysinfo, the log, power-off.
 */
#include "fs/vfs.h"
#include "kernel/proc/process.h"
#include "kernel/sys/syscalls.h"

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
		.processes = (u16)task_count,
		.unit = PAGE_SIZE,
	};

	return copy_to_user(to, &info, sizeof(info)) ? -EFAULT : 0;
}

static u64 syslog_cleared; /* position up to which "clear" has hidden the log */

/* Copy the newest @size bytes of the log, or less, to the program. */
static s64 read_log(char *to, size_t size, bool clear)
{
	u64 position = max(READ_ONCE(log_first), syslog_cleared), end = READ_ONCE(log_complete);
	char *chunk __free(kfree) = TRY_PTR(kmalloc(PAGE_SIZE, GFP_KERNEL));
	s64 done = 0;

	position = max(position, end - min((u64)size, end));
	for (size_t n; position < end; done += (s64)n) {
		n = log_read(&position, chunk, min(PAGE_SIZE, size - (size_t)done));
		if (!n)
			break;
		if (copy_to_user(to + done, chunk, n))
			return -EFAULT;
	}
	if (clear)
		syslog_cleared = end;
	return done;
}

s64 sys_syslog(int action, char *buffer, int length)
{
	enum { READ_ALL = 3, READ_CLEAR, CLEAR, OFF, ON, LEVEL, SIZE = 10 };

	if (action != READ_ALL && action != SIZE && !capable(current->cred))
		return -EPERM;
	switch (action) {
	case READ_ALL:
	case READ_CLEAR:
		if (!buffer || length < 0)
			return -EINVAL;
		return read_log(buffer, (size_t)length, action == READ_CLEAR);
	case CLEAR:
		syslog_cleared = READ_ONCE(log_complete);
		return 0;
	case OFF:
	case ON:
	case LEVEL:
		if (action == LEVEL && (length < 1 || length > 8))
			return -EINVAL;
		console_loglevel = action == OFF ? 1 : action == ON ? 7 : length;
		return 0;
	case SIZE:
		return LOG_SIZE;
	}
	return -EINVAL;
}

#define REBOOT_MAGIC 0xfee1dead
#define REBOOT_MAGIC2 672274793

s64 sys_reboot(u32 magic, u32 magic2, u32 command, void *argument)
{
	if (!capable(current->cred))
		return -EPERM;
	if (magic != REBOOT_MAGIC || (magic2 != REBOOT_MAGIC2 && magic2 != 85072278 &&
				      magic2 != 369367448 && magic2 != 537993216))
		return -EINVAL;
	switch (command) {
	case 0x4321fedc: /* power off */
	case 0xcdef0123: /* halt */
		machine_shutdown(false);
	case 0x01234567: /* restart */
		machine_shutdown(true);
	case 0: /* what ctrl-alt-del does: there is no such key */
	case 0x89abcdef:
		return 0;
	}
	return -EINVAL;
}
