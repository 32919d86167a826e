/*
 * programs_files.c - interleavings: tasks that work on the same files and directories.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/block/dirty.h"
#include "fs/cred.h"
#include "fs/ext2/ext2.h"
#include "fs/file/file.h"
#include "fs/inode/attributes.h"
#include "fs/path/namei.h"
#include "fs/writeback.h"
#include "hosted/harness/harness.h"
#include "core/log/assert.h"
#include "mm/cache/page_cache.h"
#include "hosted/interleave/ring/ring.h"
#include "hosted/interleave/worlds/worlds.h"

/* ---- fsync ------------------------------------------------------------------------------------
 */

static void write_fsync_look(void *argument)
{
	unsigned char byte = *(const unsigned char *)argument;
	struct file *file = open_path("/mnt/file", O_RDWR, 0);
	loff_t offset = (loff_t)(byte % 4) * 256, at = offset;
	unsigned char data[256], found[256];
	struct io io = {.base = data, .length = sizeof(data)};

	memset(data, byte, sizeof(data));
	CHECK_EQUAL(vfs_write(file, &io, &at), sizeof(data));
	CHECK_EQUAL(vfs_fsync(file, false), 0);
	ring_active = false; /* the power goes here */
	CHECK_EQUAL(world_on_disk(file->inode->number, offset, found, sizeof(found)),
		    sizeof(found));
	CHECK(memcmp(data, found, sizeof(data)) == 0);
	ring_active = true;
	fput(file);
}

enum made { NEW, NAMED, BEHIND_POINTERS };
#define POINTED_AT (13 * 1024) /* behind a block of pointers that has led to another block before  \
				*/

static loff_t data_begin; /* of the file made: a hole is before it */

/* "old" is written to the file, and so far in memory: to a new one; to one whose name is on the
 * disk, which fsync() writes alone; or behind an indirect block that is on the disk. Where it is.
 */
static loff_t make_file(enum made made)
{
	loff_t at = made == BEHIND_POINTERS ? POINTED_AT : 0;

	data_begin = at ? at - 1024 : 0;
	CHECK_EQUAL(write_at("/mnt/file", O_CREAT | O_WRONLY, data_begin, "...", 3), 3);
	if (made != NEW)
		sys_sync();
	CHECK_EQUAL(write_at("/mnt/file", O_WRONLY, at, "old", 3), 3);
	return at;
}

/* What fsync() has said is on the disk is on the disk, whoever else writes the file out. */
RING_PROGRAM(fsync_two, world_ext2, 100)
{
	static const unsigned char one = 1, two = 2;

	world_mount();
	make_file(rng_below(&ring_program_rng, 2) ? NAMED : NEW);
	task_start(write_fsync_look, (void *)&one);
	task_start(write_fsync_look, (void *)&two);
	ring_run();
	world_unmount();
}

RING_PROGRAM(fsync_writeback, world_ext2, 100)
{
	static const unsigned char one = 1;

	world_mount();
	make_file(rng_below(&ring_program_rng, 2) ? NAMED : NEW);
	task_start(write_fsync_look, (void *)&one);
	task_start(rng_below(&ring_program_rng, 2) ? world_write_back : world_sync_all, NULL);
	ring_run();
	world_unmount();
}

static void find_data(void *unused)
{
	int fd = (int)sys_openat(AT_FDCWD, "/mnt/file", O_RDONLY, 0);

	(void)unused;
	CHECK_EQUAL(sys_lseek(fd, 0, SEEK_DATA), data_begin); /* gives all pages their blocks */
	sys_close(fd);
}

RING_PROGRAM(fsync_seek, world_ext2, 100)
{
	static const unsigned char one = 1;

	world_mount();
	make_file(rng_below(&ring_program_rng, 2) ? NAMED : NEW);
	task_start(write_fsync_look, (void *)&one);
	task_start(find_data, NULL);
	ring_run();
	world_unmount();
}

static void write_far_fsync_look(void *argument)
{
	unsigned block = *(const unsigned *)argument;
	struct file *file = open_path("/mnt/file", O_RDWR, 0);
	loff_t offset = (loff_t)block * 1024, at = offset;
	unsigned char data[64], found[64];
	struct io io = {.base = data, .length = sizeof(data)};

	memset(data, 1 + (int)block, sizeof(data));
	CHECK_EQUAL(vfs_write(file, &io, &at), sizeof(data));
	CHECK_EQUAL(vfs_fsync(file, block % 2), 0);
	ring_active = false;
	CHECK_EQUAL(world_on_disk(file->inode->number, offset, found, sizeof(found)),
		    sizeof(found));
	CHECK(memcmp(data, found, sizeof(data)) == 0);
	ring_active = true;
	fput(file);
}

/* The same behind indirect blocks. */
RING_PROGRAM(fsync_indirect, world_ext2, 100)
{
	static const unsigned one = 14, two = 19;

	world_mount();
	make_file(rng_below(&ring_program_rng, 2) ? NAMED : NEW);
	task_start(write_far_fsync_look, (void *)&one);
	task_start(write_far_fsync_look, (void *)&two);
	ring_run();
	world_unmount();
}

/* ---- what was written before
 * ---------------------------------------------------------------------- */

static loff_t meeting_place;

static void look_at_disk(const struct file *file)
{
	char found[3] = "";

	ring_active = false;
	CHECK_EQUAL(world_on_disk(file->inode->number, meeting_place, found, sizeof(found)),
		    sizeof(found));
	CHECK(memcmp(found, "old", sizeof(found)) == 0);
	ring_active = true;
}

static void fsync_look(void *file)
{
	CHECK_EQUAL(vfs_fsync(file, false), 0);
	look_at_disk(file);
}

static void sync_look(void *file)
{
	sys_sync();
	look_at_disk(file);
}

static void only_fsync(void *file)
{
	CHECK_EQUAL(vfs_fsync(file, false), 0);
}

static void write_buffers_out(void *file)
{
	CHECK_EQUAL(sync_buffers(((struct file *)file)->inode->sb->bdev, WB_SYNC_ALL), 0);
}

/* Who syncs waits for what another has begun to write, in whatever state that is. */
static void meet(void (*syncer)(void *), enum made made)
{
	static void (*const others[])(void *) = {only_fsync, write_buffers_out, find_data,
						 world_write_back, world_sync_all};
	struct file *file;

	world_mount();
	meeting_place = make_file(made);
	file = open_path("/mnt/file", O_RDWR, 0);
	task_start(syncer, file);
	task_start(others[rng_below(&ring_program_rng, ARRAY_SIZE(others))], file);
	ring_run();
	fput(file);
	world_unmount();
}

RING_PROGRAM(fsync_meets, world_ext2, 60)
{
	meet(fsync_look, NAMED);
}

RING_PROGRAM(fsync_meets_far, world_ext2, 60)
{
	meet(fsync_look, BEHIND_POINTERS);
}

RING_PROGRAM(sync_meets, world_ext2, 60)
{
	meet(sync_look, NEW);
}

/* ---- a page that is new -------------------------------------------------------------------------
 */

static void fill_hole(void *unused)
{
	(void)unused;
	CHECK_EQUAL(write_at("/mnt/file", O_WRONLY, 100, "filled", 6), 6);
}

static void read_hole(void *unused)
{
	char data[106], none[100] = "";

	(void)unused;
	CHECK_EQUAL(read_at("/mnt/file", 0, data, sizeof(data)), sizeof(data));
	CHECK(!memcmp(data, none, sizeof(none)));
}

/* What was there before a page's first bytes are put there is read by nobody. */
static void new_page(void)
{
	world_mount();
	CHECK_EQUAL(write_at("/mnt/file", O_CREAT | O_WRONLY, 0, "", 0), 0);
	CHECK_EQUAL(truncate_path("/mnt/file", 2 * PAGE_SIZE), 0);
	task_start(fill_hole, NULL);
	task_start(read_hole, NULL);
	ring_run();
	world_unmount();
}

RING_PROGRAM(new_page_ext2, world_ext2, 100)
{
	new_page();
}

RING_PROGRAM(new_page_tmpfs, world_tmpfs, 100)
{
	new_page();
}

/* ---- directories --------------------------------------------------------------------------------
 */

#define LONG_NAME 200 /* five of them fill a block */

static const char *long_name(const char *dir, unsigned n)
{
	static char names[RING_TASKS][PATH_MAX];
	char *name = names[ring_cpu_id()];
	int length = snprintf(name, PATH_MAX, "%s/%u", dir, n);

	memset(name + length, 'x', LONG_NAME);
	name[length + LONG_NAME] = 0;
	return name;
}

static s64 make_long(const char *dir, unsigned n)
{
	return sys_mknodat(AT_FDCWD, long_name(dir, n), S_IFREG | 0600, 0);
}

static void fill_directory(void *unused)
{
	(void)unused;
	for (unsigned n = 10; n < 14; n++) {
		s64 result = make_long(n % 2 ? "/mnt/b/moved" : "/mnt/a/moved", n);

		if (result && result != -ENOENT)
			test_failed(__FILE__, __LINE__, "mknod: %lld", result);
	}
}

static void move_directory(void *unused)
{
	(void)unused;
	CHECK_EQUAL(sys_renameat2(AT_FDCWD, "/mnt/a/moved", AT_FDCWD, "/mnt/b/moved", 0), 0);
	CHECK_EQUAL(sys_renameat2(AT_FDCWD, "/mnt/b/moved", AT_FDCWD, "/mnt/a/moved", 0), 0);
}

/* Names are made in a directory of several blocks that moves. */
RING_PROGRAM(move_directory, world_ext2, 100)
{
	world_mount();
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/a", 0755), 0);
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/b", 0755), 0);
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/a/moved", 0755), 0);
	for (unsigned n = 0; n < 6; n++)
		CHECK_EQUAL(make_long("/mnt/a/moved", n), 0);
	/* who looks for a name begins where the last one was found: in the second block */
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, long_name("/mnt/a/moved", 5), 0), 0);
	task_start(fill_directory, NULL);
	task_start(move_directory, NULL);
	ring_run();
	world_unmount();
}

/* ---- vectors ------------------------------------------------------------------------------------
 */

static void append_record(void *argument)
{
	char byte = *(const char *)argument, data[3][40];
	struct iovec vector[3];
	int fd = (int)sys_openat(AT_FDCWD, "/mnt/log", O_WRONLY | O_APPEND, 0);

	memset(data, byte, sizeof(data));
	for (unsigned i = 0; i < 3; i++)
		vector[i] = (struct iovec){data[i], sizeof(data[i])};
	for (unsigned i = 0; i < 2; i++)
		CHECK_EQUAL(sys_writev(fd, vector, 3), sizeof(data));
	sys_close(fd);
}

static void append_records(void)
{
	static const char one = 'a', two = 'b';
	char data[480];

	world_mount();
	write_at("/mnt/log", O_CREAT | O_WRONLY, 0, "", 0);
	task_start(append_record, (void *)&one);
	task_start(append_record, (void *)&two);
	ring_run();
	CHECK_EQUAL(read_at("/mnt/log", 0, data, sizeof(data)), sizeof(data));
	for (unsigned i = 0; i < sizeof(data); i++)
		CHECK_EQUAL(data[i], data[i / 120 * 120]);
	world_unmount();
}

/* A record that is written by one writev() with O_APPEND stays in one piece. */
RING_PROGRAM(append_ext2, world_ext2, 100)
{
	append_records();
}

RING_PROGRAM(append_tmpfs, world_tmpfs, 100)
{
	append_records();
}

/* ---- a set-id program's rights ------------------------------------------------------------------
 */

#define SOMEBODY 1000
#define CALLER 1234

static void take_rights(void *argument)
{
	const struct path *program = argument;
	struct cred *cred = prepare_cred();

	cred->uid = cred->euid = cred->suid = CALLER;
	cred_of_program(cred, program);
	CHECK(cred->euid == SOMEBODY || cred->euid == CALLER);
	put_cred(cred);
}

static void give_to_root(void *argument)
{
	CHECK_EQUAL(vfs_chown(argument, 0, 0), 0);
}

/* A program has the set-id bit, or belongs to root: nobody who runs it becomes root. */
RING_PROGRAM(set_id_chown, world_ext2, 100)
{
	struct path program;

	world_mount();
	write_at("/mnt/program", O_CREAT | O_WRONLY, 0, "x", 1);
	CHECK_EQUAL(find_path("/mnt/program", LOOKUP_FOLLOW, &program), 0);
	CHECK_EQUAL(vfs_chown(&program, SOMEBODY, SOMEBODY), 0);
	CHECK_EQUAL(vfs_chmod(&program, S_ISUID | 0755), 0);
	task_start(take_rights, &program);
	task_start(give_to_root, &program);
	ring_run();
	path_put(&program);
	world_unmount();
}

/* ---- attributes that two files share ----------------------------------------------------------
 */

/* /mnt/two has those of /mnt/one, in one block, as other systems make it. */
static void share_attributes(void)
{
	struct path one __free(path) = {0}, two __free(path) = {0};

	CHECK_EQUAL(write_at("/mnt/one", O_CREAT | O_WRONLY, 0, "1", 1), 1);
	CHECK_EQUAL(write_at("/mnt/two", O_CREAT | O_WRONLY, 0, "2", 1), 1);
	CHECK_EQUAL(sys_lsetxattr("/mnt/one", "user.a", "b", 1, 0), 0);
	CHECK_EQUAL(find_path("/mnt/one", 0, &one), 0);
	CHECK_EQUAL(find_path("/mnt/two", 0, &two), 0);
	struct inode *inode = two.dentry->inode;
	struct buffer *buffer __free(buffer) = ext2_xattr_block(one.dentry->inode, GIVE_UP);
	CHECK(!IS_ERR_OR_NULL(buffer));
	((struct ext2_xattr_header *)buffer->data)->refcount = 2;
	mark_buffer_dirty(buffer);
	EXT2_I(inode)->attribute_block = (u32)buffer->block;
	inode->blocks += buffer->size / 512;
	mark_inode_dirty(inode);
}

static void remove_file(void *name)
{
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, name, 0), 0);
}

/* The block goes with the second of them, whichever that is. */
RING_PROGRAM(shared_attributes, world_ext2, 100)
{
	struct kstatfs before, after;

	world_mount();
	CHECK_EQUAL(sys_statfs("/mnt", &before), 0);
	share_attributes();
	sys_sync();
	task_start(remove_file, "/mnt/one");
	task_start(remove_file, "/mnt/two");
	ring_run();
	world_unmount();
	world_mount();
	CHECK_EQUAL(sys_statfs("/mnt", &after), 0);
	CHECK_EQUAL(after.bfree, before.bfree);
	world_unmount();
}
