/*
 * sequence.h - hosted: random sequences of operations on an ext2 of disk "ram0" on /mnt, and on the
 * model.
 *
 * The disk completes its requests late and in any order; memory ends, disks fill and programs'
 * memory faults as the mode says. A sequence is known by its seed; HOSTED_TRACE=1 prints its
 * operations.
 */
#pragma once

#include "hosted/machine/hosted.h"

enum sequence_mode {
	SEQUENCE_EXACT, /* each result is what the model says */
	SEQUENCE_SMALL, /* ENOSPC may come at any time, and leaves everything as it was */
	SEQUENCE_CHAOS, /* anything may fail, with any effect, as long as the kernel lives */
};

extern struct hosted_disk sequence_disk;
extern struct sequence_counts {
	u64 operations, failed;
} sequence_counts;

extern void (*sequence_each)(void); /* called after every operation, if not NULL */

/* Start the kernel, make the image that every sequence starts from. */
void sequence_prepare(unsigned block_size, unsigned kilobytes, const char *options);
/* Mount, operate, compare, unmount, look for leaks, e2fsck if @check, mount and compare again. */
void sequence(u64 seed, enum sequence_mode mode, bool check);

/* The same on tmpfs, exactly; if @empty, in the end all is removed and what it took must be free
 * again. */
void sequence_prepare_tmpfs(void);
void sequence_tmpfs(u64 seed, bool empty);

/* @tasks of them at once, each in a directory of its own, and all together in one where anything
 * may happen. */
#define SEQUENCE_TASKS 6
void sequence_tasks(u64 seed, unsigned tasks);

/* Its parts: a fresh image and model; operations on what the caller has mounted. */
void sequence_begin(u64 seed, enum sequence_mode mode);
void sequence_operations(u64 seed);
void sequence_end(void);
