/*
 * programs_generated.c - interleavings: two to four tasks, each with a few calls drawn from the
 * program's seed, on the same few names. What a call gives is not foretold, only that it is no sign
 * of damage; what must hold in the end is in worlds.c. And what a file has, somebody has written.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/block/dirty.h"
#include "fs/file/file.h"
#include "fs/writeback.h"
#include "hosted/harness/harness.h"
#include "core/memory/page_alloc.h"
#include "mm/space/vm.h"
#include "hosted/interleave/ring/ring.h"
#include "hosted/machine/user.h"
#include "hosted/interleave/worlds/worlds.h"

#define CALLS 5 /* of a task, at most */
#define TASKS 4
#define RECORD 64

struct call {
	const struct kind *kind; /* NULL: the end */
	char path[32], other[32];
	unsigned at; /* a record, or a flag */
};

static struct call calls[TASKS][CALLS + 1];

static void judge(const char *what, s64 result)
{
	if (result == -EUCLEAN || result == -EIO || result == -EFAULT || result == -ENOMEM)
		test_failed(__FILE__, __LINE__, "%s: %lld", what, (long long)result);
}

/* ---- calls --------------------------------------------------------------------------------------
 */

static void write_record(const struct call *call)
{
	char data[RECORD];

	memset(data, 'a' + (int)ring_cpu_id(), sizeof(data));
	judge("write", write_at(call->path, O_CREAT | O_WRONLY | (call->at % 3 ? 0 : O_APPEND),
				(loff_t)call->at * RECORD, data, sizeof(data)));
}

/* A record is written, and read, in one piece, or it is a hole; a cut may shorten the last. */
static void read_record(const struct call *call)
{
	char data[RECORD];
	s64 n = read_at(call->path, (loff_t)call->at * RECORD, data, sizeof(data));

	judge("read", n);
	for (s64 i = 0; i < n; i++)
		CHECK(data[i] == 0 || (data[i] >= 'a' && data[i] < 'a' + RING_TASKS));
}

static void cut(const struct call *call)
{
	judge("truncate", truncate_path(call->path, (loff_t)call->at * RECORD));
}

static void make_directory(const struct call *call)
{
	judge("mkdir", sys_mkdirat(AT_FDCWD, call->path, 0755));
}

static void remove_name(const struct call *call)
{
	judge("unlink", sys_unlinkat(AT_FDCWD, call->path, call->at % 2 ? AT_REMOVEDIR : 0));
}

static void link_names(const struct call *call)
{
	judge("link", sys_linkat(AT_FDCWD, call->path, AT_FDCWD, call->other, 0));
}

static void rename_names(const struct call *call)
{
	judge("rename", sys_renameat2(AT_FDCWD, call->path, AT_FDCWD, call->other,
				      call->at % 4 ? 0 : RENAME_EXCHANGE));
}

static void look_at(const struct call *call)
{
	struct kstat stat;

	judge("stat", sys_newfstatat(AT_FDCWD, call->path, &stat, 0));
}

static void visit(const char *name, unsigned d_type, void *argument)
{
	(void)d_type, (void)argument;
	CHECK(strlen(name) == 1 || !strcmp(name, "lost+found"));
}

static void list_names(const struct call *call)
{
	judge("readdir", list_directory(call->at % 2 ? "/mnt" : "/mnt/d", call->at, visit, NULL));
}

static void sync_file(const struct call *call)
{
	struct file *file = open_path(call->path, O_RDONLY, 0);

	if (IS_ERR(file))
		return;
	judge("fsync", vfs_fsync(file, call->at % 2));
	fput(file);
}

static void sync_everything(const struct call *call)
{
	(void)call;
	sys_sync();
}

static void write_back(const struct call *call)
{
	(void)call;
	writeback_once();
}

static void drop_pages(const struct call *call)
{
	(void)call;
	drop_clean_pages();
}

static void drop_names(const struct call *call)
{
	(void)call;
	shrink_dcache(100);
	shrink_icache(100);
}

static void drop_buffers(const struct call *call)
{
	shrink_buffers(call->at % 3);
}

/* Through a mapping of the file's first page; the task has an address space while it does. */
static void store_mapped(const struct call *call)
{
	char byte = 'a' + (char)ring_cpu_id();
	s64 at;

	user_enter(mm_create());
	at = user_map(0, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, call->path, 0);
	judge("mmap", at);
	if (at > 0)
		user_store((u64)at + call->at * RECORD, &byte, 1); /* or a signal */
	user_leave();
}

#define KIND(function)                                                                             \
	{                                                                                          \
#function, function                                                                \
	}
static const struct kind {
	const char *name;
	void (*make)(const struct call *);
} kinds[] = {
	KIND(write_record), KIND(write_record),	  KIND(read_record),  KIND(read_record),
	KIND(cut),	    KIND(make_directory), KIND(remove_name),  KIND(remove_name),
	KIND(link_names),   KIND(rename_names),	  KIND(rename_names), KIND(look_at),
	KIND(list_names),   KIND(sync_file),	  KIND(sync_file),    KIND(sync_everything),
	KIND(write_back),   KIND(drop_pages),	  KIND(drop_names),   KIND(drop_buffers),
	KIND(store_mapped),
};

/* ---- programs -----------------------------------------------------------------------------------
 */

static u64 pick(u64 n)
{
	return rng_below(&ring_program_rng, n);
}

static void choose_name(char *name)
{
	static const char *const names[] = {"/mnt/a", "/mnt/b", "/mnt/d", "/mnt/d/a", "/mnt/d/e"};

	strcpy(name, names[pick(ARRAY_SIZE(names))]);
}

/* A seed that is run again shows them. */
static void choose_calls(unsigned task, struct call *call)
{
	unsigned count = 2 + (unsigned)pick(CALLS - 1);

	for (unsigned i = 0; i < count; i++, call++) {
		call->kind = &kinds[pick(ARRAY_SIZE(kinds))];
		choose_name(call->path);
		choose_name(call->other);
		call->at = (unsigned)pick(40); /* the first page, where indirect blocks begin not */
		if (pick(4) == 0)
			call->at += 200; /* behind the twelfth block */
		if (call->kind->make == store_mapped)
			call->at %= PAGE_SIZE / RECORD;
		if (!hosted_quiet)
			printf("# task %u: %s %s %s %u\n", task, call->kind->name, call->path,
			       call->other, call->at);
	}
	call->kind = NULL;
}

static void make_calls(void *argument)
{
	for (const struct call *call = argument; call->kind; call++, ring_user())
		call->kind->make(call);
}

static void generated(void)
{
	unsigned tasks = 2 + (unsigned)pick(3);

	world_mount();
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/d", 0755), 0);
	CHECK_EQUAL(write_at("/mnt/a", O_CREAT | O_WRONLY, 0, "aaaa", 4), 4);
	CHECK_EQUAL(write_at("/mnt/d/a", O_CREAT | O_WRONLY, 0, "aaaa", 4), 4);
	for (unsigned i = 0; i < tasks; i++) {
		choose_calls(2 + i, calls[i]);
		task_start(make_calls, calls[i]);
	}
	ring_run();
	world_unmount();
}

RING_PROGRAM(generated_ext2, world_memory, 30)
{
	generated();
}

RING_PROGRAM(generated_tmpfs, world_tmpfs_memory, 30)
{
	generated();
}
