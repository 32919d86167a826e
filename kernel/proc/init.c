/*
 * init.c - process 1: the root file system, the console, the first program; and the machine's end.
 *
 * Command line: root=tmpfs (the default; the initial RAM disk is unpacked into it) or
 * root=/dev/NAME with rootfstype= (default ext2) and `ro`; init=PROGRAM (default /init, /sbin/init,
 * /bin/sh); words after `--` are the program's arguments.
 */
#include <arch/power.h>
#include <arch/process.h>

#include "boot/boot_info.h"
#include "fs/file/open.h"
#include "fs/initramfs.h"
#include "fs/start.h"
#include "hash/cache.h"
#include "kernel/proc/process.h"

static void mount_root(void)
{
	const char *root = cmdline_value("root"), *type = cmdline_value("rootfstype");
	bool memory = !root || !strcmp(root, "tmpfs");
	unsigned flags = 0;

	if (memory) {
		root = NULL;
		type = "tmpfs";
	} else if (!type) {
		type = "ext2";
	}
	if (cmdline_flag("ro"))
		flags = SB_RDONLY;

	int error = vfs_mount_root(root, type, flags);

	if (error)
		panic("cannot mount root file system %s from %s: error %d (root= names another)",
		      type, root ? root : "memory", -error);
	if (!memory || boot_info.initrd_end == boot_info.initrd_start)
		return;
	error = initramfs_unpack(phys_to_virt(boot_info.initrd_start),
				 boot_info.initrd_end - boot_info.initrd_start);
	if (error)
		pr_err("initial RAM disk: error %d, unpacked as far as it went\n", -error);
}

static void open_console(void)
{
	struct file *file = filp_open("/dev/console", O_RDWR, 0);

	if (IS_ERR(file)) {
		/* As usual when init is to mount /dev itself. */
		pr_debug("no /dev/console yet (error %ld): init begins without open files\n",
			 -PTR_ERR(file));
		return;
	}
	for (int i = 0; i < 3; i++) {
		get_file(file);
		fd_add(file, 0, 0);
	}
	fput(file);
}

/* Runs @name if it is there; returns when it is not. */
static void try_program(const char *name)
{
	static const char *const environment[] = {"HOME=/", "TERM=linux",
						  "PATH=/sbin:/usr/sbin:/bin:/usr/bin", NULL};
	static const char *arguments[CMDLINE_WORDS + 2];
	int count;
	char **words = cmdline_init_args(&count);

	arguments[0] = name;
	memcpy(arguments + 1, words, (size_t)count * sizeof(*words));

	s64 error = sys_execve(name, (const u64 *)arguments, (const u64 *)environment);

	if (error != -ENOENT)
		pr_err("init: cannot run %s: error %d\n", name, (int)-error);
}

static int init_thread(void *unused)
{
	const char *name = cmdline_value("init");

	mount_root();
	open_console();
	if (name) {
		try_program(name);
		panic("cannot run the program that init= names: %s", name);
	}
	try_program("/init");
	try_program("/sbin/init");
	try_program("/bin/sh");
	panic("no program to begin with: /init, /sbin/init and /bin/sh are not there (init= names another)");
}

void init_start(void)
{
	struct process *process = process_allocate(NULL);
	struct task *task = task_allocate("init");

	BUG_ON(!process || !task);
	task->cred = task->real_cred = get_cred(&init_cred);
	task->fs = &init_fs_context;
	task->files = file_table_create();
	BUG_ON(!task->files);
	for (unsigned i = 0; i < RLIMIT_COUNT; i++)
		process->limits[i] = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
	process->limits[RLIMIT_STACK].soft = MB(8);
	process->limits[RLIMIT_CORE].soft = 0;
	process->limits[RLIMIT_NPROC] = (struct rlimit){max_tasks / 2, max_tasks / 2};
	process->limits[RLIMIT_NOFILE] = (struct rlimit){1024, 4096};
	process->limits[RLIMIT_MEMLOCK] = (struct rlimit){MB(8), MB(8)};
	BUG_ON(process_link_task(process, task) || process->pid != 1);
	if (random_fixed)
		last_pid += (pid_t)(random_u64() % (PID_MAX / 2));
	process->group = process->session = 1;
	init_process = process;
	arch_prepare_kernel_thread(task, init_thread, NULL);
	wake_up_task(task);
}

void machine_shutdown(enum shutdown kind)
{
	const char *stats = cmdline_value("stats");

	vfs_shutdown();
	if (stats)
		hash_report_shutdown(stats);
	control_end();
	pr_info("%s\n", kind == RESTART ? "Restarting." : "Power off.");
	if (kind == RESTART)
		arch_reboot();
	arch_leave(EXIT_NORMAL);
}
