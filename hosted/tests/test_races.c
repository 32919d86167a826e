/*
 * test_races.c - two calls at once, of which one must not see the other half done. Tasks change
 * where they sleep, so each test holds one call in its middle by a lock it takes, or a fault it
 * plants, and looks whether the other waits.
 */
#include <stdio.h>
#include <string.h>

#include "fs/block/buffer.h"
#include "fs/cred.h"
#include "fs/file/file_table.h"
#include "fs/inode/attributes.h"
#include "fs/path/namei.h"
#include "fs/start.h"
#include "hosted/harness/harness.h"
#include "core/sched/sched.h"

static struct hosted_disk disk;

static void mount_ext2(void)
{
	hosted_init(16);
	disk_create(&disk, "sda", 0, MB(4));
	image_make(&disk, 1024, 4096, IMAGE_USUAL);
	disk.asynchronous = true;
	CHECK_EQUAL(mount_disk("sda", 0), 0);
}

static void unmount_ext2(void)
{
	CHECK_EQUAL(umount_disk(), 0);
	image_check(&disk);
}

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
	hosted_init(16);
	hosted_limits[RLIMIT_FSIZE].soft = 10;
	CHECK_EQUAL(write_at("/file", O_CREAT | O_WRONLY, 0, "", 0), 0);

	struct inode *inode = inode_by_path("/file");

	down_write(&inode->lock);
	task_start(append_six, &written[0]);
	task_start(append_six, &written[1]);
	let_others_run();
	up_write(&inode->lock);
	tasks_wait();
	CHECK_EQUAL(written[0] + written[1], 10);
	CHECK_EQUAL(inode->data.size, 10);
	CHECK_EQUAL(hosted_signals, 0);
	append_six(&written[0]);
	CHECK_EQUAL(written[0], -EFBIG);
	CHECK_EQUAL(sys_truncate("/file", 11), -EFBIG);
	CHECK_EQUAL(hosted_signals, 2);
	CHECK_EQUAL(sys_truncate("/file", 10), 0);
	iput(inode);
}

/* ---- vectors --------------------------------------------------------------------------------- */

#define WRITERS 4
#define RECORDS 40
#define PIECES 7
#define RECORD (PIECES * 300)

/* A record says in each byte who wrote it; its pieces are not of one size, and cross pages. */
static void append_records(void *who)
{
	struct file *file = open_path("/mnt/log", O_CREAT | O_WRONLY | O_APPEND, 0644);
	static const size_t sizes[PIECES] = {1, 599, 300, 0, 500, 600, 100}; /* RECORD in all */
	unsigned char text[600];
	struct iovec vector[PIECES];
	int fd = fd_add(file, 0, 0);

	memset(text, *(unsigned char *)who, sizeof(text));
	for (int i = 0; i < PIECES; i++)
		vector[i] = (struct iovec){text, sizes[i]};
	for (int i = 0; i < RECORDS; i++)
		CHECK_EQUAL(sys_writev(fd, vector, PIECES), RECORD);
	sys_close(fd);
}

/* No record is torn by another's; tasks change wherever a write waits: for a page, for the disk. */
static void records(void)
{
	static unsigned char text[WRITERS * RECORDS * RECORD];
	static unsigned char names[WRITERS];
	unsigned seen[WRITERS] = {0};

	for (int i = 0; i < WRITERS; i++) {
		names[i] = (unsigned char)('a' + i);
		task_start(append_records, &names[i]);
	}
	tasks_wait();
	CHECK_EQUAL(read_at("/mnt/log", 0, text, sizeof(text)), sizeof(text));
	for (size_t at = 0; at < sizeof(text); at += RECORD) {
		for (size_t i = 1; i < RECORD; i++)
			if (text[at + i] != text[at]) {
				CHECK(!"a record is torn");
				return;
			}
		seen[(text[at] - 'a') % WRITERS]++;
	}
	for (int i = 0; i < WRITERS; i++)
		CHECK_EQUAL(seen[i], RECORDS);
}

TEST(records_on_tmpfs)
{
	hosted_init(16);
	records();
}

TEST(records_on_ext2)
{
	mount_ext2();
	records();
	unmount_ext2();
}

/* ---- rename across directories --------------------------------------------------------------- */

static s64 renamed;
static u32 rename_flags;

static void rename_directory(void *unused)
{
	renamed = sys_renameat2(AT_FDCWD, "/mnt/a/d", AT_FDCWD, "/mnt/b/e", rename_flags);
}

static void start_rename(u32 flags)
{
	renamed = 1;
	rename_flags = flags;
	task_start(rename_directory, NULL);
}

/* As long as somebody changes the directory @name, it gets no other parent. */
static void rename_waits_for(const char *name, u32 flags)
{
	struct inode *inode = inode_by_path(name);

	down_write(&inode->lock);
	start_rename(flags);
	let_others_run();
	CHECK_EQUAL(renamed, 1);
	up_write(&inode->lock);
	tasks_wait();
	CHECK_EQUAL(renamed, 0);
	iput(inode);
}

static void make_directories(void)
{
	static const char *const names[] = {"/mnt/a", "/mnt/b", "/mnt/a/d", "/mnt/b/e"};

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		CHECK_EQUAL(sys_mkdirat(AT_FDCWD, names[i], 0755), 0);
}

TEST(moved_directories_are_locked)
{
	mount_ext2();
	make_directories();
	rename_waits_for("/mnt/a/d", RENAME_EXCHANGE);
	rename_waits_for("/mnt/b/e", RENAME_EXCHANGE);
	rename_waits_for("/mnt/b/e", 0); /* which is replaced */
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/a/d", 0755), 0);
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/b/e", AT_REMOVEDIR), 0);
	rename_waits_for("/mnt/a/d", 0);
	unmount_ext2();
}

/* The sector where the names of directory @name begin. */
static u64 sector_of_names(const char *name)
{
	struct inode *inode = inode_by_path(name);
	unsigned char number[4] = {(unsigned char)inode->number,
				   (unsigned char)(inode->number >> 8)};

	iput(inode);
	for (size_t at = 0; at < disk.bytes; at += 1024)
		if (!memcmp(disk.image + at, number, 4) && !memcmp(disk.image + at + 6, "\1\2.", 3))
			return at / SECTOR_SIZE;
	CHECK(!"a directory is not on the disk");
	return ~0ull;
}

/* Rename a directory, while what was read is dropped whenever that may be. From the @moment on, in
 * steps of the task, the block with the names of @name cannot be read any more. Did it fail? */
static bool rename_with_bad_block(const char *name, int moment)
{
	char file[] = "/mnt/b/0 and so long that sixteen fill the only block";
	bool there, here;
	u64 bad;

	image_make(&disk, 1024, 4096, IMAGE_USUAL);
	CHECK_EQUAL(mount_disk("sda", 0), 0);
	make_directories();
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/b/e", AT_REMOVEDIR), 0);
	for (; file[7] < '@'; file[7]++)
		CHECK_EQUAL(write_at(file, O_CREAT | O_WRONLY, 0, "", 0), 0);
	CHECK_EQUAL(vfs_sync_all(), 0);
	bad = sector_of_names(name);
	while (shrink_buffers(0))
		continue;
	start_rename(0);
	for (int step = 0; renamed == 1; step++) {
		while (shrink_buffers(0))
			continue;
		disk.fail_sector = step >= moment ? bad : ~0ull;
		schedule();
	}
	tasks_wait();
	disk.fail_sector = ~0ull;
	CHECK_EQUAL(umount_disk(), 0);
	image_check(&disk);
	CHECK_EQUAL(mount_disk("sda", 0), 0);
	there = sys_faccessat2(AT_FDCWD, "/mnt/a/d", 0, 0) == 0;
	here = sys_faccessat2(AT_FDCWD, "/mnt/b/e", 0, 0) == 0;
	CHECK_EQUAL(there, renamed != 0);
	CHECK_EQUAL(here, renamed == 0);
	CHECK_EQUAL(umount_disk(), 0);
	return renamed != 0;
}

/* Wherever the disk fails, the directory has one name, and says where it is. */
TEST(rename_fails_whole)
{
	unsigned failures = 0;

	hosted_init(16);
	disk_create(&disk, "sda", 0, MB(4));
	disk.asynchronous = true;
	for (int moment = 0; moment < 12; moment++) {
		test_where("moment %d", moment);
		failures += rename_with_bad_block("/mnt/a", moment);
		failures += rename_with_bad_block("/mnt/a/d", moment);
	}
	CHECK(failures > 0 && failures < 24);
	printf("# %u of 24 failed\n", failures);
}

/* ---- extended attributes --------------------------------------------------------------------- */

#define ROUNDS 200

/* Set an attribute of our own on one file for all, and on a file of our own; what was set is there
 * whatever the others do. Every third round it goes, and with it, of our own file, the block. */
static void change_attributes(void *number)
{
	unsigned who = *(unsigned *)number;
	char name[16], file[16], value[200], got[200];

	snprintf(name, sizeof(name), "user.%u", who);
	snprintf(file, sizeof(file), "/mnt/own%u", who);
	CHECK_EQUAL(write_at(file, O_CREAT | O_WRONLY, 0, "x", 1), 1);
	for (unsigned round = 0; round < ROUNDS; round++) {
		const char *path = round % 2 ? file : "/mnt/all";
		size_t size = round * 37 % sizeof(value);

		memset(value, (int)(who * 50 + round % 50), sizeof(value));
		CHECK_EQUAL(sys_setxattr(path, name, value, size, 0), 0);
		schedule();
		CHECK_EQUAL(sys_getxattr(path, name, got, sizeof(got)), size);
		CHECK(!memcmp(got, value, size));
		if (round % 3 == 0)
			CHECK_EQUAL(sys_removexattr(path, name), 0);
		if (round % 50 == 0)
			CHECK_EQUAL(vfs_sync_all(), 0);
	}
}

TEST(attributes_of_four_tasks)
{
	static unsigned numbers[] = {0, 1, 2, 3};

	mount_ext2();
	CHECK_EQUAL(write_at("/mnt/all", O_CREAT | O_WRONLY, 0, "", 0), 0);
	for (int i = 0; i < 4; i++)
		task_start(change_attributes, &numbers[i]);
	tasks_wait();
	unmount_ext2();
}
