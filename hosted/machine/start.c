/*
 * start.c - hosted: bring the caches and file systems up in the order of kernel/main.c.
 */
#include "fs/block/dirty.h"
#include "fs/cred.h"
#include "fs/file/file_table.h"
#include "fs/path/namei.h"
#include "fs/proc/proc.h"
#include "fs/start.h"
#include "fs/swap/start.h"
#include "fs/xattr/xattr.h"
#include "hash/cache.h"
#include "hosted/machine/hosted.h"
#include "core/log/assert.h"
#include "core/base/string.h"
#include "core/memory/page_alloc.h"
#include "mm/cache/page_cache.h"
#include "core/memory/slab.h"

/* fs/proc stands on processes, of which there are none. */
struct filesystem proc_filesystem = {.name = "none"};

void proc_init(void)
{
}

void proc_register(const struct proc_node *nodes)
{
	(void)nodes;
}

void proc_show_path(struct text *out, const struct path *path, const char *special)
{
	(void)out;
	(void)path;
	(void)special;
}

void hosted_init(unsigned megabytes)
{
	/* the lock checker keeps its list at the end */
	static char stack[KERNEL_STACK_SIZE] __aligned(64);

	hosted_task.kernel_stack = stack;
	hosted_task.state = TASK_RUNNING;
	lockdep_task_init(&hosted_task);
	lock_classes_init();
	hosted_memory_init(megabytes);
	page_cache_init();
	hash_random_init(random_u64());
	vfs_init();
#ifdef CONFIG_XATTR
	xattr_init();
#endif
#ifdef CONFIG_SWAP
	swap_files_init();
#endif
	hosted_task.fs = &init_fs_context;
	hosted_task.files = file_table_create();
	BUG_ON(!hosted_task.files);
	BUG_ON(vfs_mount_root(NULL, "tmpfs", 0) != 0);
	BUG_ON(sys_mkdirat(AT_FDCWD, "/mnt", 0755) != 0);
#ifdef CONFIG_DCACHE_FASTPATH
	static const char absent[32] = "/not there either";
	struct path path;
	for (unsigned i = 0; i < 16; i++) /* the first credential gets its cache, which stays */
		BUG_ON(kern_path(absent, 0, &path) != -ENOENT);
#endif
}

/* ---- what only programs need ----------------------------------------------------------------- */

struct rlimit hosted_limits[RLIMIT_COUNT] = {
	[0 ... RLIMIT_COUNT - 1] = {RLIM_INFINITY, RLIM_INFINITY}};
unsigned hosted_signals;

void send_signal_current(int signal)
{
	(void)signal;
	hosted_signals++;
}
