/*
 * namespace.h - mount namespaces: processes whose tree of mounts is their own.
 *
 * A namespace is a tree of mounts, known by its root, the one mount that is its own parent. Mounts
 * of all namespaces are in one list (mount.c), and a walk goes from a mount to those on it, so it
 * never leaves the tree that it is in. A copy has a mount for each of the original, of the same
 * file system, flags and place; what is mounted or unmounted later is done to one of them alone.
 *
 * States: copied (namespace_copy()), with a first user -> used -> its last user is gone: all its
 * mounts are taken off, whoever still has something open there. Users: each struct fs_context,
 * which has one namespace for all its life, and each inode of /proc/PID/ns/mnt (namespace_path()).
 * The first namespace, NULL, is that of the kernel's start, and has no end.
 *
 * A process can stand in another namespace than its own, by a directory that it has open. There it
 * walks as everybody does, but nothing can be mounted or unmounted (namespace_has()).
 *
 * What fs/cred.c, mount.c, text.c and fork.c ask of this file is declared in mount.h. Locks: all
 * takes mount_mutex, and mount_lock in it.
 *
 * A name on which something is mounted can be neither removed nor renamed in that namespace. In
 * any other it can: a directory, or a file, takes what is mounted on it to its new name, and from
 * what was removed it is taken off, with all that is mounted below it, as by MNT_DETACH. Paths of
 * what is mounted are none of the directory's own: direct lookup gives up those of all mounts then
 * (direct/changes.c), and again if something was mounted on a file while that was renamed.
 *
 * Known limit: nothing propagates.
 */
#pragma once

#ifdef CONFIG_MOUNT_NS

#include "fs/cred.h"
#include "fs/file/file.h"

struct mount_namespace {
	atomic_t users;
	struct mount *root; /* constant */
};

/* As st_ino and the link's text tell it; never used again for another. */
ino_t namespace_number(const struct mount_namespace *namespace);
/* *@path, referenced: a file that stands for @namespace, of which it takes a user over, also on
 * failure: 0, -ENOMEM. Sleeps. file.c */
int namespace_path(struct mount_namespace *namespace, struct path *path);
/* Is @file one of those? Then *@namespace, which the file keeps. file.c */
bool namespace_of(const struct file *file, struct mount_namespace **namespace);
/* A context in @namespace, else like current's: it stands at the root of what is mounted there.
 * NULL: no memory. Sleeps. */
struct fs_context *namespace_enter(struct mount_namespace *namespace);

/*
 * For direct lookup: in front of @at, but not of @start, where a canonical path from the root of
 * the namespace whose root is @top begins, and a NUL ends it, the name of that namespace, so that
 * paths of two are two texts: "/000007/". No canonical path begins with a slash. NULL: no room.
 */
char *namespace_prepend(const struct mount *top, char *at, const char *start);

#else

#define namespace_prepend(top, at, start) (at)

#endif
