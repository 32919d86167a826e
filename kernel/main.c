/*
 * main.c - start-up: from the machine's first C instruction to the first program, in this order.
 *
 * Each step may use what the steps before it brought up. Until boot_release_memory() memory comes
 * from boot_alloc(); until arch_irq_init() interrupts are off and the clock stands at 0. What may
 * sleep runs in a kernel thread (start_rest): CPU 0's own thread ends as its idle task, as every
 * other CPU's does, and an idle task never sleeps.
 */
#include <arch/boot.h>

#include "fs/start.h"
#include "fs/writeback.h"
#include "hash/cache.h"
#include "kernel/drivers/drivers.h"
#include "kernel/proc/process.h"
#include "kernel/tty/tty.h"
#include "mm/space/vm.h"

__noreturn void kernel_main(u32 magic, phys_addr_t info);

#ifdef CONFIG_PROFILE
#include <arch/report.h>

#include "core/base/room.h"
#include "fs/proc/proc.h"

static const struct proc_node profile_nodes[] = {
	{"profile", PROC_FILE | 0200, .show = proc_profile_show, .write = proc_profile_write},
	{NULL},
};

static void profile_start(void)
{
	proc_register(profile_nodes);
}
ROOM_START(profile_start);
#endif

/*
 * With seed=: what earlier work would have left behind in memory, so that with another seed slabs,
 * and the keys that are addresses in them, lie elsewhere. Some frames and objects stay taken. After
 * the hash tables, whose sizes must not depend on it.
 */
static void scatter_memory(void)
{
	for (u64 count = 32 + random_u64() % 64; count; count--)
		page_alloc_hold(random_u64() % memmap_pages);
	slab_hold(random_u64());
}

/* The command line, and what it says of the log. */
static void options_init(void)
{
	int error = cmdline_init(boot_info.command_line);
	u64 level = LOG_LEVELS - 1;

	if (cmdline_flag("quiet"))
		level = 4;
	if (cmdline_flag("debug"))
		level = LOG_LEVELS;
	cmdline_u64("loglevel", &level);
	printk_set_level(level);
	if (error)
		pr_err("command line: too many words or characters, the rest is ignored\n");
}

/* Optional rooms': ROOM_START(). */
extern void (*const __start_room_starts[])(void), (*const __stop_room_starts[])(void);

static int start_rest(void *unused)
{
	for (void (*const *start)(void) = __start_room_starts; start < __stop_room_starts; start++)
		(*start)();
	mem_devices_init();
	tty_init();
	ramdisk_init();
	virtio_blk_init();
	writeback_start();
	init_start();
	hash_report_serve();
}

/* From boot/start.S, on CPU 0: what the loader left in EAX and EBX. */
void kernel_main(u32 magic, phys_addr_t info)
{
	serial_early_init();
	arch_early_init(magic, info);
	lock_classes_init();
	options_init();
	pr_info("Chainwalk, command line: %s\n", boot_info.command_line);
	hash_record_init();
	page_alloc_init(boot_info.max_phys);
	boot_release_memory();
	slab_init();
	page_cache_init();
	arch_irq_init();
	time_init();
	random_init();
	hash_random_init(random_u64());
	sched_init(&idle_tasks[0], &init_cred);
	task_init();
	oom_killer = oom_kill;
	vfs_init();
	if (random_fixed)
		scatter_memory();
	arch_smp_init();
	system_running = true;
	arch_irq_enable();
	if (IS_ERR(kthread_create(start_rest, NULL, "start")))
		panic("no memory for the first thread");
	sched_idle_loop();
}
