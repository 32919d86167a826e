/*
 * ipc.h - System V's objects, segments of shared memory and sets of semaphores: each is a file of
 * the tmpfs that is mounted nowhere (fs/tmpfs/tmpfs.h), which has a number and perhaps a key. The
 * file's inode says whose it is and who may use it.
 */
#pragma once

#include "fs/vfs.h"

#define IPC_OBJECTS 128 /* of a table */
#define IPC_NOWAIT 04000
#define IPC_RMID 0

struct ipc_object {
	struct file *file; /* NULL: the slot is free */
	int key, number;
	u64 size; /* in bytes */
};

struct ipc_table {
	struct ipc_object objects[IPC_OBJECTS];
	int generation;
};

extern struct mutex ipc_lock; /* guards all tables; mm->lock may be taken below it */

/* The object of @number, if the caller may use it for @mask (MAY_*), or ERR_PTR(-EINVAL, -EACCES).
 * ipc_lock held. */
struct ipc_object *ipc_find(struct ipc_table *table, int number, int mask);

/* shmget(2), semget(2): the number of the object with @key, or of a new one of @size bytes.
 * -EINVAL: no size, or more than it has; -ENOENT, -EEXIST, -EACCES, -ENOSPC, -ENOMEM. */
s64 ipc_get(struct ipc_table *table, int key, u64 size, u32 flags);

/* IPC_RMID: 0 or -EPERM. Who has the file keeps it. ipc_lock held. */
int ipc_remove(struct ipc_object *object);
