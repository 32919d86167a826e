/* tasks.c - hosted: several tasks at once, each with a sequence of its own; see sequence.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/block/dirty.h"
#include "hosted/harness/harness.h"
#include "hosted/harness/sequence/operations.h"

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
		sync_buffers(&sequence_disk.device, WB_SYNC_ALL);
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
	run.block_size = sequence_runs[0].block_size;
	run.chunks_max = sequence_runs[0].chunks_max / SEQUENCE_TASKS;
	run.bytes = malloc(WRITE_MAX);
	snprintf(run.names[0], sizeof(run.names[0]), "/mnt/task%d", (int)current->pid);
	model_start(&run.model, run.names[0]);
	EXPECT(sys_mkdirat(AT_FDCWD, run.model.top, 0755), 0);
	for (u64 steps = 20 + pick(60); steps; steps--) {
		random_operation();
		while (pick(3) == 0)
			share();
		if (pick(4) == 0)
			schedule();
	}
	close_handles();
	sequence_compare();
	model_end(&run.model);
	free(run.bytes);
}

void sequence_tasks(u64 seed, unsigned tasks)
{
	test_where("seed %llu", (unsigned long long)seed);
	run.mode = SEQUENCE_EXACT;
	sequence_image(seed);
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
