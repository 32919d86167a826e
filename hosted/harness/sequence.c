/* sequence.c - hosted: see sequence.h. */
#include "fs/block/dirty.h"
#include "fs/file/file.h"
#include "fs/inode/attributes.h"
#include "fs/start.h"
#include "fs/writeback.h"
#include "hosted/harness/sequence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arch/uaccess.h>

#include "hosted/harness/harness.h"
#include "core/log/assert.h"
#include "core/memory/page_alloc.h"
#include "core/memory/shrinker.h"
#include "hosted/harness/model.h"

#define HANDLES 4
#define WRITE_MAX KB(24)

struct handle {
	struct file *file; /* NULL: unused */
	struct model_node *node;
};

/* Of each task its own. */
static struct sequence_run {
	struct rng rng;
	struct model model;
	struct handle handles[HANDLES];
	enum sequence_mode mode;
	bool tmpfs;
	unsigned block_size;
	u64 chunks_max; /* of the model: the image must have room */
	char names[4][256];
	unsigned next_name;
	unsigned char *bytes; /* WRITE_MAX, which end at a page that is not the program's */
} runs[SEQUENCE_TASKS + 2]; /* ours, theirs, and the write-back thread has a number */
#define run runs[current->pid - 1]

struct hosted_disk sequence_disk;
struct sequence_counts sequence_counts;
void (*sequence_each)(void);
static unsigned char *pristine;
static bool types, trace;		/* HOSTED_TRACE=1: print each operation */

/* The result of a call, where @wanted, which changes the model as well, is only looked at if it did
 * not fail in a way that this mode allows. */
#define EXPECT(call, wanted)                                                                       \
	do {                                                                                       \
		long long _got = (call);                                                           \
		if (trace)                                                                         \
			fprintf(stderr, "%s: %lld\n", #call, _got);                                \
		if (!may_fail(_got)) {                                                             \
			long long _wanted = (wanted);                                              \
			if (_got != _wanted && run.mode != SEQUENCE_CHAOS)                         \
				test_failed(__FILE__, __LINE__, "%s: %lld, not %lld", #call, _got, \
					    _wanted);                                              \
		}                                                                                  \
	} while (0)

static bool may_fail(long long result)
{
	bool may = (result == -ENOSPC && run.mode == SEQUENCE_SMALL) ||
		   (result < 0 && run.mode == SEQUENCE_CHAOS);

	sequence_counts.operations++;
	sequence_counts.failed += may;
	return may;
}

static u64 pick(u64 n)
{
	return rng_below(&run.rng, n);
}

/* ---- names ------------------------------------------------------------------------------------
 */

static const char *new_name(void)
{
	char *name = run.names[run.next_name++ % 4];
	unsigned length = pick(5) ? 1 : 100 + (unsigned)pick(156);

	memset(name, (int)('a' + pick(12)), length);
	name[length] = 0;
	return name;
}

/* A name in @dir that exists, mostly, if @wanted. */
static const char *some_name(const struct model_node *dir, bool wanted)
{
	if (dir->name_count && pick(8) < (wanted ? 7 : 2))
		return dir->names[pick(dir->name_count)].text;
	return new_name();
}

static struct model_node *some_dir(void)
{
	struct model_node *dir =
		pick(3) ? run.model.root : model_random(&run.model, &run.rng, S_IFDIR);
	char path[PATH_MAX];

	return strlen(model_path(&run.model, dir, NULL, path)) < 1500 ? dir : run.model.root;
}

#define PATH(dir, name) model_path(&run.model, dir, name, (char[PATH_MAX]){0})

/* ---- operations on names ----------------------------------------------------------------------
 */

static void do_create(void)
{
	struct model_node *dir = some_dir();
	const char *name = some_name(dir, false);
	struct file *file = open_path(PATH(dir, name), O_CREAT | O_EXCL | O_RDWR, 0640);

	EXPECT(PTR_ERR_OR_ZERO(file), model_make(&run.model, dir, name, S_IFREG | 0640, NULL));
	if (!IS_ERR(file))
		fput(file);
}

static void do_mkdir(void)
{
	struct model_node *dir = some_dir();
	const char *name = some_name(dir, false);

	EXPECT(sys_mkdirat(AT_FDCWD, PATH(dir, name), 0750),
	       model_make(&run.model, dir, name, S_IFDIR | 0750, NULL));
}

static void do_mknod(void)
{
	static const umode_t kinds[] = {S_IFIFO, S_IFCHR, S_IFBLK, S_IFSOCK};
	struct model_node *dir = some_dir();
	const char *name = some_name(dir, false);
	umode_t mode = kinds[pick(4)] | 0600;

	EXPECT(sys_mknodat(AT_FDCWD, PATH(dir, name), mode, MKDEV(pick(300), pick(256))),
	       model_make(&run.model, dir, name, mode, NULL));
}

static void do_symlink(void)
{
	struct model_node *dir = some_dir();
	const char *name = some_name(dir, false);
	char target[1024];
	size_t length = pick(2) ? 1 + pick(70) : 1 + pick(1000);

	memset(target, 't', length);
	target[length] = 0;
	EXPECT(sys_symlinkat(target, AT_FDCWD, PATH(dir, name)),
	       model_make(&run.model, dir, name, S_IFLNK | 0777, target));
}

static void do_link(void)
{
	struct model_node *from = some_dir(), *dir = some_dir(), *node;
	const char *old = some_name(from, true), *name = some_name(dir, false);

	node = model_find(from, old);
	EXPECT(sys_linkat(AT_FDCWD, PATH(from, old), AT_FDCWD, PATH(dir, name), 0),
	       node ? model_link(&run.model, node, dir, name) : -ENOENT);
}

static void do_unlink(void)
{
	struct model_node *dir = some_dir();
	const char *name = some_name(dir, true);

	EXPECT(sys_unlinkat(AT_FDCWD, PATH(dir, name), 0), model_unlink(&run.model, dir, name));
}

static void do_rmdir(void)
{
	struct model_node *dir = some_dir();
	const char *name = some_name(dir, true);

	EXPECT(sys_unlinkat(AT_FDCWD, PATH(dir, name), AT_REMOVEDIR),
	       model_rmdir(&run.model, dir, name));
}

static void do_rename(void)
{
	struct model_node *from = some_dir(), *to = some_dir();
	unsigned flags = pick(4) ? 0 : pick(2) ? RENAME_NOREPLACE : RENAME_EXCHANGE;
	char old[256], new[256];

	strcpy(old, some_name(from, true));
	strcpy(new, some_name(to, pick(2)));
	EXPECT(sys_renameat2(AT_FDCWD, PATH(from, old), AT_FDCWD, PATH(to, new), flags),
	       model_rename(&run.model, from, old, to, new, flags));
}

static void do_chmod(void)
{
	struct model_node *dir = some_dir(), *node;
	const char *name = some_name(dir, true);
	umode_t mode = (umode_t)pick(010000);

	node = model_find(dir, name);
	if (node && S_ISLNK(node->mode))
		return;
	EXPECT(chmod_path(PATH(dir, name), mode), node ? 0 : -ENOENT);
	if (node)
		node->mode = (node->mode & S_IFMT) | mode;
}

/* ---- operations on bytes ----------------------------------------------------------------------
 */

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
	if (trace)
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

static void do_write(void)
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

static void do_resize(void)
{
	struct model_node *dir = some_dir(), *node;
	const char *name = some_name(dir, true);
	u64 size;

	node = model_find(dir, name);
	if (!node || !S_ISREG(node->mode))
		return;
	size = some_size(node);
	if (trace)
		fprintf(stderr, "truncate %p from %llu to %llu\n", (void *)node,
			(unsigned long long)node->size, (unsigned long long)size);
	EXPECT(truncate_path(PATH(dir, name), (loff_t)size), 0);
	model_truncate(&run.model, node, size);
}

static void do_read(void)
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

/* ---- files that stay open, perhaps longer than they have a name -------------------------------
 */

static void close_handle(struct handle *handle)
{
	if (!handle->file)
		return;
	fput(handle->file);
	model_close(&run.model, handle->node);
	handle->file = NULL;
}

static void open_handle(struct handle *handle)
{
	struct model_node *dir = some_dir(), *node;
	const char *name = some_name(dir, true);

	node = model_find(dir, name);
	if (!node || !S_ISREG(node->mode))
		return;
	if (trace)
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

static void do_handle(void)
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
		if (trace)
			fprintf(stderr, "ftruncate %p from %llu to %llu\n", (void *)handle->node,
				(unsigned long long)handle->node->size, (unsigned long long)size);
		EXPECT(do_truncate(handle->file->path.dentry, (loff_t)size, true), 0);
		model_truncate(&run.model, handle->node, size);
		break;
	default:
		write_file(handle->file, handle->node);
	}
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static void do_sync(void)
{
	EXPECT(vfs_sync_all(), 0);
}

static void do_pressure(void)
{
	switch (pick(4)) {
	case 0:
		reclaim_pages(1 + pick(200));
		break;
	case 1:
		shrink_dcache(pick(100));
		break;
	case 2:
		shrink_icache(pick(100));
		break;
	default:
		hosted_clock_ns += pick(40) * NSEC_PER_SEC;
		writeback_once();
	}
}

static void close_all(void)
{
	for (unsigned i = 0; i < HANDLES; i++)
		close_handle(&run.handles[i]);
}

static void do_remount(void)
{
	if (pick(2) || run.mode == SEQUENCE_CHAOS || run.tmpfs)
		return;
	close_all();
	EXPECT(umount_disk(), 0);
	EXPECT(mount_disk("ram0", 0), 0);
}

static const struct {
	void (*call)(void);
	unsigned weight;
} operations[] = {
	{do_create, 14}, {do_mkdir, 8},	 {do_mknod, 2},	   {do_symlink, 5},
	{do_link, 6},	 {do_unlink, 8}, {do_rmdir, 4},	   {do_rename, 14},
	{do_chmod, 3},	 {do_write, 20}, {do_resize, 8},   {do_read, 6},
	{do_handle, 14}, {do_sync, 1},	 {do_pressure, 4}, {do_remount, 1},
};

static void one_operation(void)
{
	u64 total = 0, at;
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(operations); i++)
		total += operations[i].weight;
	at = pick(total);
	for (i = 0; at >= operations[i].weight; i++)
		at -= operations[i].weight;
	if (!model_full(&run.model, run.mode == SEQUENCE_SMALL ? ~0ull : run.chunks_max) ||
	    operations[i].call == do_unlink || operations[i].call == do_rmdir)
		operations[i].call();
}

/* Leave only a few blocks and inodes. */
static void fill_disk(void)
{
	static unsigned char zeros[4096];
	struct kstatfs stat;
	char name[16];

	if (sys_statfs("/mnt", &stat) != 0)
		panic("statfs");
	for (u64 n = pick(8); stat.ffree > n && run.model.count < MODEL_NODES / 2; stat.ffree--) {
		snprintf(name, sizeof(name), "fill%u", run.model.count);
		EXPECT(write_at(PATH(run.model.root, name), O_CREAT | O_WRONLY, 0, NULL, 0),
		       model_make(&run.model, run.model.root, name, S_IFREG | 0644, NULL));
	}
	snprintf(name, sizeof(name), "fill%u", run.model.count - 1);
	struct model_node *node = model_find(run.model.root, name);

	for (u64 left = 3 + pick(60), at = 0; node && stat.bfree > left;
	     stat.bfree--, at += run.block_size) {
		s64 n = write_at(PATH(run.model.root, name), O_WRONLY, (loff_t)at, zeros,
				 run.block_size);

		if (n > 0)
			model_write(&run.model, node, at, zeros, (size_t)n);
	}
}

void sequence_operations(u64 seed)
{
	u64 steps = 20 + pick(100);

	for (u64 i = 0; i < steps; i++) {
		test_where("seed %llu step %llu", (unsigned long long)seed, (unsigned long long)i);
		one_operation();
		if (sequence_each)
			sequence_each();
	}
	test_where("seed %llu end", (unsigned long long)seed);
	close_all();
}

void sequence_begin(u64 seed, enum sequence_mode mode)
{
	run.mode = mode;
	run.rng.state = seed;
	disk_rng.state = seed + 1;
	image_restore(&sequence_disk, pristine);
	model_start(&run.model, "/mnt");
}

void sequence_end(void)
{
	model_end(&run.model);
}

void sequence(u64 seed, enum sequence_mode mode, bool check)
{
	sequence_begin(seed, mode);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	sys_unlinkat(AT_FDCWD, "/mnt/lost+found", AT_REMOVEDIR);
	if (mode == SEQUENCE_SMALL)
		fill_disk();
	sequence_operations(seed);
	model_compare(&run.model, &run.rng, types);
	CHECK_EQUAL(umount_disk(), 0);
	leak_check();
	if (check)
		image_check(&sequence_disk);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	model_compare(&run.model, &run.rng, types);
	CHECK_EQUAL(umount_disk(), 0);
	sequence_end();
}

static void prepare(bool directory_types)
{
	trace = getenv("HOSTED_TRACE") != NULL;
	hosted_quiet = !trace;
	hosted_init(48);
	types = directory_types;
	run.bytes = aligned_alloc(PAGE_SIZE, WRITE_MAX + PAGE_SIZE);
	hosted_fault_start = (uintptr_t)run.bytes + WRITE_MAX;
	hosted_fault_end = hosted_fault_start + PAGE_SIZE; /* allocated, so nobody else's */
}

void sequence_prepare(unsigned block_size, unsigned kilobytes, const char *options)
{
	prepare(strstr(options, "filetype"));
	disk_create(&sequence_disk, "ram0", 0, MB(16));
	sequence_disk.asynchronous = true;
	run.block_size = block_size;
	run.chunks_max = kilobytes / 3;
	pristine = malloc(sequence_disk.bytes);
	image_make(&sequence_disk, block_size, kilobytes, options);
	image_keep(&sequence_disk, pristine);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(umount_disk(), 0);
	leak_mark();
}

/* ---- several tasks ------------------------------------------------------------------------------
 */

#define RECORD 128u

/* Records of one byte value each, written and read whole: within a page nobody may see half of one.
 */
static void share_file(const char *path)
{
	unsigned char data[RECORD];
	loff_t offset = (loff_t)(pick(100) * RECORD);
	s64 n;

	switch (pick(4)) {
	case 0:
		truncate_path(path, offset);
		break;
	case 1:
		memset(data, (int)(1 + pick(255)), sizeof(data));
		write_at(path, O_CREAT | O_WRONLY, offset, data, sizeof(data));
		break;
	default:
		n = read_at(path, offset, data, sizeof(data));
		for (s64 i = 1; i < n; i++)
			if (data[i] != data[0]) {
				test_failed(__FILE__, __LINE__, "%s: half a record at %lld", path,
					    (long long)offset);
				break;
			}
	}
}

/* What all do in one directory, to the same few names: anything may come of it. */
static void share(void)
{
	char path[64], other[64];

	snprintf(path, sizeof(path), "/mnt/shared/%c%s", (char)('a' + pick(3)),
		 pick(2) ? "" : "/x");
	snprintf(other, sizeof(other), "/mnt/shared/%c%s", (char)('a' + pick(3)),
		 pick(2) ? "" : "/x");
	switch (pick(10)) {
	case 0:
		sys_mkdirat(AT_FDCWD, path, 0755);
		break;
	case 6: /* so that the next ones have to read, and sleep where otherwise nobody does */
		sync_buffers(&sequence_disk.device, true);
		shrink_dcache(1000);
		shrink_icache(1000);
		invalidate_buffers(&sequence_disk.device);
		break;
	case 1:
		sys_unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
		break;
	case 2:
		sys_unlinkat(AT_FDCWD, path, 0);
		break;
	case 3:
		sys_linkat(AT_FDCWD, path, AT_FDCWD, other, 0);
		break;
	case 4:
		sys_symlinkat(path, AT_FDCWD, other);
		break;
	case 5:
		sys_renameat2(AT_FDCWD, path, AT_FDCWD, other, pick(3) ? 0 : RENAME_EXCHANGE);
		break;
	default:
		share_file(path);
	}
}

static void run_task(void *argument)
{
	u64 seed = *(u64 *)argument + (u64)current->pid * 1000000;

	run.mode = SEQUENCE_EXACT;
	run.tmpfs = true; /* no remounting */
	run.rng.state = seed;
	run.block_size = runs[0].block_size;
	run.chunks_max = runs[0].chunks_max / SEQUENCE_TASKS;
	run.bytes = malloc(WRITE_MAX);
	snprintf(run.names[0], sizeof(run.names[0]), "/mnt/task%d", (int)current->pid);
	model_start(&run.model, run.names[0]);
	EXPECT(sys_mkdirat(AT_FDCWD, run.model.top, 0755), 0);
	for (u64 steps = 20 + pick(60); steps; steps--) {
		one_operation();
		while (pick(3) == 0)
			share();
		if (pick(4) == 0)
			schedule();
	}
	close_all();
	model_compare(&run.model, &run.rng, types);
	model_end(&run.model);
	free(run.bytes);
}

void sequence_tasks(u64 seed, unsigned tasks)
{
	test_where("seed %llu", (unsigned long long)seed);
	run.mode = SEQUENCE_EXACT;
	disk_rng.state = seed + 1;
	image_restore(&sequence_disk, pristine);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/shared", 0755), 0);
	for (unsigned i = 0; i < tasks; i++)
		task_start(run_task, &seed);
	tasks_wait();
	dentry_cache_check();
	buffer_cache_check();
	CHECK_EQUAL(umount_disk(), 0);
	leak_check();
	image_check(&sequence_disk);
}

/* ---- the same on a file system in memory ------------------------------------------------------
 */

static int mount_tmpfs(void)
{
	return (int)sys_mount("none", "/mnt", "tmpfs", 0, "mode=755");
}

void sequence_prepare_tmpfs(void)
{
	prepare(true);
	run.block_size = PAGE_SIZE;
	run.chunks_max = 4096;
	run.tmpfs = true;
	CHECK_EQUAL(mount_tmpfs(), 0);
	CHECK_EQUAL(umount_disk(), 0);
	leak_mark();
}

static void remove_first(struct model_node *dir)
{
	const char *name = dir->names[0].text;

	if (S_ISDIR(dir->names[0].node->mode))
		EXPECT(sys_unlinkat(AT_FDCWD, PATH(dir, name), AT_REMOVEDIR),
		       model_rmdir(&run.model, dir, name));
	else
		EXPECT(sys_unlinkat(AT_FDCWD, PATH(dir, name), 0),
		       model_unlink(&run.model, dir, name));
}

void sequence_tmpfs(u64 seed, bool empty)
{
	struct kstatfs before, after;

	run.mode = SEQUENCE_EXACT;
	run.rng.state = seed;
	model_start(&run.model, "/mnt");
	CHECK_EQUAL(mount_tmpfs(), 0);
	CHECK_EQUAL(sys_statfs("/mnt", &before), 0);
	sequence_operations(seed);
	model_compare(&run.model, &run.rng, types);
	while (empty && run.model.root->name_count) { /* all goes, and so does what it took */
		struct model_node *dir = model_random(&run.model, &run.rng, S_IFDIR);

		if (dir->name_count)
			remove_first(dir);
	}
	CHECK_EQUAL(sys_statfs("/mnt", &after), 0);
	CHECK(!empty || (after.bfree == before.bfree && after.ffree == before.ffree));
	CHECK_EQUAL(umount_disk(), 0);
	leak_check();
	sequence_end();
}
