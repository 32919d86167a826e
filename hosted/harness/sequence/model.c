/* model.c - hosted: see model.h. Out of memory is no concern here. */
#include "hosted/harness/sequence/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hosted/harness/harness.h"
#include "core/log/assert.h"

/* ---- nodes and names --------------------------------------------------------------------------
 */

static struct model_node *node_make(struct model *model, umode_t mode)
{
	struct model_node *node = calloc(1, sizeof(*node));

	BUG_ON(model->count == MODEL_NODES);
	node->mode = mode;
	node->nlink = S_ISDIR(mode) ? 2 : 1;
	model->nodes[model->count++] = node;
	return node;
}

static void drop_chunks(struct model *model, struct model_node *node, unsigned keep)
{
	while (node->chunk_count > keep) {
		free(node->chunks[--node->chunk_count].data);
		model->chunks--;
	}
}

static void node_free(struct model *model, struct model_node *node)
{
	for (unsigned i = 0; i < model->count; i++)
		if (model->nodes[i] == node)
			model->nodes[i] = model->nodes[--model->count];
	for (unsigned i = 0; i < node->name_count; i++)
		free(node->names[i].text);
	drop_chunks(model, node, 0);
	free(node->chunks);
	free(node->names);
	free(node->target);
	free(node);
}

static void node_unused(struct model *model, struct model_node *node)
{
	if (!node->nlink && !node->opens)
		node_free(model, node);
}

void model_start(struct model *model, const char *top)
{
	memset(model, 0, sizeof(*model));
	snprintf(model->top, sizeof(model->top), "%s", top);
	model->root = node_make(model, S_IFDIR | 0755);
}

void model_end(struct model *model)
{
	while (model->count)
		node_free(model, model->nodes[0]);
}

static unsigned name_index(const struct model_node *dir, const char *name)
{
	unsigned i = 0;

	while (i < dir->name_count && strcmp(dir->names[i].text, name) != 0)
		i++;
	return i;
}

struct model_node *model_find(const struct model_node *dir, const char *name)
{
	unsigned i = name_index(dir, name);

	return i < dir->name_count ? dir->names[i].node : NULL;
}

static void add_name(struct model_node *dir, const char *name, struct model_node *node)
{
	dir->names = realloc(dir->names, (dir->name_count + 1) * sizeof(*dir->names));
	dir->names[dir->name_count++] = (struct model_name){strdup(name), node};
	if (S_ISDIR(node->mode)) {
		node->parent = dir;
		dir->nlink++;
	}
}

static void remove_name(struct model_node *dir, const char *name)
{
	unsigned i = name_index(dir, name);

	if (S_ISDIR(dir->names[i].node->mode))
		dir->nlink--;
	free(dir->names[i].text);
	dir->names[i] = dir->names[--dir->name_count];
}

static const char *name_of(const struct model_node *dir)
{
	for (unsigned i = 0; i < dir->parent->name_count; i++)
		if (dir->parent->names[i].node == dir)
			return dir->parent->names[i].text;
	panic("model: a directory without a name");
}

char *model_path(const struct model *model, const struct model_node *dir, const char *name,
		 char *path)
{
	char rest[PATH_MAX];

	path[0] = 0;
	if (name)
		snprintf(path, PATH_MAX, "/%s", name);
	for (; dir != model->root; dir = dir->parent) {
		strcpy(rest, path);
		BUG_ON(snprintf(path, PATH_MAX, "/%s%s", name_of(dir), rest) >= PATH_MAX);
	}
	strcpy(rest, path);
	BUG_ON(snprintf(path, PATH_MAX, "%s%s", model->top, rest) >= PATH_MAX);
	return path;
}

struct model_node *model_random(const struct model *model, struct rng *rng, umode_t type)
{
	unsigned start = (unsigned)rng_below(rng, model->count);

	for (unsigned i = 0; i < model->count; i++) {
		struct model_node *node = model->nodes[(start + i) % model->count];

		if ((node->mode & S_IFMT) == type && node->nlink)
			return node;
	}
	return NULL;
}

bool model_full(const struct model *model, u64 chunks)
{
	return model->count > MODEL_NODES - 8 || model->chunks > chunks;
}

/* ---- operations -------------------------------------------------------------------------------
 */

int model_make(struct model *model, struct model_node *dir, const char *name, umode_t mode,
	       const char *target)
{
	struct model_node *node;

	if (model_find(dir, name))
		return -EEXIST;
	node = node_make(model, S_ISDIR(mode) ? mode | (dir->mode & S_ISGID) : mode);
	if (target) {
		node->target = strdup(target);
		node->size = strlen(target);
	}
	add_name(dir, name, node);
	return 0;
}

int model_link(struct model *model, struct model_node *node, struct model_node *dir,
	       const char *name)
{
	(void)model;
	if (model_find(dir, name))
		return -EEXIST;
	if (S_ISDIR(node->mode))
		return -EPERM;
	node->nlink++;
	add_name(dir, name, node);
	return 0;
}

static void lose_name(struct model *model, struct model_node *dir, const char *name)
{
	struct model_node *node = model_find(dir, name);

	remove_name(dir, name);
	node->nlink = S_ISDIR(node->mode) ? 0 : node->nlink - 1;
	node_unused(model, node);
}

int model_unlink(struct model *model, struct model_node *dir, const char *name)
{
	struct model_node *node = model_find(dir, name);

	if (!node)
		return -ENOENT;
	if (S_ISDIR(node->mode))
		return -EISDIR;
	lose_name(model, dir, name);
	return 0;
}

int model_rmdir(struct model *model, struct model_node *dir, const char *name)
{
	struct model_node *node = model_find(dir, name);

	if (!node)
		return -ENOENT;
	if (!S_ISDIR(node->mode))
		return -ENOTDIR;
	if (node->name_count)
		return -ENOTEMPTY;
	lose_name(model, dir, name);
	return 0;
}

static bool below(const struct model *model, const struct model_node *node,
		  const struct model_node *dir)
{
	while (node != dir && node != model->root)
		node = node->parent;
	return node == dir;
}

int model_rename(struct model *model, struct model_node *from, const char *old,
		 struct model_node *to, const char *new, unsigned flags)
{
	struct model_node *node = model_find(from, old), *target = model_find(to, new);
	bool exchange = flags & RENAME_EXCHANGE;

	if (!node)
		return -ENOENT;
	if ((flags & RENAME_NOREPLACE) && target)
		return -EEXIST;
	if (exchange && !target)
		return -ENOENT;
	if (S_ISDIR(node->mode) && below(model, to, node))
		return -EINVAL;
	if (target && S_ISDIR(target->mode) && below(model, from, target))
		return exchange ? -EINVAL : -ENOTEMPTY;
	if (node == target)
		return 0;
	if (exchange) {
		remove_name(from, old);
		remove_name(to, new);
		add_name(to, new, node);
		add_name(from, old, target);
		return 0;
	}
	if (target && S_ISDIR(node->mode) && !S_ISDIR(target->mode))
		return -ENOTDIR;
	if (target && !S_ISDIR(node->mode) && S_ISDIR(target->mode))
		return -EISDIR;
	if (target && target->name_count)
		return -ENOTEMPTY;
	if (target)
		lose_name(model, to, new);
	remove_name(from, old);
	add_name(to, new, node);
	return 0;
}

/* ---- bytes ------------------------------------------------------------------------------------
 */

/* Index of the first chunk at or behind @index. */
static unsigned chunk_at(const struct model_node *node, u64 index)
{
	unsigned low = 0, high = node->chunk_count;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (node->chunks[middle].index < index)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static unsigned char *chunk_make(struct model *model, struct model_node *node, u64 index)
{
	unsigned i = chunk_at(node, index);

	if (i == node->chunk_count || node->chunks[i].index != index) {
		node->chunks =
			realloc(node->chunks, (node->chunk_count + 1) * sizeof(*node->chunks));
		memmove(&node->chunks[i + 1], &node->chunks[i],
			(node->chunk_count - i) * sizeof(*node->chunks));
		node->chunks[i] = (struct model_chunk){index, calloc(1, MODEL_CHUNK)};
		node->chunk_count++;
		model->chunks++;
	}
	return node->chunks[i].data;
}

void model_write(struct model *model, struct model_node *node, u64 offset,
		 const unsigned char *data, size_t n)
{
	if (n && offset + n > node->size)
		node->size = offset + n;
	while (n) {
		size_t at = offset % MODEL_CHUNK, part = min(n, MODEL_CHUNK - at);

		memcpy(chunk_make(model, node, offset / MODEL_CHUNK) + at, data, part);
		offset += part;
		data += part;
		n -= part;
	}
}

void model_read(const struct model_node *node, u64 offset, unsigned char *data, size_t n)
{
	memset(data, 0, n);
	for (unsigned i = chunk_at(node, offset / MODEL_CHUNK); i < node->chunk_count; i++) {
		u64 start = node->chunks[i].index * MODEL_CHUNK, end = start + MODEL_CHUNK;

		if (start >= offset + n)
			break;
		u64 from = max(start, offset), to = min(end, offset + n);

		memcpy(data + (from - offset), node->chunks[i].data + (from - start), to - from);
	}
}

void model_truncate(struct model *model, struct model_node *node, u64 size)
{
	unsigned keep = chunk_at(node, (size + MODEL_CHUNK - 1) / MODEL_CHUNK);

	if (size < node->size) {
		drop_chunks(model, node, keep);
		if (keep && node->chunks[keep - 1].index == size / MODEL_CHUNK)
			memset(node->chunks[keep - 1].data + size % MODEL_CHUNK, 0,
			       MODEL_CHUNK - size % MODEL_CHUNK);
	}
	node->size = size;
}

void model_open(struct model_node *node)
{
	node->opens++;
}

void model_close(struct model *model, struct model_node *node)
{
	node->opens--;
	node_unused(model, node);
}

/* ---- comparing --------------------------------------------------------------------------------
 */

#define PIECE 8192u

static void compare_piece(struct file *file, const struct model_node *node, const char *path,
			  u64 offset, size_t n)
{
	unsigned char want[PIECE], got[PIECE];
	struct io io = {got, n, IO_KERNEL, 0};
	loff_t position = (loff_t)offset;
	s64 expected = offset >= node->size ? 0 : (s64)min((u64)n, node->size - offset), result;

	result = vfs_read(file, &io, &position);
	if (result != expected) {
		test_failed(__FILE__, __LINE__, "%s: read at %llu gives %lld, not %lld", path,
			    (unsigned long long)offset, (long long)result, (long long)expected);
		return;
	}
	model_read(node, offset, want, (size_t)expected);
	for (s64 i = 0; i < expected; i++)
		if (want[i] != got[i]) {
			test_failed(__FILE__, __LINE__, "%s: byte %llu is 0x%02x, not 0x%02x", path,
				    (unsigned long long)offset + (u64)i, got[i], want[i]);
			return;
		}
}

/* All of a small file; of a large one what has bytes, its surroundings, the end and some holes. */
static void compare_bytes(const struct model_node *node, const char *path, struct rng *rng)
{
	struct file *file = open_path(path, O_RDONLY, 0);

	if (IS_ERR(file)) {
		test_failed(__FILE__, __LINE__, "%s: open: %ld", path, (long)PTR_ERR(file));
		return;
	}
	if (node->size <= KB(128)) {
		for (u64 at = 0; at <= node->size; at += PIECE)
			compare_piece(file, node, path, at, PIECE);
	} else {
		u64 next = 0;

		for (unsigned i = 0; i < node->chunk_count; i++) {
			u64 at = node->chunks[i].index * MODEL_CHUNK;

			if (at < next)
				continue;
			at = at > MODEL_CHUNK ? at - MODEL_CHUNK : 0;
			compare_piece(file, node, path, at, PIECE);
			next = at + PIECE - MODEL_CHUNK;
		}
		compare_piece(file, node, path, node->size - PIECE / 2, PIECE);
		for (unsigned i = 0; i < 3; i++)
			compare_piece(file, node, path, rng_below(rng, node->size), 100);
	}
	fput(file);
}

static void compare_link(const struct model_node *node, const char *path)
{
	char text[PATH_MAX];
	s64 length = sys_readlinkat(AT_FDCWD, path, text, sizeof(text));

	if (length != (s64)node->size || memcmp(text, node->target, node->size) != 0)
		test_failed(__FILE__, __LINE__, "%s: readlink gives %lld", path, (long long)length);
}

struct listing {
	const struct model_node *dir;
	const char *path;
	unsigned count;
	bool types;
};

static void visit_name(const char *name, unsigned d_type, void *argument)
{
	struct listing *listing = argument;
	const struct model_node *node = model_find(listing->dir, name);

	listing->count++;
	if (!node)
		test_failed(__FILE__, __LINE__, "%s: has a name too many: %s", listing->path, name);
	else if (d_type != (listing->types ? S_DT(node->mode) : DT_UNKNOWN))
		test_failed(__FILE__, __LINE__, "%s/%s: d_type %u", listing->path, name, d_type);
}

static void compare_node(const struct model *model, const struct model_node *dir, unsigned index,
			 struct rng *rng, bool types);

static void compare_dir(const struct model *model, const struct model_node *dir, struct rng *rng,
			bool types)
{
	static const unsigned batches[] = {0, 0, 1, 3};
	char path[PATH_MAX];
	struct listing listing = {dir, model_path(model, dir, NULL, path), 0, types};
	int error = list_directory(path, batches[rng_below(rng, ARRAY_SIZE(batches))], visit_name,
				   &listing);

	if (error || listing.count != dir->name_count)
		test_failed(__FILE__, __LINE__, "%s: has %u names, not %u (error %d)", path,
			    listing.count, dir->name_count, error);
	for (unsigned i = 0; i < dir->name_count; i++)
		compare_node(model, dir, i, rng, types);
}

static void compare_node(const struct model *model, const struct model_node *dir, unsigned index,
			 struct rng *rng, bool types)
{
	const struct model_node *node = dir->names[index].node;
	char path[PATH_MAX];
	struct kstat stat;
	int error;

	model_path(model, dir, dir->names[index].text, path);
	error = sys_newfstatat(AT_FDCWD, path, &stat, AT_SYMLINK_NOFOLLOW);
	if (error) {
		test_failed(__FILE__, __LINE__, "%s: stat: %d", path, error);
		return;
	}
	if (stat.mode != node->mode || stat.nlink != node->nlink ||
	    (!S_ISDIR(node->mode) && (u64)stat.size != node->size))
		test_failed(__FILE__, __LINE__,
			    "%s: mode %o, %llu links, size %lld, not %o, %u, %llu", path, stat.mode,
			    (unsigned long long)stat.nlink, (long long)stat.size, node->mode,
			    node->nlink, (unsigned long long)node->size);
	if (S_ISDIR(node->mode))
		compare_dir(model, node, rng, types);
	else if (S_ISREG(node->mode))
		compare_bytes(node, path, rng);
	else if (S_ISLNK(node->mode))
		compare_link(node, path);
}

void model_compare(const struct model *model, struct rng *rng, bool types)
{
	compare_dir(model, model->root, rng, types);
}
