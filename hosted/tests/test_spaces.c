/*
 * test_spaces.c - random sequences of what programs do with memory, against a model: for each file
 * an array of bytes, for each page of an address space what is mapped there, and for each private
 * page that was written to its bytes.
 *
 * Several threads in several address spaces do one operation each in turn, under one mutex, and
 * compare. Meanwhile others sync and reclaim as they like, which nobody may notice. In the end all
 * is compared once more, after the files have been read back from the disk. A seed repeats a
 * sequence.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hosted/harness/harness.h"
#include "core/log/assert.h"
#include "core/memory/shrinker.h"
#include "core/sched/sched.h"
#include "mm/cache/page_cache.h"
#include "hosted/machine/user.h"

#define FILES 3
#define FILE_PAGES 12u
#define FILE_BYTES (FILE_PAGES * PAGE_SIZE)
#define SPACES 3
#define WINDOW 24u /* pages of an address space that are used */
#define WINDOW_START (GB(1) + MB(2) - 9 * PAGE_SIZE) /* over the end of a page table */
#define THREADS 5u
#define OPERATIONS 100 /* of each thread */
#define PIECE 300u     /* bytes of a load or store, at most */

/* ---- the model ------------------------------------------------------------------------------- */

struct file_model {
	char path[16];
	struct file *open; /* what is mapped: areas can be joined only if they have it in common */
	u64 size;
	unsigned char bytes[FILE_BYTES];
};

struct page_model {
	bool mapped, shared;
	unsigned prot;
	struct file_model *file; /* NULL: anonymous */
	unsigned index;		 /* of the page in the file */
	unsigned char *copy;	 /* a private page that was written to, or NULL */
};

struct space {
	struct mm *mm;
	struct page_model pages[WINDOW];
};

static struct file_model files[FILES];
static struct space spaces[SPACES];
static struct rng rng;
static DEFINE_MUTEX(turn);
static unsigned threads_left; /* at 0 the others end, too */
static u64 operations;

static unsigned pick(unsigned n)
{
	return (unsigned)rng_below(&rng, n);
}

static unsigned pages_of(const struct file_model *file)
{
	return (unsigned)((file->size + PAGE_SIZE - 1) / PAGE_SIZE);
}

static u64 page_start(unsigned page)
{
	return WINDOW_START + (u64)page * PAGE_SIZE;
}

static void drop_copy(struct page_model *page)
{
	free(page->copy);
	page->copy = NULL;
}

/* The signal that touching @page for @prot gives; 0: none. */
static int signal_for(const struct page_model *page, unsigned prot)
{
	if (!page->mapped || !(prot == PROT_READ ? page->prot : page->prot & prot))
		return USER_SIGSEGV;
	if (page->file && !page->copy && page->index >= pages_of(page->file))
		return USER_SIGBUS;
	return 0;
}

/* The byte at @offset of @page, which may be touched. */
static unsigned char byte_of(const struct page_model *page, unsigned offset)
{
	if (page->copy)
		return page->copy[offset];
	return page->file ? page->file->bytes[page->index * PAGE_SIZE + offset] : 0;
}

/* Its own bytes, for a store to a private page. */
static void make_copy(struct page_model *page)
{
	if (page->copy)
		return;
	unsigned char *copy = malloc(PAGE_SIZE);
	for (unsigned i = 0; i < PAGE_SIZE; i++)
		copy[i] = byte_of(page, i);
	page->copy = copy;
}

static void store_byte(struct page_model *page, unsigned offset, unsigned char byte)
{
	if (page->shared) {
		page->file->bytes[page->index * PAGE_SIZE + offset] = byte;
	} else {
		make_copy(page);
		page->copy[offset] = byte;
	}
}

static void model_resize(struct file_model *file, u64 size)
{
	u64 old = file->size;

	file->size = size;
	if (size >= old)
		return;
	memset(file->bytes + size, 0, old - size);
	for (struct space *space = spaces; space < spaces + SPACES; space++)
		for (struct page_model *page = space->pages; page < space->pages + WINDOW; page++)
			if (page->file == file && page->index >= pages_of(file))
				drop_copy(page);
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

/* Behind the end of a file a shared page keeps what is stored there as long as it likes: such
 * stores are left out. */
static bool is_behind_end(const struct page_model *page, unsigned offset)
{
	return page->shared && page->index < pages_of(page->file) &&
	       page->index * PAGE_SIZE + offset >= page->file->size;
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
	PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE, PROT_READ, PROT_READ, PROT_NONE,
	PROT_READ | PROT_EXEC,	PROT_WRITE, PROT_READ | PROT_WRITE | PROT_EXEC,
};

static void unmap_model(struct space *space, unsigned first, unsigned count)
{
	for (unsigned n = first; n < first + count; n++) {
		drop_copy(&space->pages[n]);
		space->pages[n] = (struct page_model){0};
	}
}

static void map(struct space *space)
{
	unsigned prot = protections[pick(8)], first, count, index = pick(FILE_PAGES);
	struct file_model *file = pick(3) ? &files[pick(FILES)] : NULL;
	bool shared = file && pick(2);

	pick_pages(&first, &count);
	if (file)
		count = min(count, FILE_PAGES - index);
	CHECK_EQUAL(mm_map(current->mm, page_start(first), count * PAGE_SIZE, prot,
			   MAP_FIXED | (shared ? MAP_SHARED : MAP_PRIVATE),
			   file ? file->open : NULL, index * PAGE_SIZE),
		    page_start(first));
	unmap_model(space, first, count);
	for (unsigned n = 0; n < count; n++)
		space->pages[first + n] = (struct page_model){
			.mapped = true, .shared = shared, .prot = prot, .file = file, .index = index + n};
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

static void read_file(const struct file_model *file, unsigned start, unsigned length)
{
	static unsigned char data[FILE_BYTES];
	unsigned there = start < file->size ? min_t(unsigned, length, file->size - start) : 0;

	CHECK_EQUAL(read_at(file->path, start, data, length), there);
	CHECK(memcmp(data, file->bytes + start, there) == 0);
}

static void read_some(struct space *space)
{
	unsigned start = pick(FILE_BYTES);

	read_file(&files[pick(FILES)], start, 1 + pick(FILE_BYTES - start));
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

		/* what comes of a buffer that ends in nothing is test_mmap.c's */
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

/* ---- sequences ------------------------------------------------------------------------------- */

static void (*const kinds[])(struct space *) = {
	load, load, load, load, store, store, store, store, store, fetch, map, map, unmap, protect,
	advise, sync_pages, fork_space, resize, write_file, read_some, read_to_memory,
};

static void run_thread(void *argument)
{
	struct space *space = argument;

	for (unsigned n = 0; n < OPERATIONS; n++) {
		mutex_lock(&turn);
		if (current->mm != space->mm) {
			atomic_inc(&space->mm->users);
			user_enter(space->mm);
		}
		operations++;
		kinds[pick(ARRAY_SIZE(kinds))](space);
		mutex_unlock(&turn);
		cond_resched();
	}
	threads_left--;
}

static void run_sync(void *argument)
{
	while (threads_left) {
		sys_sync();
		for (unsigned n = (unsigned)rng_below(&disk_rng, 20); n && threads_left; n--)
			schedule();
	}
}

static void run_reclaim(void *argument)
{
	while (threads_left) {
		reclaim_pages(1 + rng_below(&disk_rng, 50));
		for (unsigned n = (unsigned)rng_below(&disk_rng, 20); n && threads_left; n--)
			schedule();
	}
}

static void check_spaces(void)
{
	unsigned char data[PAGE_SIZE];

	for (struct space *space = spaces; space < spaces + SPACES; space++) {
		atomic_inc(&space->mm->users);
		user_enter(space->mm);
		for (unsigned n = 0; n < WINDOW; n++) {
			int signal = user_load(page_start(n), data, PAGE_SIZE);

			CHECK_EQUAL(signal, signal_for(&space->pages[n], PROT_READ));
			for (unsigned i = 0; i < PAGE_SIZE && !signal; i++)
				if (data[i] != byte_of(&space->pages[n], i)) {
					CHECK_EQUAL(data[i], byte_of(&space->pages[n], i));
					break;
				}
		}
	}
	user_leave();
}

static int mount_files(bool ext2)
{
	return ext2 ? mount_disk("ram0", 0) : (int)sys_mount("", "/mnt", "tmpfs", 0, "");
}

static void spaces_sequence(u64 seed, bool ext2)
{
	test_where("seed %llu", (unsigned long long)seed);
	rng.state = seed;
	disk_rng.state = seed + 1;
	threads_left = THREADS;
	CHECK_EQUAL(mount_files(ext2), 0);
	for (unsigned n = 0; n < FILES; n++) {
		memset(&files[n], 0, sizeof(files[n]));
		snprintf(files[n].path, sizeof(files[n].path), "/mnt/%u", n);
		files[n].open = open_path(files[n].path, O_CREAT | O_TRUNC | O_RDWR, 0644);
		CHECK(!IS_ERR(files[n].open));
	}
	for (struct space *space = spaces; space < spaces + SPACES; space++)
		*space = (struct space){.mm = mm_create()};
	for (unsigned n = 0; n < THREADS; n++)
		task_start(run_thread, &spaces[n % SPACES]);
	task_start(run_sync, NULL);
	task_start(run_reclaim, NULL);
	tasks_wait();
	check_spaces();
	for (struct space *space = spaces; space < spaces + SPACES; space++) {
		unmap_model(space, 0, WINDOW);
		mm_put(space->mm);
	}
	for (unsigned n = 0; n < FILES; n++)
		fput(files[n].open);
	if (ext2) {
		CHECK_EQUAL(umount_disk(), 0);
		CHECK_EQUAL(mount_disk("ram0", 0), 0);
	}
	for (unsigned n = 0; n < FILES; n++)
		read_file(&files[n], 0, FILE_BYTES);
	CHECK_EQUAL(umount_disk(), 0);
	leak_check();
}

static void sequences(unsigned count, bool ext2)
{
	static struct hosted_disk disk;
	u64 first = test_seed();

	hosted_init(16);
	disk_create(&disk, "ram0", 0, MB(4));
	disk.asynchronous = true;
	image_make(&disk, 1024, 4096, IMAGE_USUAL);
	CHECK_EQUAL(mount_files(ext2), 0);
	CHECK_EQUAL(umount_disk(), 0);
	leak_mark();
	count = test_scaled(count);
	for (u64 seed = first; seed < first + count; seed++)
		spaces_sequence(seed, ext2);
	image_check(&disk);
	printf("# %u sequences from seed %llu: %llu operations\n", count, (unsigned long long)first,
	       (unsigned long long)operations);
}

TEST(spaces_tmpfs)
{
	sequences(100, false);
}

TEST(spaces_ext2)
{
	sequences(100, true);
}
