/*
 * direct.h - for programs of direct lookup: what a path leads to, and who looks for it all the
 * while that others change the tree.
 */
#pragma once

#include <stdio.h>

#include "fs/path/direct/direct.h"
#include "hosted/interleave/programs/lockless/lockless.h"

#define STRANGER 1000

/* What stat(2) tells of @path: 0 or -errno; *@number: the inode. */
static inline int look(const char *path, ino_t *number)
{
	struct kstat stat = {0};
	char text[64];

	snprintf(text, sizeof(text), "%s", path);
	int error = (int)sys_newfstatat(AT_FDCWD, text, &stat, 0);
	*number = stat.ino;
	return error;
}

static inline ino_t number_of(const char *path)
{
	ino_t number;

	CHECK_EQUAL(look(path, &number), 0);
	return number;
}

static inline void leads_to(const char *path, ino_t number)
{
	CHECK_EQUAL(number_of(path), number);
}

static inline void leads_nowhere(const char *path)
{
	CHECK_EQUAL(stat_path(path), -ENOENT);
}

static inline void move(const char *from, const char *to, unsigned flags)
{
	char old[128], new[128];

	snprintf(old, sizeof(old), "%s", from);
	snprintf(new, sizeof(new), "%s", to);
	CHECK_EQUAL(sys_renameat2(AT_FDCWD, old, AT_FDCWD, new, flags), 0);
}

static inline void remove_file(const char *path)
{
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, path, 0), 0);
}

static inline void remove_directory(const char *path)
{
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, path, AT_REMOVEDIR), 0);
}

/* ---- who looks all the while ----------------------------------------------------------------- */

static inline void look_whether(void *path)
{
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user()) {
		int error = stat_path(path);

		CHECK(error == 0 || error == -ENOENT);
	}
}

/* It is always there: by stat(2), which takes no reference, and by open(2), which does. */
static inline void always_find(void *path)
{
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		CHECK_EQUAL(stat_path(path), 0);
		struct file *file = open_path(path, O_RDONLY, 0);
		CHECK(!IS_ERR(file));
		fput(file);
	}
}

static inline void never_find(void *path)
{
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user())
		leads_nowhere(path);
}

/* Whose threads share what they may reach, for try_as_subject(). */
static struct cred *subject __maybe_unused;
/* Odd: what the subject looks for is forbidden, by a call that has returned, until it is even. */
static atomic_t forbidden __maybe_unused;

/* Made before tasks run, which share what it copies. */
static inline struct cred *new_stranger(void)
{
	struct cred *cred = prepare_cred();

	cred->uid = cred->euid = cred->suid = STRANGER;
	cred->gid = cred->egid = cred->sgid = STRANGER;
	return cred;
}

static inline void be_root(void)
{
	set_cred(get_cred(&init_cred));
}

static inline void try_as_subject(void *path)
{
	set_cred(get_cred(subject));
	for (unsigned i = 0; i < 3 * ROUNDS; i++, ring_user()) {
		int before = atomic_read(&forbidden);
		int error = stat_path(path);

		CHECK(error == 0 || error == -EACCES);
		if (before % 2 && atomic_read(&forbidden) == before)
			CHECK_EQUAL(error, -EACCES);
	}
	be_root();
}

/* Who has it looks for @path often enough to be let in without being asked, if he was let in
 * before. */
static inline void look_often(struct cred *cred, const char *path)
{
	set_cred(get_cred(cred));
	world_warm(path);
	be_root();
}

/* A file system with /mnt/up/dir/file, which is remembered. */
static inline void make_up(void)
{
	world_mount();
	make_directory("/mnt/up", 0755);
	make_directory("/mnt/up/dir", 0755);
	make_file("/mnt/up/dir/file");
	world_warm("/mnt/up/dir/file");
}

/* What lies in the working directory, to which a path leads from there. */
static ino_t in_working_directory __maybe_unused;

static inline void find_from_there(void *path)
{
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user())
		leads_to(path, in_working_directory);
}
