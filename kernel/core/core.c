/*
 * core.c - the order in which the services of this room come up.
 */
#include "kernel/core/core.h"
#include "kernel/core/cmdline.h"
#include "kernel/core/lockdep.h"
#include "kernel/core/printk.h"
#include "kernel/core/random.h"
#include "kernel/core/time.h"
#include "kernel/core/timer.h"

bool system_running;

void core_early_init(const char *command_line)
{
	int error = cmdline_init(command_line);

	lockdep_init();
	printk_init();
	if (error)
		pr_err("command line: too many words or characters, the rest is ignored\n");
}

void core_init(void)
{
	timers_init();
	time_init();
	random_init();
}
