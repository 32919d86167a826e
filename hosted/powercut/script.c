/*
 * script.c - the calls of a script: their text, and what is promised behind them.
 *
 * The model keeps every state: what each object was after so many calls. Calls of one stage run at
 * the same time; they have a meaning if they have the same in every order, and the model has them
 * in that of the text.
 */
#include <stdlib.h>
#include <string.h>

#include "core/log/assert.h"
#include "hosted/powercut/powercut.h"

static const struct verb_name {
	const char *text;
	unsigned paths, numbers;
} verbs[VERBS] = {
	[VERB_CREATE] = {"create", 1, 0},	[VERB_WRITE] = {"write", 1, 2},
	[VERB_APPEND] = {"append", 1, 1},	[VERB_SYNCWRITE] = {"syncwrite", 1, 2},
	[VERB_REPLACE] = {"replace", 1, 1},	[VERB_DSYNCWRITE] = {"dsyncwrite", 1, 2},
	[VERB_STORE] = {"store", 1, 2},		[VERB_TRUNCATE] = {"truncate", 1, 1},
	[VERB_NAMELESS] = {"nameless", 1, 2},
	[VERB_LINK] = {"link", 2, 0},		[VERB_RENAME] = {"rename", 2, 0},
	[VERB_NOREPLACE] = {"noreplace", 2, 0}, [VERB_EXCHANGE] = {"exchange", 2, 0},
	[VERB_UNLINK] = {"unlink", 1, 0},	[VERB_MKDIR] = {"mkdir", 1, 0},
	[VERB_RMDIR] = {"rmdir", 1, 0},		[VERB_SYMLINK] = {"symlink", 1, 1},
	[VERB_SETXATTR] = {"setxattr", 1, 0},	[VERB_REMOVEXATTR] = {"removexattr", 1, 0},
	[VERB_MSYNC] = {"msync", 1, 0},		[VERB_FSYNC] = {"fsync", 1, 0},
	[VERB_FDATASYNC] = {"fdatasync", 1, 0}, [VERB_SYNCFS] = {"syncfs", 0, 0},
	[VERB_SYNC] = {"sync", 0, 0},		[VERB_WRITEBACK] = {"writeback", 0, 0},
	[VERB_EVICT] = {"evict", 0, 0},
};

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

bool script_furniture(struct script *script, unsigned number, struct op *op)
{
	static const char *const furniture[] = {
		"write foo 0 20480", "write bar 0 3072",   "mkdir A",	   "write A/foo 0 2048",
		"mkdir B",	     "write x 3072 64",	   "write keep 0 20480", "setxattr foo",
	};
	char text[64];

	if (number == ARRAY_SIZE(furniture))
		return false;
	strcpy(text, furniture[number]);
	BUG_ON(!parse_op(op, text) ||
	       !model_apply(script, script->times[0], op, FIRST_WRITER));
	return true;
}

static void model_start(struct script *script)
{
	struct op op;

	if (!script->times)
		script->times = calloc(TIMES, sizeof(*script->times));
	model_clear(script);
	for (unsigned i = 0; script_furniture(script, i, &op); i++)
		;
}

/* ---- stages ---------------------------------------------------------------------------------- */

unsigned stage_start(const struct script *script, unsigned op)
{
	unsigned start = op;

	while (start && script->ops[start - 1].stage == script->ops[op].stage)
		start--;
	return start;
}

/* A sync finds its file before any call of its stage begins. */
static bool apply(struct script *script, unsigned op, const struct version *start,
		  struct version *at)
{
	const struct op *call = &script->ops[op];

	if (call->verb >= VERB_MSYNC)
		return model_apply(script, (struct version *)start, call, op + 1);
	return model_apply(script, at, call, op + 1);
}

/* Do the calls that are not @done, of the stage that ends with the last one, come to the same in
 * every order, from @at on? */
static bool any_order(struct script *script, unsigned start, unsigned done,
		      const struct version *at)
{
	size_t size = sizeof(*script->times);
	bool last = true, same = true;

	for (unsigned op = start; same && op < script->count; op++) {
		if (done >> op & 1)
			continue;
		struct version *next = malloc(size);

		last = false;
		memcpy(next, at, size);
		same = apply(script, op, script->times[start], next) &&
		       any_order(script, start, done | 1u << op, next);
		free(next);
	}
	return last ? !memcmp(at, script->times[script->count], size) : same;
}

/* Who writes and syncs at once is promised what the file has then: nobody else may change it. */
static bool shares_synced_file(const struct script *script, unsigned op)
{
	unsigned start = stage_start(script, op);
	struct place place;

	if (!is_synced_write(script->ops[op].verb))
		return false;
	find_place(script, script->times[op + 1], script->ops[op].path[0], &place);
	for (unsigned i = start; i < script->count; i++)
		if (i != op && memcmp(&script->times[i][place.object],
				      &script->times[i + 1][place.object], sizeof(struct version)))
			return true;
	return false;
}

static bool stage_has_meaning(struct script *script)
{
	unsigned start = stage_start(script, script->count - 1);

	if (start == script->count - 1)
		return true;
	for (unsigned op = start; op < script->count; op++)
		if (shares_synced_file(script, op))
			return false;
	return any_order(script, start, 0, script->times[start]);
}

bool script_make(struct script *script, const char *text)
{
	char copy[SCRIPT_MAX], *rest = copy;
	unsigned stage = 0;

	model_start(script);
	BUG_ON(strlen(text) >= sizeof(copy));
	strcpy(copy, text);
	while (rest) {
		unsigned time = script->count;
		char *one = rest, end;

		rest += strcspn(rest, ";&");
		end = *rest;
		*rest = 0;
		rest = end ? rest + 1 : NULL;
		if (time == OPS_MAX || !parse_op(&script->ops[time], one))
			panic("no script: %s", text);
		script->ops[time].stage = stage;
		memcpy(script->times[time + 1], script->times[time], sizeof(*script->times));
		script->count++;
		if (!apply(script, time, script->times[stage_start(script, time)],
			   script->times[time + 1]) ||
		    !stage_has_meaning(script))
			return false;
		stage += end == ';';
	}
	return true;
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

/* What was @start's file @path is promised as it is at @time: with the name, if it still has it, and
 * those of the directories above. */
static void promise_path(const struct script *script, struct promises *promises, const char *path,
			 unsigned start, unsigned time)
{
	char copy[40], *slash;
	struct place place;

	strcpy(copy, path);
	find_place(script, script->times[start], copy, &place);
	promise(script, promises, place.object, time);
	for (;;) {
		if (place.dir && script->times[time][place.dir].entries[place.name] == place.object)
			promises->names[place.dir][place.name] = (u8)time;
		if (!(slash = strrchr(copy, '/')))
			return;
		*slash = 0;
		find_place(script, script->times[start], copy, &place);
		promises->object[place.object] = (u8)time;
	}
}

/* The time of which a sync holds: of the calls all that had returned before it began. */
static unsigned synced_time(const struct script *script, unsigned sync)
{
	unsigned time = 0;

	if (is_synced_write(script->ops[sync].verb))
		return sync + 1;
	while (time < script->count &&
	       (time == sync || script->ops[time].returned < script->ops[sync].started))
		time++;
	return time;
}

/* What the @sync-th call promises: the time of which it holds. */
static unsigned promise_sync(const struct script *script, struct promises *promises, unsigned sync)
{
	const struct op *op = &script->ops[sync];
	unsigned time = synced_time(script, sync), start = stage_start(script, sync);

	if (op->verb < VERB_SYNCFS) {
		promise_path(script, promises, op->path[0],
			     is_synced_write(op->verb) ? sync + 1 : start, time);
		return time;
	}
	for (unsigned object = 1; object <= script->objects; object++)
		if (script->times[time][object].exists)
			promise(script, promises, object, time);
	return time;
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
		if (done)
			promises->now = max(promises->now, promise_sync(script, promises, i));
	}
}
