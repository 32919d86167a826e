/*
 * kernel_side.c - native: the rows over the hosted kernel. A call is the function that the table of
 * calls has, without the way into the kernel and back but for what is pending then.
 */
#include "core/kernel.h"
#include "core/memory/page_alloc.h"
#include "fs/abi.h"
#include "hosted/native/machine/machine.h"
#include "hosted/native/lookups.h"

#define call_stat(path, to) native_call_end(sys_newfstatat(AT_FDCWD, path, to, 0))
#define call_open(path, flags, mode) native_call_end(sys_openat(AT_FDCWD, path, flags, mode))
#define call_close(fd) native_call_end(sys_close(fd))
#define call_pread(fd, to, n, at) native_call_end(sys_pread64(fd, to, n, at))
#define call_pwrite(fd, from, n, at) native_call_end(sys_pwrite64(fd, from, n, at))
#define call_unlink(path) native_call_end(sys_unlinkat(AT_FDCWD, path, 0))
#define call_rmdir(path) native_call_end(sys_unlinkat(AT_FDCWD, path, AT_REMOVEDIR))
#define call_mkdir(path, mode) native_call_end(sys_mkdirat(AT_FDCWD, path, mode))
#define call_rename(from, to) native_call_end(sys_renameat(AT_FDCWD, from, AT_FDCWD, to))
#define call_rename_new(from, to)                                                                  \
	native_call_end(sys_renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
#define call_chmod(path, mode) native_call_end(sys_fchmodat(AT_FDCWD, path, mode))
#define call_getdents(fd, to, n) native_call_end(sys_getdents64(fd, to, n))
#define call_lseek(fd, offset, whence) native_call_end(sys_lseek(fd, offset, whence))

#include "hosted/native/side.h"

static const struct row rows[] = {
	CALL_ROWS,
	{"page cache", 0, page_turns, false},
	{"buffer cache", 0, buffer_turns, false},
	{"inode cache", 0, inode_turns, false},
	{"dentry cache", 0, dentry_turns, false},
};

static void start(unsigned threads, unsigned megabytes, const char *options, const char *folder)
{
	(void)folder;
	native_start(threads, megabytes, options);
	lookups_start();
}

static void prepare(unsigned threads)
{
	prepare_tree(threads);
	lookups_prepare(threads);
}

static void stop(unsigned threads)
{
	(void)threads; /* it goes with the process */
}

static void run(unsigned threads, void (*function)(unsigned cpu, void *argument), void *argument)
{
	BUG_ON(threads != nr_cpus);
	native_threads_run(function, argument);
}

static uint64_t memory_used(void)
{
	return (page_alloc_total_pages() - page_alloc_free_pages()) * PAGE_SIZE;
}

static const char *most_waited(uint64_t *times)
{
	static u64 before[LOCK_CLASSES];
	const char *name = NULL;

	*times = 0;
	for (unsigned i = 0; i < lock_class_count; i++) {
		u64 now = (u64)atomic_read(&lock_classes[i].contended), more = now - before[i];

		before[i] = now;
		if (more > *times) {
			*times = more;
			name = lock_classes[i].name;
		}
	}
	return name;
}

const struct side kernel_side = {
	.name = "kernel",
	.rows = rows,
	.row_count = sizeof(rows) / sizeof(rows[0]),
	.start = start,
	.prepare = prepare,
	.stop = stop,
	.run = run,
	.idle = native_idle,
	.busy = native_busy,
	SIDE_ROWS,
	.memory_used = memory_used,
	.most_waited = most_waited,
	.dentry_steps = dentry_steps,
	.objects_make = inodes_make,
	.object_find = inode_find,
};
