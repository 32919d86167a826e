/* operations.c - what programs do with memory and files, and what comes of it; see spaces.h. */
#include <stdlib.h>
#include <string.h>

#include "fs/file/file.h"
#include "hosted/tests/spaces/spaces.h"

#define PIECE 300u /* bytes of a load or store, at most */

struct rng spaces_rng;

static unsigned pick(unsigned n)
{
	return (unsigned)rng_below(&spaces_rng, n);
}

/* ---- operations: loads and stores ------------------------------------------------------------ */

/* A range inside of the window, mostly within a page. */
static void pick_range(unsigned *start, unsigned *length)
{
	*length = 1 + pick(pick(4) ? 16 : PIECE);
	*start = pick(WINDOW * PAGE_SIZE - *length);
}

static void load(struct space *space)
{
	unsigned char data[PIECE];
	unsigned start, length;

	pick_range(&start, &length);
	int signal = user_load(WINDOW_START + start, data, length), expected = 0;
	for (unsigned i = 0; i < length && !expected; i++) {
		const struct page_model *page = &space->pages[(start + i) / PAGE_SIZE];

		expected = signal_for(page, PROT_READ);
		if (!expected)
			CHECK_EQUAL(data[i], byte_of(page, (start + i) % PAGE_SIZE));
	}
	CHECK_EQUAL(signal, expected);
}

static void store(struct space *space)
{
	unsigned char data[PIECE], value = (unsigned char)(1 + pick(255));
	unsigned start, length;

	pick_range(&start, &length);
	for (unsigned i = 0; i < length; i++) {
		data[i] = (unsigned char)(value + i);
		if (is_behind_end(&space->pages[(start + i) / PAGE_SIZE], (start + i) % PAGE_SIZE))
			return;
	}
	int expected = 0;
	for (unsigned i = 0; i < length && !expected; i++) {
		struct page_model *page = &space->pages[(start + i) / PAGE_SIZE];

		expected = signal_for(page, PROT_WRITE);
		if (!expected)
			store_byte(page, (start + i) % PAGE_SIZE, data[i]);
	}
	CHECK_EQUAL(user_store(WINDOW_START + start, data, length), expected);
}

static void fetch(struct space *space)
{
	unsigned page = pick(WINDOW);

	CHECK_EQUAL(user_fetch(page_start(page)), signal_for(&space->pages[page], PROT_EXEC));
}

/* ---- operations: mappings -------------------------------------------------------------------- */

static void pick_pages(unsigned *first, unsigned *count)
{
	*first = pick(WINDOW);
	*count = 1 + pick(min(WINDOW - *first, 8u));
}

static const unsigned protections[] = {
	PROT_READ | PROT_WRITE,
	PROT_READ | PROT_WRITE,
	PROT_READ,
	PROT_READ,
	PROT_NONE,
	PROT_READ | PROT_EXEC,
	PROT_WRITE,
	PROT_READ | PROT_WRITE | PROT_EXEC,
};

static void map(struct space *space)
{
	unsigned prot = protections[pick(8)], first, count, index = pick(FILE_PAGES), flags;
	struct file_model *file = pick(3) ? &files[pick(FILES)] : NULL;
	bool shared = file && pick(2);

	pick_pages(&first, &count);
	if (file)
		count = min(count, FILE_PAGES - index);
	flags = MAP_FIXED | (shared ? MAP_SHARED : MAP_PRIVATE);
	CHECK_EQUAL(mm_map(current->mm, page_start(first), count * PAGE_SIZE, prot, flags,
			   file ? file->open : NULL, index * PAGE_SIZE),
		    page_start(first));
	unmap_model(space, first, count);
	for (unsigned n = 0; n < count; n++)
		space->pages[first + n] = (struct page_model){.mapped = true,
							      .shared = shared,
							      .prot = prot,
							      .file = file,
							      .index = index + n};
}

static void unmap(struct space *space)
{
	unsigned first, count;

	pick_pages(&first, &count);
	CHECK_EQUAL(sys_munmap(page_start(first), count * PAGE_SIZE), 0);
	unmap_model(space, first, count);
}

static void protect(struct space *space)
{
	unsigned first, count, prot = protections[pick(8)];

	pick_pages(&first, &count);
	s64 result = sys_mprotect(page_start(first), count * PAGE_SIZE, prot);
	for (unsigned n = first; n < first + count; n++) {
		if (!space->pages[n].mapped) {
			CHECK_EQUAL(result, -ENOMEM);
			return;
		}
		space->pages[n].prot = prot;
	}
	CHECK_EQUAL(result, 0);
}

static void advise(struct space *space)
{
	unsigned first, count;
	bool hole = false;

	pick_pages(&first, &count);
	s64 result = sys_madvise(page_start(first), count * PAGE_SIZE, MADV_DONTNEED);
	for (unsigned n = first; n < first + count; n++) {
		hole |= !space->pages[n].mapped;
		drop_copy(&space->pages[n]);
	}
	CHECK_EQUAL(result, hole ? -ENOMEM : 0);
}

static void sync_pages(struct space *space)
{
	unsigned first, count;
	bool hole = false;

	pick_pages(&first, &count);
	for (unsigned n = first; n < first + count; n++)
		hole |= !space->pages[n].mapped;
	CHECK_EQUAL(sys_msync(page_start(first), count * PAGE_SIZE, MS_SYNC), hole ? -ENOMEM : 0);
}

/* Another space becomes the child of this one. Who still runs in the old one leaves it when it is
 * his turn. */
static void fork_space(struct space *parent)
{
	struct space *child = &spaces[pick(SPACES)];

	if (child == parent)
		return;
	struct mm *mm = mm_fork(parent->mm);
	CHECK(mm != NULL);
	mm_put(child->mm);
	unmap_model(child, 0, WINDOW);
	*child = *parent;
	child->mm = mm;
	for (struct page_model *page = child->pages; page < child->pages + WINDOW; page++)
		if (page->copy)
			page->copy = memcpy(malloc(PAGE_SIZE), page->copy, PAGE_SIZE);
}

/* ---- operations: files ----------------------------------------------------------------------- */

static void resize(struct space *space)
{
	struct file_model *file = &files[pick(FILES)];
	u64 size = pick(2) ? pick(FILE_BYTES + 1) : pick(FILE_PAGES + 1) * PAGE_SIZE;

	CHECK_EQUAL(truncate_path(file->path, (loff_t)size), 0);
	model_resize(file, size);
}

static void write_file(struct space *space)
{
	struct file_model *file = &files[pick(FILES)];
	unsigned char data[3 * PAGE_SIZE];
	unsigned length = 1 + pick(pick(3) ? PIECE : sizeof(data));
	unsigned start = pick(FILE_BYTES - length);

	memset(data, (int)(1 + pick(255)), length);
	CHECK_EQUAL(write_at(file->path, O_RDWR, start, data, length), length);
	model_resize(file, max(file->size, (u64)start + length));
	memcpy(file->bytes + start, data, length);
}

void check_file(const struct file_model *file, unsigned start, unsigned length)
{
	static unsigned char data[FILE_BYTES];
	unsigned there = start < file->size ? min_t(unsigned, length, file->size - start) : 0;

	CHECK_EQUAL(read_at(file->path, start, data, length), there);
	CHECK(memcmp(data, file->bytes + start, there) == 0);
}

static void read_some(struct space *space)
{
	unsigned start = pick(FILE_BYTES);

	check_file(&files[pick(FILES)], start, 1 + pick(FILE_BYTES - start));
}

/* read(2) into the program's memory, perhaps into a mapping of the very pages. */
static void read_to_memory(struct space *space)
{
	const struct file_model *file = &files[pick(FILES)];
	unsigned to, length, start = pick(FILE_BYTES);
	unsigned char data[PIECE];

	pick_range(&to, &length);
	length = start < file->size ? min_t(unsigned, length, file->size - start) : 0;
	for (unsigned i = 0; i < length; i++) {
		const struct page_model *page = &space->pages[(to + i) / PAGE_SIZE];

		/* what comes of a buffer that ends in nothing is test_mmap_files.c's */
		if (signal_for(page, PROT_WRITE) || is_behind_end(page, (to + i) % PAGE_SIZE) ||
		    (page->shared && page->file == file))
			return;
		data[i] = file->bytes[start + i];
	}
	struct file *open = open_path(file->path, O_RDONLY, 0);
	struct io io = {(void *)(uintptr_t)(WINDOW_START + to), length, IO_USER, 0};
	loff_t position = start;
	CHECK_EQUAL(vfs_read(open, &io, &position), length);
	fput(open);
	for (unsigned i = 0; i < length; i++)
		store_byte(&space->pages[(to + i) / PAGE_SIZE], (to + i) % PAGE_SIZE, data[i]);
}

static void (*const kinds[])(struct space *) = {
	load,	load,	    load,	load,	store,	    store,     store,
	store,	store,	    fetch,	map,	map,	    unmap,     protect,
	advise, sync_pages, fork_space, resize, write_file, read_some, read_to_memory,
};

void random_operation(struct space *space)
{
	kinds[pick(ARRAY_SIZE(kinds))](space);
}
