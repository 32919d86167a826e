/*
 * test_races.c - two calls at once, of which one must not see the other half done. Tasks change
 * where they sleep, so each test holds one call in its middle by a lock it takes, or a fault it
 * plants, and looks whether the other waits.
 */
#include <stdio.h>
#include <string.h>

#include "fs/internal.h"
#include "harness.h"
#include "kernel/core/sched.h"

/* Let the others run until they wait or end. */
static void let_others_run(void)
{
	for (int i = 0; i < 100; i++)
		schedule();
}

/* ---- execve against chown -------------------------------------------------------------------- */

static struct path program;
static struct cred *gained;

static void gain(void *unused)
{
	struct cred *cred = prepare_cred();

	cred_of_program(cred, &program);
	gained = cred;
}

/* In the middle of a chown the file has its set-id bits or its new owner, but not both. */
TEST(credentials_of_one_moment)
{
	struct inode *inode;

	hosted_init(16);
	CHECK_EQUAL(write_at("/program", O_CREAT | O_WRONLY, 0, "x", 1), 1);
	CHECK_EQUAL(find_path("/program", LOOKUP_FOLLOW, &program), 0);
	inode = program.dentry->inode;
	CHECK_EQUAL(vfs_chown(&program, 1000, 1001), 0);
	CHECK_EQUAL(vfs_chmod(&program, S_ISUID | S_ISGID | 0755), 0);
	gain(NULL);
	CHECK_EQUAL(gained->euid, 1000);
	CHECK_EQUAL(gained->suid, 1000);
	CHECK_EQUAL(gained->egid, 1001);
	CHECK_EQUAL(gained->uid, 0);
	put_cred(gained);
	gained = NULL;

	task_start(gain, NULL);
	down_write(&inode->lock); /* a chown, as far as here */
	let_others_run();
	CHECK(!gained); /* who looks now has the bits, and from the next line on the new owner */
	inode->uid = inode->gid = 2000;
	inode->mode &= ~(umode_t)(S_ISUID | S_ISGID);
	up_write(&inode->lock);
	tasks_wait();
	CHECK_EQUAL(gained->euid, 0); /* the task's own */
	CHECK_EQUAL(gained->egid, 0);
	put_cred(gained);
	path_put(&program);
}

/* ---- RLIMIT_FSIZE ---------------------------------------------------------------------------- */

static s64 written[2];

static void append_six(void *place)
{
	*(s64 *)place = write_at("/file", O_CREAT | O_WRONLY | O_APPEND, 0, "abcdef", 6);
}

/* Two append at once: what the limit leaves is counted when the first has written. */
TEST(limit_of_two_writers)
{
	struct path path;

	hosted_init(16);
	hosted_file_limit = 10;
	CHECK_EQUAL(write_at("/file", O_CREAT | O_WRONLY, 0, "", 0), 0);
	CHECK_EQUAL(find_path("/file", 0, &path), 0);

	struct inode *inode = path.dentry->inode;

	down_write(&inode->lock);
	task_start(append_six, &written[0]);
	task_start(append_six, &written[1]);
	let_others_run();
	up_write(&inode->lock);
	tasks_wait();
	CHECK_EQUAL(written[0] + written[1], 10);
	CHECK_EQUAL(inode->size, 10);
	CHECK_EQUAL(hosted_signals, 0);
	append_six(&written[0]);
	CHECK_EQUAL(written[0], -EFBIG);
	CHECK_EQUAL(sys_truncate("/file", 11), -EFBIG);
	CHECK_EQUAL(hosted_signals, 2);
	CHECK_EQUAL(sys_truncate("/file", 10), 0);
	path_put(&path);
}
