/*
 * script.c - the calls of a script: their text, their effect on the model, and running them.
 *
 * The model keeps every state: what each object was after so many calls. Contents are told by
 * records of 64 bytes that say which object's, which call's and which place's they are, so that a
 * stranger's bytes are never taken for a file's own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/internal.h"
#include "harness.h"
#include "kernel/core/assert.h"
#include "powercut.h"

const char *const name_texts[NAMES_MAX] = {"lost+found", "foo", "bar",	"new",	"keep", "A",
					   "B",		 "dir", "link", "soft", "x",	"x2"};

static const struct verb_name {
	const char *text;
	unsigned paths, numbers;
} verbs[VERBS] = {
	[VERB_CREATE] = {"create", 1, 0},     [VERB_WRITE] = {"write", 1, 2},
	[VERB_APPEND] = {"append", 1, 1},     [VERB_SYNCWRITE] = {"syncwrite", 1, 2},
	[VERB_REPLACE] = {"replace", 1, 1},   [VERB_TRUNCATE] = {"truncate", 1, 1},
	[VERB_LINK] = {"link", 2, 0},	      [VERB_RENAME] = {"rename", 2, 0},
	[VERB_UNLINK] = {"unlink", 1, 0},     [VERB_MKDIR] = {"mkdir", 1, 0},
	[VERB_RMDIR] = {"rmdir", 1, 0},	      [VERB_SYMLINK] = {"symlink", 1, 1},
	[VERB_SETXATTR] = {"setxattr", 1, 0}, [VERB_REMOVEXATTR] = {"removexattr", 1, 0},
	[VERB_FSYNC] = {"fsync", 1, 0},	      [VERB_FDATASYNC] = {"fdatasync", 1, 0},
	[VERB_SYNC] = {"sync", 0, 0},	      [VERB_WRITEBACK] = {"writeback", 0, 0},
};

bool is_sync(enum verb verb)
{
	return verb == VERB_SYNCWRITE || (verb >= VERB_FSYNC && verb <= VERB_SYNC);
}

void record_fill(char *record, unsigned object, unsigned writer, u32 index)
{
	char head[32];
	int length =
		snprintf(head, sizeof(head), "object %u call %u record %u ", object, writer, index);

	memset(record, 'a' + (int)(object % 26), RECORD);
	memcpy(record, head, (size_t)length);
	record[RECORD - 1] = '|';
}

/* ---- the model ------------------------------------------------------------------------------- */

/* A name in a directory. */
struct place {
	unsigned dir, name, object; /* 0: none */
};

static unsigned find_name(const char *text, size_t length)
{
	unsigned name = 0;

	while (strlen(name_texts[name]) != length || strncmp(name_texts[name], text, length) != 0)
		BUG_ON(++name == NAMES_MAX);
	return name;
}

/* false: a directory on the way is missing. "." is the root, in no directory. */
static bool find_place(const struct script *script, const struct version *at, const char *path,
		       struct place *place)
{
	*place = (struct place){.object = ROOT_OBJECT};
	while (*path && strcmp(path, ".") != 0) {
		size_t length = strcspn(path, "/");

		if (script->types[place->object] != TYPE_DIR)
			return false;
		place->dir = place->object;
		place->name = find_name(path, length);
		place->object = at[place->dir].entries[place->name];
		path += length + (path[length] == '/');
	}
	return true;
}

static unsigned add_object(struct script *script, struct version *at, const struct place *place,
			   enum type type)
{
	unsigned object = ++script->objects;

	BUG_ON(object >= OBJECTS_MAX);
	script->types[object] = type;
	memset(&at[object], 0, sizeof(at[object]));
	at[object].exists = true;
	if (place)
		at[place->dir].entries[place->name] = (u8)object;
	return object;
}

static unsigned count_names(const struct version *at, unsigned object)
{
	unsigned count = 0;

	for (unsigned dir = 1; dir < OBJECTS_MAX; dir++)
		for (unsigned name = 0; at[dir].exists && name < NAMES_MAX; name++)
			count += at[dir].entries[name] == object;
	return count;
}

static void drop_name(struct version *at, const struct place *place)
{
	at[place->dir].entries[place->name] = 0;
	at[place->object].exists = count_names(at, place->object) != 0;
}

static void put_bytes(struct version *file, unsigned writer, u32 offset, u32 length)
{
	BUG_ON(offset % RECORD || length % RECORD || offset + length > RECORDS_MAX * RECORD);
	memset(file->writers + offset / RECORD, (int)writer, length / RECORD);
	file->size = max(file->size, offset + length);
}

static void cut_bytes(struct version *file, u32 size)
{
	if (size < file->size)
		memset(file->writers + size / RECORD, 0, (file->size - size) / RECORD);
	file->size = size;
}

static bool is_below(const struct version *at, unsigned dir, unsigned top)
{
	if (dir == top)
		return true;
	for (unsigned name = 0; name < NAMES_MAX; name++)
		if (at[top].entries[name] && is_below(at, dir, at[top].entries[name]))
			return true;
	return false;
}

static bool is_empty(const struct version *dir)
{
	static const u8 nothing[NAMES_MAX];

	return memcmp(dir->entries, nothing, NAMES_MAX) == 0;
}

static bool model_move(struct script *script, struct version *at, struct place *from,
		       struct place *to)
{
	bool dir = script->types[from->object] == TYPE_DIR;

	if (!from->object || !from->dir || !to->dir || from->object == to->object ||
	    (dir && is_below(at, to->dir, from->object)) ||
	    (to->object && dir != (script->types[to->object] == TYPE_DIR)) ||
	    (to->object && dir && !is_empty(&at[to->object])))
		return false;
	if (to->object)
		drop_name(at, to);
	at[from->dir].entries[from->name] = 0;
	at[to->dir].entries[to->name] = (u8)from->object;
	return true;
}

/* The @writer-th call: does it have a meaning? */
static bool model_apply(struct script *script, struct version *at, const struct op *op,
			unsigned writer)
{
	struct place place, other;
	bool makes = op->verb <= VERB_REPLACE || op->verb == VERB_MKDIR || op->verb == VERB_SYMLINK;

	if (op->verb >= VERB_SYNC)
		return true;
	if (!find_place(script, at, op->path[0], &place))
		return false;
	enum type type = place.object ? script->types[place.object] : TYPE_NONE;
	if (!place.object && !makes)
		return false;
	switch (op->verb) {
	case VERB_CREATE:
	case VERB_MKDIR:
	case VERB_SYMLINK:
		if (place.object)
			return false;
		place.object = add_object(script, at, &place,
					  op->verb == VERB_CREATE  ? TYPE_FILE
					  : op->verb == VERB_MKDIR ? TYPE_DIR
								   : TYPE_LINK);
		if (op->verb == VERB_SYMLINK) {
			at[place.object].size = op->number[0];
			at[place.object].writers[0] = (u8)writer;
		}
		return true;
	case VERB_WRITE:
	case VERB_APPEND:
	case VERB_SYNCWRITE:
	case VERB_REPLACE:
		if (place.object && type != TYPE_FILE)
			return false;
		if (!place.object && op->verb != VERB_APPEND)
			place.object = add_object(script, at, &place, TYPE_FILE);
		if (!place.object)
			return false;
		struct version *file = &at[place.object];
		if (op->verb == VERB_REPLACE)
			cut_bytes(file, 0);
		put_bytes(file, writer,
			  op->verb == VERB_REPLACE  ? 0
			  : op->verb == VERB_APPEND ? file->size
						    : op->number[0],
			  op->verb == VERB_REPLACE || op->verb == VERB_APPEND ? op->number[0]
									      : op->number[1]);
		return true;
	case VERB_TRUNCATE:
		if (type == TYPE_FILE)
			cut_bytes(&at[place.object], op->number[0]);
		return type == TYPE_FILE;
	case VERB_LINK:
	case VERB_RENAME:
		if (!find_place(script, at, op->path[1], &other))
			return false;
		if (op->verb == VERB_RENAME)
			return model_move(script, at, &place, &other);
		if (other.object || type == TYPE_DIR)
			return false;
		at[other.dir].entries[other.name] = (u8)place.object;
		return true;
	case VERB_UNLINK:
	case VERB_RMDIR:
		if ((op->verb == VERB_RMDIR) != (type == TYPE_DIR) ||
		    (type == TYPE_DIR && !is_empty(&at[place.object])))
			return false;
		drop_name(at, &place);
		return true;
	case VERB_SETXATTR:
	case VERB_REMOVEXATTR:
		if (type == TYPE_LINK ||
		    (op->verb == VERB_REMOVEXATTR && !at[place.object].attribute))
			return false;
		at[place.object].attribute = op->verb == VERB_SETXATTR ? (u8)writer : 0;
		return true;
	default:
		return type != TYPE_LINK; /* to be synced */
	}
}

/* ---- text ------------------------------------------------------------------------------------ */

static bool parse_op(struct op *op, char *text)
{
	char *word = strtok(text, " ");

	*op = (struct op){.begun = 0};
	while (!word || strcmp(word, verbs[op->verb].text) != 0)
		if (!word || ++op->verb == VERBS)
			return false;
	for (unsigned i = 0; i < verbs[op->verb].paths; i++) {
		if (!(word = strtok(NULL, " ")) || strlen(word) >= sizeof(op->path[i]))
			return false;
		strcpy(op->path[i], word);
	}
	for (unsigned i = 0; i < verbs[op->verb].numbers; i++) {
		if (!(word = strtok(NULL, " ")))
			return false;
		op->number[i] = (u32)strtoul(word, NULL, 10);
	}
	return !strtok(NULL, " ");
}

/* What is there before each script. */
static const char *const furniture[] = {
	"write foo 0 20480", "write bar 0 3072",   "mkdir A",	   "write A/foo 0 2048", "mkdir B",
	"write x 0 64",	     "write keep 0 20480", "setxattr foo",
};

static bool model_start(struct script *script)
{
	struct op op;
	char text[64];

	script->count = script->objects = 0;
	if (!script->times)
		script->times = calloc(TIMES, sizeof(*script->times));
	memset(script->times[0], 0, sizeof(*script->times));
	add_object(script, script->times[0], NULL, TYPE_DIR);
	for (unsigned i = 0; i < ARRAY_SIZE(furniture); i++) {
		strcpy(text, furniture[i]);
		if (!parse_op(&op, text) ||
		    !model_apply(script, script->times[0], &op, FIRST_WRITER))
			return false;
	}
	return true;
}

bool script_make(struct script *script, const char *text)
{
	char copy[SCRIPT_MAX], *rest = copy, *one;

	BUG_ON(!model_start(script) || strlen(text) >= sizeof(copy));
	strcpy(copy, text);
	while ((one = strsep(&rest, ";")) != NULL) {
		unsigned time = script->count;

		if (time == OPS_MAX || !parse_op(&script->ops[time], one))
			panic("no script: %s", text);
		memcpy(script->times[time + 1], script->times[time], sizeof(*script->times));
		if (!model_apply(script, script->times[time + 1], &script->ops[time], time + 1))
			return false;
		script->count++;
	}
	return true;
}

/* ---- running --------------------------------------------------------------------------------- */

static s64 write_records(const char *path, int flags, unsigned object, unsigned writer, u32 offset,
			 u32 length)
{
	char *data = malloc(length);
	s64 result;

	for (u32 at = 0; at < length; at += RECORD)
		record_fill(data + at, object, writer, (offset + at) / RECORD);
	result = write_at(path, O_WRONLY | flags, offset, data, length);
	free(data);
	return result == (s64)length ? 0 : result < 0 ? result : -ENOSPC;
}

static s64 sync_path(const char *path, bool data_only)
{
	struct file *file = open_path(path, O_RDONLY, 0);
	int error;

	if (IS_ERR(file))
		return PTR_ERR(file);
	error = vfs_fsync(file, data_only);
	fput(file);
	return error;
}

/* @before: the model before the call, @after: behind it. */
static s64 run_op(const struct script *script, const struct op *op, const struct version *before,
		  const struct version *after, unsigned writer)
{
	char path[64], other[64], data[RECORD * 10 + 1];
	struct place place = {0}, old = {0};

	snprintf(path, sizeof(path), "/mnt/%s", op->path[0]);
	snprintf(other, sizeof(other), "/mnt/%s", op->path[1]);
	if (op->verb < VERB_SYNC) {
		find_place(script, before, op->path[0], &old);
		find_place(script, after, op->path[0], &place);
	}
	for (unsigned i = 0; i < 10; i++)
		record_fill(data + i * RECORD, place.object, writer, i);
	switch (op->verb) {
	case VERB_CREATE:
		return write_records(path, O_CREAT | O_EXCL, 0, 0, 0, 0);
	case VERB_WRITE:
		return write_records(path, O_CREAT, place.object, writer, op->number[0],
				     op->number[1]);
	case VERB_SYNCWRITE:
		return write_records(path, O_CREAT | O_SYNC, place.object, writer, op->number[0],
				     op->number[1]);
	case VERB_APPEND:
		return write_records(path, O_APPEND, place.object, writer, before[old.object].size,
				     op->number[0]);
	case VERB_REPLACE:
		return write_records(path, O_CREAT | O_TRUNC, place.object, writer, 0,
				     op->number[0]);
	case VERB_TRUNCATE:
		return truncate_path(path, op->number[0]);
	case VERB_LINK:
		return sys_linkat(AT_FDCWD, path, AT_FDCWD, other, 0);
	case VERB_RENAME:
		return sys_renameat2(AT_FDCWD, path, AT_FDCWD, other, 0);
	case VERB_UNLINK:
	case VERB_RMDIR:
		return sys_unlinkat(AT_FDCWD, path, op->verb == VERB_RMDIR ? AT_REMOVEDIR : 0);
	case VERB_MKDIR:
		return sys_mkdirat(AT_FDCWD, path, 0755);
	case VERB_SYMLINK:
		data[op->number[0]] = 0;
		return sys_symlinkat(data, AT_FDCWD, path);
	case VERB_SETXATTR:
		return sys_lsetxattr(path, "user.a", data, RECORD * 10, 0);
	case VERB_REMOVEXATTR:
		return sys_lremovexattr(path, "user.a");
	case VERB_FSYNC:
	case VERB_FDATASYNC:
		return sync_path(path, op->verb == VERB_FDATASYNC);
	case VERB_SYNC:
		return vfs_sync_all();
	default:
		writeback_once();
		return 0;
	}
}

void script_prepare(void)
{
	struct script script = {0};
	struct op op;
	char text[64];

	BUG_ON(!model_start(&script));
	for (unsigned i = 0; i < ARRAY_SIZE(furniture); i++) {
		strcpy(text, furniture[i]);
		BUG_ON(!parse_op(&op, text));
		CHECK_EQUAL(run_op(&script, &op, script.times[0], script.times[0], FIRST_WRITER),
			    0);
	}
	free(script.times);
}

void script_run(struct script *script)
{
	for (unsigned i = 0; i < script->count; i++) {
		struct op *op = &script->ops[i];

		op->begun = journal_length;
		CHECK_EQUAL(run_op(script, op, script->times[i], script->times[i + 1], i + 1), 0);
		op->done = journal_length;
	}
}

/* ---- what is promised ------------------------------------------------------------------------ */

/* A sync of @object, which is at @place, holds from @time on. */
static void promise(const struct script *script, struct promises *promises, unsigned object,
		    unsigned time)
{
	const struct version *at = script->times[time];

	promises->contents[object] = promises->object[object] = (u8)time;
	if (script->types[object] != TYPE_DIR)
		return;
	memset(promises->names[object], (int)time, NAMES_MAX);
	for (unsigned name = 0; name < NAMES_MAX; name++)
		if (at[object].entries[name])
			promises->object[at[object].entries[name]] = (u8)time;
}

static void promise_path(const struct script *script, struct promises *promises, const char *path,
			 unsigned time)
{
	char copy[40], *slash;
	struct place place;

	strcpy(copy, path);
	find_place(script, script->times[time], copy, &place);
	promise(script, promises, place.object, time);
	for (;;) { /* the name, and those of the directories above */
		if (place.dir)
			promises->names[place.dir][place.name] = (u8)time;
		if (!(slash = strrchr(copy, '/')))
			return;
		*slash = 0;
		find_place(script, script->times[time], copy, &place);
		promises->object[place.object] = (u8)time;
	}
}

void script_promises(const struct script *script, unsigned after, struct promises *promises)
{
	memset(promises, 0, sizeof(*promises));
	for (unsigned object = 1; object <= script->objects; object++) {
		unsigned born = 0;

		while (born < script->count && !script->times[born][object].exists)
			born++;
		promises->contents[object] = (u8)born;
		promises->object[object] = born ? NOT_PROMISED : 0;
	}
	for (unsigned i = 0; i < script->count; i++) {
		const struct op *op = &script->ops[i];
		bool done = is_sync(op->verb) && op->done <= after;

		if (op->begun < after || done)
			promises->now = i + 1;
		if (done && op->verb == VERB_SYNC)
			for (unsigned object = 1; object <= script->objects; object++) {
				if (script->times[i + 1][object].exists)
					promise(script, promises, object, i + 1);
			}
		else if (done)
			promise_path(script, promises, op->path[0], i + 1);
	}
}
