/*
 * host_side.c - native: the rows over the host's Linux, by system calls without the C library's
 * wrappers, in a folder on a tmpfs. getppid is the row that does nothing else: what it takes is
 * what the way into the kernel and back takes.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hosted/native/measure.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#define RENAME_NOT_OVER 1 /* RENAME_NOREPLACE, whose header declares much else */

/* The system call, or -errno. */
static __always_inline long call(long number, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e;
	long result;

	__asm__ __volatile__("syscall"
			     : "=a"(result)
			     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			     : "rcx", "r11", "memory");
	return result;
}

#define call_stat(path, to) call(SYS_newfstatat, AT_FDCWD, (long)(path), (long)(to), 0, 0)
#define call_open(path, flags, mode) call(SYS_openat, AT_FDCWD, (long)(path), flags, mode, 0)
#define call_close(fd) call(SYS_close, fd, 0, 0, 0, 0)
#define call_pread(fd, to, n, at) call(SYS_pread64, fd, (long)(to), n, at, 0)
#define call_pwrite(fd, from, n, at) call(SYS_pwrite64, fd, (long)(from), n, at, 0)
#define call_unlink(path) call(SYS_unlinkat, AT_FDCWD, (long)(path), 0, 0, 0)
#define call_rmdir(path) call(SYS_unlinkat, AT_FDCWD, (long)(path), AT_REMOVEDIR, 0, 0)
#define call_mkdir(path, mode) call(SYS_mkdirat, AT_FDCWD, (long)(path), mode, 0, 0)
#define call_rename(from, to) call(SYS_renameat, AT_FDCWD, (long)(from), AT_FDCWD, (long)(to), 0)
#define call_rename_new(from, to)                                                                  \
	call(SYS_renameat2, AT_FDCWD, (long)(from), AT_FDCWD, (long)(to), RENAME_NOT_OVER)
#define call_chmod(path, mode) call(SYS_fchmodat, AT_FDCWD, (long)(path), mode, 0, 0)
#define call_getdents(fd, to, n) call(SYS_getdents64, fd, (long)(to), n, 0, 0)
#define call_lseek(fd, offset, whence) call(SYS_lseek, fd, offset, whence, 0, 0)

#include "hosted/native/side.h"

static void getppid_turns(struct worker *worker, unsigned turns)
{
	(void)worker;
	while (turns--)
		expect(call(SYS_getppid, 0, 0, 0, 0, 0), "getppid", "");
}

static const struct row rows[] = {{"getppid", 1, getppid_turns, true}, CALL_ROWS};

/* ---- the folder ------------------------------------------------------------------------------ */

static void start(unsigned threads, unsigned megabytes, const char *options, const char *folder)
{
	(void)threads, (void)megabytes, (void)options;
	if (chdir(folder))
		measure_fail("chdir", folder, -errno);
}

static void remove_file(const char *path)
{
	expect(call_unlink(path), "unlink", path);
}

static void leave_folder(const char *path)
{
	(void)path;
}

static void remove_set(const char *set)
{
	char path[PATH_BYTES];

	each_of_set(set, leave_folder, remove_file);
	snprintf(path, sizeof(path), "%s/data", set);
	remove_file(path);
	for (unsigned i = sizeof(folders) / sizeof(folders[0]); i-- > 0;) {
		snprintf(path, sizeof(path), "%s%s", set, folders[i]);
		expect(call_rmdir(path), "rmdir", path);
	}
}

static void stop(unsigned threads)
{
	char path[PATH_BYTES];

	each_set(threads, remove_set);
	for (unsigned i = 0; i < MIX_KEPT; i++) {
		mix_name(path, "kept", i);
		remove_file(path);
	}
	for (unsigned i = 0; i < MIX_NAMES; i++) {
		mix_name(path, "name", i);
		call_unlink(path); /* it may be there */
	}
	expect(call_rmdir("mix"), "rmdir", "mix");
}

/* ---- threads --------------------------------------------------------------------------------- */

struct thread {
	pthread_t id;
	unsigned cpu;
	void (*function)(unsigned cpu, void *argument);
	void *argument;
};

static void *run_thread(void *of)
{
	const struct thread *thread = of;

	thread->function(thread->cpu, thread->argument);
	return NULL;
}

static void run(unsigned threads, void (*function)(unsigned cpu, void *argument), void *argument)
{
	struct thread all[MEASURE_CPUS];

	for (unsigned cpu = 1; cpu < threads; cpu++) {
		all[cpu] = (struct thread){.cpu = cpu, .function = function, .argument = argument};
		if (pthread_create(&all[cpu].id, NULL, run_thread, &all[cpu]))
			measure_fail("pthread_create", "", -EAGAIN);
	}
	function(0, argument);
	for (unsigned cpu = 1; cpu < threads; cpu++)
		pthread_join(all[cpu].id, NULL);
}

static void nothing(void)
{
}

/* Of all objects of the host's kernel: no others' should change much meanwhile. */
static uint64_t memory_used(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	unsigned long long kilobytes = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Slab: %llu", &kilobytes) == 1)
			break;
	if (file)
		fclose(file);
	if (!kilobytes)
		measure_fail("no line `Slab:` in", "/proc/meminfo", 0);
	return kilobytes << 10;
}

const struct side host_side = {
	.name = "host",
	.rows = rows,
	.row_count = sizeof(rows) / sizeof(rows[0]),
	.start = start,
	.prepare = prepare_tree,
	.stop = stop,
	.run = run,
	.idle = nothing,
	.busy = nothing,
	SIDE_ROWS,
	.memory_used = memory_used,
};
