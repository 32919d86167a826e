/*
 * test_proc.c - fs/proc/procfs.c with a tree of the test's own: files whose texts wait, of a system
 * without processes.
 */
#include <string.h>

#include "hosted/harness/harness.h"
#include "core/sched/sched.h"

/* start.c has others of these names. */
#define proc_filesystem tested_filesystem
#define proc_register tested_register
#define proc_show_path tested_show_path
#include "fs/proc/procfs.c"
#undef proc_filesystem

static DEFINE_WAIT_QUEUE(queue);
static bool open_gate;

static void slow_show(struct text *out, const struct proc_entry *entry)
{
	wait_event(queue, open_gate);
	text_printf(out, "slow");
}

static void quick_show(struct text *out, const struct proc_entry *entry)
{
	text_printf(out, "quick");
}

static const struct proc_node nodes[] = {
	{"slow", PROC_FILE, .show = slow_show},
	{"quick", PROC_FILE, .show = quick_show},
	{.name = NULL},
};

static char slow[8], quick[8];

static void read_slow(void *unused)
{
	CHECK_EQUAL(read_at("slow", 0, slow, sizeof(slow)), 4);
}

static void read_quick(void *unused)
{
	CHECK_EQUAL(read_at("quick", 0, quick, sizeof(quick)), 5);
}

/* Who makes a text, or copies it to memory that must be waited for, keeps nobody from others. */
TEST(proc_files_are_read_side_by_side)
{
	hosted_init(16);
	tested_filesystem.inode_slab = kmem_cache_create("proc", sizeof(struct inode), 0, 0);
	proc_register(nodes);

	struct mount *mount = mount_make(&tested_filesystem, NULL, 0, "proc", "");

	current->fs->cwd = (struct path){mount, dget(mount->root)};
	CHECK_EQUAL(read_at("quick", 0, quick, sizeof(quick)), 5);
	task_start(read_slow, NULL);
	for (int i = 0; i < 10; i++)
		schedule();
	CHECK(!*slow);
	quick[0] = 0;
	task_start(read_quick, NULL);
	for (int i = 0; i < 10; i++)
		schedule();
	CHECK(!strcmp(quick, "quick"));
	open_gate = true;
	wake_up(&queue);
	tasks_wait();
	CHECK(!strcmp(slow, "slow"));
}
