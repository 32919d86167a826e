/* contents.c - hosted: random operations on the bytes of files; see operations.h. */
#include <stdio.h>
#include <string.h>

#include "fs/file/file.h"
#include "fs/inode/attributes.h"
#include "hosted/harness/harness.h"
#include "hosted/harness/sequence/operations.h"

/* Where it gets interesting: at the start, the end, and where another level of indirect blocks
 * begins. */
static u64 some_offset(const struct model_node *node)
{
	u64 size = run.block_size, pointers = size / 4, boundary;

	switch (pick(8)) {
	case 0:
		return node->size;
	case 1:
		return node->size ? pick(node->size) : 0;
	case 2:
		boundary = 12;
		break;
	case 3:
		boundary = 12 + pointers;
		break;
	case 4:
		boundary = 12 + pointers + pointers * pointers;
		break;
	case 5:
		return pick(40) * size;
	default:
		return pick(KB(60));
	}
	boundary = boundary * size + pick(4 * size);
	return boundary > 2 * size ? boundary - 2 * size : 0;
}

static size_t some_length(void)
{
	switch (pick(4)) {
	case 0:
		return 1 + pick(WRITE_MAX);
	case 1:
		return run.block_size * (1 + pick(4));
	default:
		return 1 + pick(3000);
	}
}

static void write_file(struct file *file, struct model_node *node)
{
	u64 offset = some_offset(node);
	size_t n = some_length();
	bool fault = pick(16) == 0 && current->pid == 1;
	/* bytes before memory ends */
	size_t reach = fault ? n - min(n, (size_t)pick(PAGE_SIZE)) : n;
	unsigned char *bytes = run.bytes;
	struct io io = {bytes + WRITE_MAX - reach, n, IO_USER, 0};
	loff_t position = (loff_t)offset;
	size_t whole = reach;
	s64 result;

	if (run.mode != SEQUENCE_SMALL && run.model.chunks + n / MODEL_CHUNK > run.chunks_max)
		return;
	if (sequence_trace)
		fprintf(stderr, "write %p [%llu, +%zu) of %zu\n", (void *)node,
			(unsigned long long)offset, reach, n);
	for (size_t i = 0; i < reach; i++)
		bytes[WRITE_MAX - reach + i] = (unsigned char)rng_next(&run.rng);
	result = vfs_write(file, &io, &position);
	if (result > 0 && (size_t)result < reach && run.mode != SEQUENCE_EXACT)
		reach = (size_t)result; /* the disk is full, or worse: a part */
	EXPECT(result, (model_write(&run.model, node, offset, bytes + WRITE_MAX - whole, reach),
			reach ? (s64)reach : -EFAULT));
}

void random_write(void)
{
	struct model_node *dir = some_dir(), *node;
	const char *name = some_name(dir, true);
	struct file *file;

	node = model_find(dir, name);
	if (!node || !S_ISREG(node->mode))
		return;
	file = open_path(PATH(dir, name), O_RDWR, 0);
	EXPECT(PTR_ERR_OR_ZERO(file), 0);
	if (IS_ERR(file))
		return;
	write_file(file, node);
	if (pick(6) == 0)
		EXPECT(vfs_fsync(file, pick(2)), 0);
	fput(file);
}

static u64 some_size(const struct model_node *node)
{
	switch (pick(4)) {
	case 0:
		return 0;
	case 1:
		return round_down(node->size, (u64)run.block_size);
	case 2:
		return node->size ? pick(node->size) : 0;
	default:
		return some_offset(node);
	}
}

void random_resize(void)
{
	struct model_node *dir = some_dir(), *node;
	const char *name = some_name(dir, true);
	u64 size;

	node = model_find(dir, name);
	if (!node || !S_ISREG(node->mode))
		return;
	size = some_size(node);
	if (sequence_trace)
		fprintf(stderr, "truncate %p from %llu to %llu\n", (void *)node,
			(unsigned long long)node->size, (unsigned long long)size);
	EXPECT(truncate_path(PATH(dir, name), (loff_t)size), 0);
	model_truncate(&run.model, node, size);
}

void random_read(void)
{
	struct model_node *dir = some_dir(), *node;
	const char *name = some_name(dir, true);
	unsigned char got[3000], want[3000];
	s64 n, result;
	u64 offset;

	node = model_find(dir, name);
	if (!node || !S_ISREG(node->mode))
		return;
	offset = some_offset(node);
	n = offset >= node->size ? 0 : (s64)min(node->size - offset, (u64)sizeof(got));
	result = read_at(PATH(dir, name), (loff_t)offset, got, sizeof(got));
	EXPECT(result, n);
	model_read(node, offset, want, (size_t)n);
	if (run.mode != SEQUENCE_CHAOS)
		CHECK(memcmp(got, want, (size_t)n) == 0);
}

/* ---- files that stay open, perhaps longer than they have a name ----------------------------- */

static void close_handle(struct handle *handle)
{
	if (!handle->file)
		return;
	fput(handle->file);
	model_close(&run.model, handle->node);
	handle->file = NULL;
}

void close_handles(void)
{
	for (unsigned i = 0; i < HANDLES; i++)
		close_handle(&run.handles[i]);
}

static void open_handle(struct handle *handle)
{
	struct model_node *dir = some_dir(), *node;
	const char *name = some_name(dir, true);

	node = model_find(dir, name);
	if (!node || !S_ISREG(node->mode))
		return;
	if (sequence_trace)
		fprintf(stderr, "open %p\n", (void *)node);
	handle->file = open_path(PATH(dir, name), O_RDWR, 0);
	EXPECT(PTR_ERR_OR_ZERO(handle->file), 0);
	if (IS_ERR(handle->file)) {
		handle->file = NULL;
		return;
	}
	handle->node = node;
	model_open(node);
}

void random_handle(void)
{
	struct handle *handle = &run.handles[pick(HANDLES)];
	u64 size;

	if (!handle->file) {
		open_handle(handle);
		return;
	}
	switch (pick(4)) {
	case 0:
		close_handle(handle);
		break;
	case 1:
		size = some_size(handle->node);
		if (sequence_trace)
			fprintf(stderr, "ftruncate %p from %llu to %llu\n", (void *)handle->node,
				(unsigned long long)handle->node->size, (unsigned long long)size);
		EXPECT(do_truncate(handle->file->inode, (loff_t)size, true), 0);
		model_truncate(&run.model, handle->node, size);
		break;
	default:
		write_file(handle->file, handle->node);
	}
}
