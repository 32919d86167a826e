/* sequence.c - hosted: see sequence.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arch/uaccess.h>

#include "fs/block/dirty.h"
#include "fs/start.h"
#include "fs/writeback.h"
#include "core/log/assert.h"
#include "core/memory/page_alloc.h"
#include "core/memory/shrinker.h"
#include "hosted/harness/harness.h"
#include "hosted/harness/sequence/operations.h"

struct sequence_run sequence_runs[SEQUENCE_TASKS + 2];
struct hosted_disk sequence_disk;
struct sequence_counts sequence_counts;
void (*sequence_each)(void);
bool sequence_trace;
static unsigned char *pristine;
static bool types; /* directories say what type a name has */

bool sequence_may_fail(long long result)
{
	bool may = (result == -ENOSPC && run.mode == SEQUENCE_SMALL) ||
		   (result < 0 && run.mode == SEQUENCE_CHAOS);

	sequence_counts.operations++;
	sequence_counts.failed += may;
	return may;
}

static void random_sync(void)
{
	EXPECT(vfs_sync_all(), 0);
}

static void random_pressure(void)
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

static void random_remount(void)
{
	if (pick(2) || run.mode == SEQUENCE_CHAOS || run.tmpfs)
		return;
	close_handles();
	EXPECT(umount_disk(), 0);
	EXPECT(mount_disk("ram0", 0), 0);
}

static const struct {
	void (*call)(void);
	unsigned weight;
} operations[] = {
	{random_create, 14}, {random_mkdir, 8},	 {random_mknod, 2},    {random_symlink, 5},
	{random_link, 6},    {random_unlink, 8}, {random_rmdir, 4},    {random_rename, 14},
	{random_chmod, 3},   {random_write, 20}, {random_resize, 8},   {random_read, 6},
	{random_handle, 14}, {random_sync, 1},	 {random_pressure, 4}, {random_remount, 1},
};

void random_operation(void)
{
	u64 total = 0, at;
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(operations); i++)
		total += operations[i].weight;
	at = pick(total);
	for (i = 0; at >= operations[i].weight; i++)
		at -= operations[i].weight;
	if (!model_full(&run.model, run.mode == SEQUENCE_SMALL ? ~0ull : run.chunks_max) ||
	    operations[i].call == random_unlink || operations[i].call == random_rmdir)
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
		random_operation();
		if (sequence_each)
			sequence_each();
	}
	test_where("seed %llu end", (unsigned long long)seed);
	close_handles();
}

void sequence_image(u64 seed)
{
	disk_rng.state = seed + 1;
	image_restore(&sequence_disk, pristine);
}

void sequence_compare(void)
{
	model_compare(&run.model, &run.rng, types);
}

void sequence_begin(u64 seed, enum sequence_mode mode)
{
	run.mode = mode;
	run.rng.state = seed;
	sequence_image(seed);
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
	sequence_compare();
	CHECK_EQUAL(umount_disk(), 0);
	leak_check();
	if (check)
		image_check(&sequence_disk);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	sequence_compare();
	CHECK_EQUAL(umount_disk(), 0);
	sequence_end();
}

static void prepare(bool directory_types)
{
	sequence_trace = getenv("HOSTED_TRACE") != NULL;
	hosted_quiet = !sequence_trace;
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

/* ---- the same on a file system in memory ----------------------------------------------------- */

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
	sequence_compare();
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
