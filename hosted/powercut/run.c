/*
 * run.c - running the calls of a script.
 *
 * Contents are told by records of 64 bytes that say which object's, which call's and which place's
 * they are, so that a stranger's bytes are never taken for a file's own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/file/file.h"
#include "fs/start.h"
#include "fs/writeback.h"
#include "hosted/harness/harness.h"
#include "core/log/assert.h"
#include "core/sched/sched.h"
#include "hosted/powercut/powercut.h"
#include "hosted/machine/user.h"

#define MAPPED_BYTES (RECORDS_MAX * RECORD) /* of each file */
#define STAGGER 12			    /* how often a call may let others go first */

void record_fill(char *record, unsigned object, unsigned writer, u32 index)
{
	char head[32];
	int length =
		snprintf(head, sizeof(head), "object %u call %u record %u ", object, writer, index);

	memset(record, 'a' + (int)(object % 26), RECORD);
	memcpy(record, head, (size_t)length);
	record[RECORD - 1] = '|';
}

/* A call that runs. */
struct call {
	struct script *script;
	struct op *op;
	const struct version *before, *after; /* the model before and behind it */
	unsigned writer;
	/* what it syncs or stores to: found before the calls of its stage begin */
	struct file *file;
	u64 address;
	char path[64], other[64];
	struct place old, place; /* of its path, before and behind it */
};

/* ---- files ----------------------------------------------------------------------------------- */

static char *new_records(const struct call *call, u32 offset, u32 length)
{
	char *data = malloc(length);

	for (u32 at = 0; at < length; at += RECORD)
		record_fill(data + at, call->place.object, call->writer, (offset + at) / RECORD);
	return data;
}

static s64 write_records(const struct call *call, int flags, u32 offset, u32 length)
{
	char *data = new_records(call, offset, length);
	s64 result = write_at(call->path, O_WRONLY | flags, offset, data, length);

	free(data);
	if (result == (s64)length)
		return 0;
	return result < 0 ? result : -ENOSPC;
}

/* Made, written, synced if the second number says so, and only then given its name. */
static s64 run_nameless(const struct call *call)
{
	u32 length = call->op->number[0];
	char *data = new_records(call, 0, length);
	s64 number = sys_openat(AT_FDCWD, "/mnt", O_TMPFILE | O_WRONLY, 0644);
	s64 result = number < 0 ? number : sys_write((int)number, data, length);

	free(data);
	if (result == (s64)length && call->op->number[1])
		result = sys_fsync((int)number) ?: result;
	if (result == (s64)length)
		result = sys_linkat((int)number, "", AT_FDCWD, call->path, AT_EMPTY_PATH);
	if (number >= 0)
		sys_close((int)number);
	return result;
}

static s64 run_write(const struct call *call)
{
	const struct op *op = call->op;

	switch (op->verb) {
	case VERB_APPEND:
		return write_records(call, O_APPEND, call->before[call->old.object].size,
				     op->number[0]);
	case VERB_REPLACE:
		return write_records(call, O_CREAT | O_TRUNC, 0, op->number[0]);
	case VERB_SYNCWRITE:
		return write_records(call, O_CREAT | O_SYNC, op->number[0], op->number[1]);
	case VERB_NAMELESS:
		return run_nameless(call);
	case VERB_DSYNCWRITE:
		return write_records(call, O_CREAT | O_DSYNC, op->number[0], op->number[1]);
	default:
		return write_records(call, O_CREAT, op->number[0], op->number[1]);
	}
}

static s64 run_syncfs(void)
{
	s64 number = sys_openat(AT_FDCWD, "/mnt", O_RDONLY, 0);

	if (number < 0)
		return number;
	s64 error = sys_syncfs((int)number);
	sys_close((int)number);
	return error;
}

/* ---- mappings -------------------------------------------------------------------------------- */

/* Files stay mapped until the script has run, whatever becomes of their names. */
static struct mapping {
	const struct inode *inode;
	u64 address;
} mappings[OBJECTS_MAX];

/* Where @file, which is @path, is mapped. */
static u64 mapping_of(const struct file *file, const char *path)
{
	struct mapping *mapping = mappings;

	while (mapping->inode && mapping->inode != file->inode)
		mapping++;
	if (mapping->inode)
		return mapping->address;
	s64 address = user_map(0, MAPPED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, path, 0);
	CHECK(address > 0);
	*mapping = (struct mapping){file->inode, (u64)address};
	return mapping->address;
}

static s64 run_store(const struct call *call)
{
	u32 offset = call->op->number[0], length = call->op->number[1];
	char *data = new_records(call, offset, length);
	int signal = user_store(call->address + offset, data, length);

	free(data);
	return signal ? -EFAULT : 0;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static s64 run_names(const struct call *call)
{
	char data[RECORD * 10 + 1];
	const struct op *op = call->op;

	for (unsigned i = 0; i < 10; i++)
		record_fill(data + i * RECORD, call->place.object, call->writer, i);
	switch (op->verb) {
	case VERB_LINK:
		return sys_linkat(AT_FDCWD, call->path, AT_FDCWD, call->other, 0);
	case VERB_RENAME:
		return sys_renameat2(AT_FDCWD, call->path, AT_FDCWD, call->other, 0);
	case VERB_NOREPLACE:
		return sys_renameat2(AT_FDCWD, call->path, AT_FDCWD, call->other, RENAME_NOREPLACE);
	case VERB_EXCHANGE:
		return sys_renameat2(AT_FDCWD, call->path, AT_FDCWD, call->other, RENAME_EXCHANGE);
	case VERB_UNLINK:
	case VERB_RMDIR:
		return sys_unlinkat(AT_FDCWD, call->path,
				    op->verb == VERB_RMDIR ? AT_REMOVEDIR : 0);
	case VERB_MKDIR:
		return sys_mkdirat(AT_FDCWD, call->path, 0755);
	case VERB_SYMLINK:
		data[op->number[0]] = 0;
		return sys_symlinkat(data, AT_FDCWD, call->path);
	case VERB_SETXATTR:
		return sys_lsetxattr(call->path, "user.a", data, RECORD * 10, 0);
	default:
		return sys_lremovexattr(call->path, "user.a");
	}
}

static s64 run_evict(void)
{
	struct path root __free(path) = {0};
	int error = find_path("/mnt", 0, &root);

	error = error ?: sync_inodes(root.mount->sb);
	while (lru_shrink(&dentry_lru, NULL, ~0ULL, ~0ULL))
		continue;
	while (lru_shrink(&inode_lru, NULL, ~0ULL, ~0ULL))
		continue;
	return error;
}

static s64 run_call(const struct call *call)
{
	enum verb verb = call->op->verb;

	switch (verb) {
	case VERB_CREATE:
		return write_records(call, O_CREAT | O_EXCL, 0, 0);
	case VERB_STORE:
		return run_store(call);
	case VERB_TRUNCATE:
		return truncate_path(call->path, call->op->number[0]);
	case VERB_MSYNC:
		return sys_msync(call->address, MAPPED_BYTES, MS_SYNC);
	case VERB_FSYNC:
	case VERB_FDATASYNC:
		return vfs_fsync(call->file, verb == VERB_FDATASYNC);
	case VERB_SYNCFS:
		return run_syncfs();
	case VERB_SYNC:
		return vfs_sync_all();
	case VERB_WRITEBACK:
		writeback_once();
		return 0;
	case VERB_EVICT:
		return run_evict();
	default:
		return verb < VERB_STORE ? run_write(call) : run_names(call);
	}
}

static void call_prepare(struct call *call)
{
	const struct op *op = call->op;
	bool maps = op->verb == VERB_STORE || op->verb == VERB_MSYNC;

	snprintf(call->path, sizeof(call->path), "/mnt/%s", op->path[0]);
	snprintf(call->other, sizeof(call->other), "/mnt/%s", op->path[1]);
	if (op->verb >= VERB_SYNCFS)
		return;
	find_place(call->script, call->before, op->path[0], &call->old);
	find_place(call->script, call->after, op->path[0], &call->place);
	if (op->verb == VERB_STORE || op->verb >= VERB_MSYNC) {
		call->file = open_path(call->path, O_RDONLY, 0);
		CHECK(!IS_ERR(call->file));
	}
	if (maps)
		call->address = mapping_of(call->file, call->path);
}

static void call_end(struct call *call)
{
	if (call->file)
		fput(call->file);
}

void script_prepare(void)
{
	struct script script = {.times = calloc(TIMES, sizeof(*script.times))};
	struct op op;

	model_clear(&script);
	for (unsigned i = 0; script_furniture(&script, i, &op); i++) {
		struct call call = {.script = &script,
				    .op = &op,
				    .before = script.times[0],
				    .after = script.times[0],
				    .writer = FIRST_WRITER};

		call_prepare(&call);
		CHECK_EQUAL(run_call(&call), 0);
	}
	free(script.times);
}

/* ---- stages ---------------------------------------------------------------------------------- */

static unsigned script_clock;

static void run_one(void *argument)
{
	struct call *call = argument;
	struct op *op = call->op;

	op->begun = journal_length;
	op->started = ++script_clock;
	CHECK_EQUAL(run_call(call), 0);
	op->returned = ++script_clock;
	op->done = journal_length;
}

static void run_late(void *argument)
{
	for (u64 n = rng_below(&disk_rng, STAGGER); n; n--)
		schedule();
	run_one(argument);
}

void script_run(struct script *script)
{
	struct call calls[OPS_MAX] = {0};

	user_enter(mm_create());
	for (unsigned i = 0, start; i < script->count; i++) {
		start = stage_start(script, i);
		calls[i] = (struct call){.script = script,
					 .op = &script->ops[i],
					 .before = script->times[i],
					 .after = script->times[i + 1],
					 .writer = i + 1};
		if (i + 1 < script->count && stage_start(script, i + 1) == start)
			continue; /* until the stage is whole */
		for (unsigned n = start; n <= i; n++)
			call_prepare(&calls[n]);
		for (unsigned n = start; n <= i && start < i; n++)
			user_start(user_share(), run_late, &calls[n]);
		if (start == i)
			run_one(&calls[i]);
		tasks_wait();
		for (unsigned n = start; n <= i; n++)
			call_end(&calls[n]);
	}
	user_leave();
	memset(mappings, 0, sizeof(mappings));
}
