/*
 * writeback.c - the write-back thread. See writeback.h.
 *
 * It stands above superblocks, inodes and buffers alike, and visits them in this order: inodes keep
 * their memory while they or their pages are dirty, and pages that were written to through a
 * mapping have no dirty buffers yet.
 */
#include "fs/block/dirty.h"
#include "fs/path/super.h"
#include "fs/writeback.h"

#define PERIOD_NS (30 * NSEC_PER_SEC)

static int write_super(struct super_block *sb)
{
	int error = sync_inodes(sb);

	if (sb->op->write_back)
		sb->op->write_back(sb);
	return error;
}

void writeback_once(void)
{
	for_each_super(write_super);
	sync_buffers(NULL, WB_SYNC_NONE);
}

static int writeback_thread(void *unused)
{
	current->in_reclaim = true; /* others wait for memory from us: we may use the reserve */
	for (;;) {
		wait_for_hurry(ktime_ns() + PERIOD_NS);
		writeback_once();
	}
	return 0;
}

void writeback_start(void)
{
	if (IS_ERR(kthread_create(writeback_thread, NULL, "writeback")))
		pr_err("writeback: no thread, dirty buffers are written by sync and by writers alone\n");
}
