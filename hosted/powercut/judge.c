/*
 * judge.c - whether what is there after e2fsck is what was promised.
 *
 * From the last sync of a thing until the cut it had one or several states; any of them may be
 * there, and no other. Of a file that was changed since, each record is the one of one of these
 * states. A name that was always there is there, and a file that always had a name has one.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hosted/harness/harness.h"
#include "core/log/assert.h"
#include "hosted/powercut/powercut.h"

/* ---- comparing ------------------------------------------------------------------------------- */

static const struct script *script;
static struct promises promises;
static bool found[OBJECTS_MAX];
static bool torn; /* requests were, in the middle of blocks */
static char wrong[256];

static bool complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(wrong, sizeof(wrong), format, arguments);
	va_end(arguments);
	return false;
}

static const struct version *version(unsigned time, unsigned object)
{
	return &script->times[time][object];
}

/* The @index-th record of @object at @time. */
static void record_at(char *record, unsigned time, unsigned object, u32 index)
{
	const struct version *file = version(time, object);
	unsigned writer = index < file->size / RECORD ? file->writers[index] : 0;

	memset(record, 0, RECORD);
	if (writer)
		record_fill(record, object, writer, index);
}

/* Are the first @length bytes at @data those that the record has from @at on, at some time? */
static bool is_of_some_time(unsigned object, const char *data, u32 index, unsigned at, u32 length)
{
	char record[RECORD];

	for (unsigned time = promises.contents[object]; time <= promises.now; time++) {
		record_at(record, time, object, index);
		if (!memcmp(data, record + at, length))
			return true;
	}
	return false;
}

/* Stores are single: of those that were not synced any may be there. */
static bool was_stored_to(unsigned object)
{
	for (unsigned time = promises.contents[object] + 1u; time <= promises.now; time++)
		if (script->ops[time - 1].verb == VERB_STORE &&
		    memchr(version(time, object)->writers, (int)time, RECORDS_MAX))
			return true;
	return false;
}

static bool compare_record(const char *path, unsigned object, const char *data, u32 index)
{
	u32 step = was_stored_to(object) ? STORE : RECORD, at = 0;

	while (at < RECORD && is_of_some_time(object, data + at, index, at, step))
		at += step;
	return at == RECORD || complain("%s: byte %u is not its own: \"%.32s\"", path, index * RECORD, data);
}

static bool compare_bytes(const char *path, unsigned object, u32 size)
{
	static char data[RECORDS_MAX * RECORD + KB(4)];
	s64 length = read_at(path, 0, data, sizeof(data));

	if (length != size)
		return complain("%s: reading gives %lld", path, (long long)length);
	for (u32 at = 0; at < size; at += RECORD)
		if (!compare_record(path, object, data + at, at / RECORD))
			return false;
	return true;
}

static bool compare_attribute(const char *path, unsigned object)
{
	char value[RECORD * 10 + 1], record[RECORD];
	s64 length = sys_lgetxattr(path, "user.a", value, sizeof(value));

	for (unsigned time = promises.contents[object]; time <= promises.now; time++) {
		unsigned writer = version(time, object)->attribute;
		bool same = writer ? length == RECORD * 10 : length == -ENODATA;

		for (u32 i = 0; writer && same && i < 10; i++) {
			record_fill(record, object, writer, i);
			same = !memcmp(value + i * RECORD, record, RECORD);
		}
		if (same)
			return true;
	}
	return complain("%s: its attribute is wrong: %lld", path, (long long)length);
}

/* Did the call before @time cut it off and write it anew? */
static bool was_replaced(unsigned time, unsigned object)
{
	return script->ops[time - 1].verb == VERB_REPLACE &&
	       version(time, object)->writers[0] == time;
}

/* Did a write make it while other calls ran? Then one of those may have written it back before it
 * had its bytes; a sync of its directory brings the name, and what the file holds is for its own. */
static bool was_seen_empty(unsigned object)
{
	unsigned born = promises.contents[object];

	if (!born || version(born - 1, object)->exists || script->ops[born - 1].verb > VERB_STORE)
		return false;
	for (unsigned op = 0; op < script->count; op++)
		if (op != born - 1 && script->ops[op].stage == script->ops[born - 1].stage)
			return true;
	return false;
}

static bool compare_file(const char *path, unsigned object, u32 size)
{
	u32 least = was_seen_empty(object) ? 0 : ~0u, most = 0;

	for (unsigned time = promises.contents[object]; time <= promises.now; time++) {
		least = min(least, version(time, object)->size);
		if (time > promises.contents[object] && was_replaced(time, object))
			least = 0; /* it was empty in between */
		most = max(most, version(time, object)->size);
	}
	if (least != most) /* e2fsck may make it reach to the end of its last block */
		most = round_up(most, geometry->block);
	if (size < least || size > most)
		return complain("%s: its size is %u, not %u to %u", path, size, least, most);
	return compare_bytes(path, object, size) && compare_attribute(path, object);
}

static bool compare_link(const char *path, unsigned object)
{
	char text[RECORD * 10], record[RECORD * 10];
	s64 length = sys_readlinkat(AT_FDCWD, path, text, sizeof(text));
	const struct version *link = version(promises.now, object);

	for (unsigned time = 0; !link->size && time <= promises.now; time++)
		link = version(time, object);
	for (u32 i = 0; i < 10; i++)
		record_fill(record + i * RECORD, object, link->writers[0], i);
	if (length != link->size || memcmp(text, record, (size_t)length) != 0)
		return complain("%s: the symbolic link leads elsewhere", path);
	return true;
}

static bool compare_dir(const char *path, unsigned object);

static enum type type_of(umode_t mode)
{
	if (S_ISREG(mode))
		return TYPE_FILE;
	if (S_ISDIR(mode))
		return TYPE_DIR;
	return S_ISLNK(mode) ? TYPE_LINK : TYPE_NONE;
}

/* Is what is at @path @object? */
static bool compare_object(const char *path, unsigned object, const struct kstat *stat)
{
	enum type type = type_of(stat->mode);

	if (type != script->types[object])
		return complain("%s: its mode is %o", path, stat->mode);
	if (type == TYPE_FILE)
		return compare_file(path, object, (u32)stat->size);
	if (type == TYPE_LINK)
		return compare_link(path, object);
	return compare_dir(path, object) && compare_attribute(path, object);
}

/* A directory has one name: e2fsck takes the other away if an exchange was cut between the two. */
static bool may_be_half_exchanged(unsigned dir, unsigned name)
{
	for (unsigned op = promises.names[dir][name]; op < promises.now; op++) {
		const struct op *call = &script->ops[op];
		struct place one, other;

		if (call->verb != VERB_EXCHANGE)
			continue;
		find_place(script, script->times[op], call->path[0], &one);
		find_place(script, script->times[op], call->path[1], &other);
		bool meant = (one.dir == dir && one.name == name) ||
			     (other.dir == dir && other.name == name);
		if (meant && (one.dir != other.dir || torn) &&
		    (script->types[one.object] == TYPE_DIR ||
		     script->types[other.object] == TYPE_DIR))
			return true;
	}
	return false;
}

/* What may be there under this name is; and nothing else. */
static bool compare_name(const char *path, unsigned dir, unsigned name)
{
	bool any = false, matched = false, absent = false;
	struct kstat stat;
	int error = (int)sys_newfstatat(AT_FDCWD, path, &stat, AT_SYMLINK_NOFOLLOW);
	u32 tried = 0;

	for (unsigned time = promises.names[dir][name]; time <= promises.now; time++) {
		unsigned object = version(time, dir)->entries[name];

		absent |= !object;
		if (error || !object || tried >> object & 1)
			continue;
		any = true;
		tried |= 1u << object;
		if (compare_object(path, object, &stat))
			matched = found[object] = true;
	}
	if (error == -ENOENT)
		return absent || may_be_half_exchanged(dir, name) ||
		       complain("%s is not there", path);
	if (error)
		return complain("%s: error %d", path, -error);
	return matched || (any ? false : complain("%s is there", path));
}

static void look_for_strangers(const char *name, unsigned type, void *known)
{
	bool *stranger = known;

	(void)type;
	for (unsigned i = 0; i < NAMES_MAX; i++)
		if (!strcmp(name_texts[i], name))
			return;
	*stranger = true;
}

static bool compare_dir(const char *path, unsigned object)
{
	bool stranger = false, root = object == ROOT_OBJECT;
	char inner[128];

	if (list_directory(path, 0, look_for_strangers, &stranger) || stranger)
		return complain("%s: it cannot be read, or has a strange name in it", path);
	for (unsigned name = root; name < NAMES_MAX; name++) {
		snprintf(inner, sizeof(inner), "%s/%s", path, name_texts[name]);
		if (!compare_name(inner, object, name))
			return false;
	}
	return true;
}

static bool has_name(unsigned time, unsigned object)
{
	for (unsigned dir = 1; dir <= script->objects; dir++)
		for (unsigned name = 0; version(time, dir)->exists && name < NAMES_MAX; name++)
			if (version(time, dir)->entries[name] == object)
				return true;
	return false;
}

/* May @object be in lost+found, because an exchange gave its name away before it got the other's?
 * The first file's new name comes first, so it is the second one; but a block may be torn. */
static bool may_be_nameless(unsigned object)
{
	for (unsigned op = promises.object[object]; op < promises.now; op++) {
		const struct op *call = &script->ops[op];
		struct place first, second;

		if (call->verb != VERB_EXCHANGE)
			continue;
		find_place(script, script->times[op], call->path[0], &first);
		find_place(script, script->times[op], call->path[1], &second);
		if (object == second.object || (torn && object == first.object))
			return true;
	}
	return false;
}

/* e2fsck -fy takes a file without name away if it has no blocks; what is cut off and written anew is
 * empty in between. */
static bool may_be_empty(unsigned object)
{
	if (script->types[object] != TYPE_FILE)
		return false;
	for (unsigned time = promises.contents[object]; time <= promises.now; time++) {
		const struct version *file = version(time, object);

		if (!file->attribute && (!file->size || (time > promises.contents[object] &&
							  was_replaced(time, object))))
			return true;
	}
	return false;
}

struct lost_names {
	char paths[OBJECTS_MAX][64];
	unsigned count;
};

static void add_lost(const char *name, unsigned type, void *names)
{
	struct lost_names *lost = names;

	(void)type;
	if (lost->count < OBJECTS_MAX)
		snprintf(lost->paths[lost->count++], sizeof(lost->paths[0]), "/mnt/lost+found/%s",
			 name);
}

/* There it is whole, under the number of its inode. */
static bool is_in_lost_found(unsigned object)
{
	struct lost_names lost = {.count = 0};
	struct kstat stat;

	list_directory("/mnt/lost+found", 0, add_lost, &lost);
	for (unsigned i = 0; i < lost.count; i++)
		if (!sys_newfstatat(AT_FDCWD, lost.paths[i], &stat, AT_SYMLINK_NOFOLLOW) &&
		    compare_object(lost.paths[i], object, &stat))
			return found[object] = true;
	return false;
}

static bool all_found(void)
{
	/* first: a directory that is there has its files with it */
	for (unsigned object = ROOT_OBJECT + 1; object <= script->objects; object++)
		if (!found[object] && may_be_nameless(object))
			is_in_lost_found(object);
	for (unsigned object = ROOT_OBJECT + 1; object <= script->objects; object++) {
		unsigned time = promises.object[object];

		if (time == NOT_PROMISED || found[object] ||
		    (may_be_nameless(object) && may_be_empty(object)))
			continue;
		while (time <= promises.now && has_name(time, object))
			time++;
		if (time > promises.now)
			return complain("object %u has lost its last name", object);
	}
	return true;
}

const char *judge(struct hosted_disk *disk, const struct script *of, const struct cut *cut,
		  u64 hash, unsigned char *image)
{
	bool good = repair(hash, image);

	if (!good)
		return "e2fsck -fy does not end in a clean file system";
	script = of;
	script_promises(of, cut->after, &promises);
	memset(found, 0, sizeof(found));
	torn = cut->subset == KEEP_TORN;
	memcpy(disk->image, image, IMAGE_BYTES);
	if (mount_disk("ram0", SB_RDONLY) != 0)
		return "it cannot be mounted";
	good = compare_dir("/mnt", ROOT_OBJECT) && all_found();
	CHECK_EQUAL(umount_disk(), 0);
	return good ? NULL : wrong;
}
