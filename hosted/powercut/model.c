/*
 * model.c - what the calls of a script do, as the model has it: objects, their names and contents.
 */
#include <string.h>

#include "core/log/assert.h"
#include "hosted/powercut/powercut.h"

const char *const name_texts[NAMES_MAX] = {"lost+found", "foo", "bar",	"new",	"keep", "A",
					   "B",		 "dir", "link", "soft", "x",	"x2"};

/* ---- objects and names ----------------------------------------------------------------------- */

static unsigned find_name(const char *text, size_t length)
{
	unsigned name = 0;

	while (strlen(name_texts[name]) != length || strncmp(name_texts[name], text, length) != 0)
		BUG_ON(++name == NAMES_MAX);
	return name;
}

bool find_place(const struct script *script, const struct version *at, const char *path,
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

/* Made by the @writer-th call: so its number does not depend on what others make meanwhile. */
static unsigned add_object(struct script *script, struct version *at, const struct place *place,
			   enum type type, unsigned writer)
{
	unsigned object =
		writer == FIRST_WRITER ? script->objects + 1 : FURNITURE_OBJECTS + writer;

	BUG_ON(object >= OBJECTS_MAX || (writer == FIRST_WRITER && object > FURNITURE_OBJECTS));
	script->objects = max(script->objects, object);
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
	if (offset % RECORD || length % RECORD || offset + length > RECORDS_MAX * RECORD)
		panic("bytes %u to %u: only whole records of %u, to %u, can be written", offset,
		      offset + length, RECORD, (u32)(RECORDS_MAX * RECORD));
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

/* ---- calls ----------------------------------------------------------------------------------- */

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

static bool model_exchange(struct script *script, struct version *at, struct place *one,
			   struct place *other)
{
	if (!one->object || !one->dir || !other->object || !other->dir ||
	    one->object == other->object ||
	    (script->types[one->object] == TYPE_DIR && is_below(at, other->dir, one->object)) ||
	    (script->types[other->object] == TYPE_DIR && is_below(at, one->dir, other->object)))
		return false;
	at[one->dir].entries[one->name] = (u8)other->object;
	at[other->dir].entries[other->name] = (u8)one->object;
	return true;
}

/* A call with two names. */
static bool model_names(struct script *script, struct version *at, const struct op *op,
			struct place *from)
{
	struct place to;

	if (!find_place(script, at, op->path[1], &to))
		return false;
	if (op->verb == VERB_EXCHANGE)
		return model_exchange(script, at, from, &to);
	if (op->verb != VERB_LINK)
		return !(op->verb == VERB_NOREPLACE && to.object) &&
		       model_move(script, at, from, &to);
	if (to.object || script->types[from->object] == TYPE_DIR)
		return false;
	at[to.dir].entries[to.name] = (u8)from->object;
	return true;
}

static bool model_make(struct script *script, struct version *at, const struct op *op,
		       struct place *place, unsigned writer)
{
	enum type type = TYPE_LINK;

	if (place->object)
		return false;
	if (op->verb == VERB_CREATE)
		type = TYPE_FILE;
	else if (op->verb == VERB_MKDIR)
		type = TYPE_DIR;
	place->object = add_object(script, at, place, type, writer);
	if (op->verb == VERB_SYMLINK) {
		at[place->object].size = op->number[0];
		at[place->object].writers[0] = (u8)writer;
	}
	return true;
}

static bool model_write(struct script *script, struct version *at, const struct op *op,
			struct place *place, unsigned writer)
{
	bool must_be = op->verb == VERB_APPEND || op->verb == VERB_STORE;
	u32 offset = op->number[0], length = op->number[1];

	if (place->object ? script->types[place->object] != TYPE_FILE : must_be)
		return false;
	if (op->verb == VERB_NAMELESS && place->object)
		return false;
	if (!place->object)
		place->object = add_object(script, at, place, TYPE_FILE, writer);
	struct version *file = &at[place->object];

	if (op->verb == VERB_REPLACE)
		cut_bytes(file, 0);
	if (op->verb == VERB_REPLACE || op->verb == VERB_APPEND || op->verb == VERB_NAMELESS) {
		offset = file->size;
		length = op->number[0];
	}
	if (op->verb == VERB_STORE && offset + length > file->size)
		return false;
	put_bytes(file, writer, offset, length);
	return true;
}

static bool model_remove(struct script *script, struct version *at, const struct op *op,
			 struct place *place)
{
	bool directory = script->types[place->object] == TYPE_DIR;

	if ((op->verb == VERB_RMDIR) != directory || (directory && !is_empty(&at[place->object])))
		return false;
	drop_name(at, place);
	return true;
}

bool model_apply(struct script *script, struct version *at, const struct op *op, unsigned writer)
{
	struct place place;
	enum type type;

	if (op->verb >= VERB_SYNCFS)
		return true;
	if (!find_place(script, at, op->path[0], &place))
		return false;
	type = place.object ? script->types[place.object] : TYPE_NONE;
	if (op->verb <= VERB_STORE)
		return model_write(script, at, op, &place, writer);
	if (op->verb <= VERB_SYMLINK)
		return model_make(script, at, op, &place, writer);
	if (!place.object)
		return false;
	switch (op->verb) {
	case VERB_TRUNCATE:
		if (type == TYPE_FILE)
			cut_bytes(&at[place.object], op->number[0]);
		return type == TYPE_FILE;
	case VERB_LINK:
	case VERB_RENAME:
	case VERB_NOREPLACE:
	case VERB_EXCHANGE:
		return model_names(script, at, op, &place);
	case VERB_UNLINK:
	case VERB_RMDIR:
		return model_remove(script, at, op, &place);
	case VERB_SETXATTR:
	case VERB_REMOVEXATTR:
		if (type == TYPE_LINK ||
		    (op->verb == VERB_REMOVEXATTR && !at[place.object].attribute))
			return false;
		at[place.object].attribute = op->verb == VERB_SETXATTR ? (u8)writer : 0;
		return true;
	case VERB_MSYNC:
		return type == TYPE_FILE;
	default:
		return type != TYPE_LINK; /* to be synced */
	}
}

void model_clear(struct script *script)
{
	script->count = script->objects = 0;
	memset(script->types, 0, sizeof(script->types));
	memset(script->times[0], 0, sizeof(*script->times));
	add_object(script, script->times[0], NULL, TYPE_DIR, FIRST_WRITER);
}
