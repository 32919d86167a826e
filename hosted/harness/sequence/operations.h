/*
 * operations.h - hosted: what the files of this folder share: the sequence that a task is in, and
 * the operations that it draws. Each makes a call, and the same in the model, and compares.
 */
#pragma once

#include <stdio.h>

#include <arch/cpu.h>

#include "core/sched/task.h"
#include "hosted/harness/sequence/model.h"
#include "hosted/harness/sequence/sequence.h"

#define HANDLES 4
#define WRITE_MAX KB(24)

struct handle {
	struct file *file; /* NULL: unused */
	struct model_node *node;
};

/* Of each task its own: ours, theirs, and the write-back thread has a number. */
extern struct sequence_run {
	struct rng rng;
	struct model model;
	struct handle handles[HANDLES];
	enum sequence_mode mode;
	bool tmpfs;
	unsigned block_size;
	u64 chunks_max; /* of the model: the image must have room */
	char names[4][256];
	unsigned next_name;
	unsigned char *bytes; /* WRITE_MAX, which end at a page that is not the program's */
} sequence_runs[SEQUENCE_TASKS + 2];
#define run sequence_runs[current->pid - 1]

extern bool sequence_trace; /* HOSTED_TRACE=1: print each operation */

/* The result of a call, where @wanted, which changes the model as well, is only looked at if it did
 * not fail in a way that this mode allows. */
#define EXPECT(call, wanted)                                                                       \
	do {                                                                                       \
		long long _got = (call);                                                           \
		if (sequence_trace)                                                                \
			fprintf(stderr, "%s: %lld\n", #call, _got);                                \
		if (!sequence_may_fail(_got)) {                                                    \
			long long _wanted = (wanted);                                              \
			if (_got != _wanted && run.mode != SEQUENCE_CHAOS)                         \
				test_failed(__FILE__, __LINE__, "%s: %lld, not %lld", #call, _got, \
					    _wanted);                                              \
		}                                                                                  \
	} while (0)

/* Counts @result; may this mode's call return it, whatever the model says? */
bool sequence_may_fail(long long result);

static inline u64 pick(u64 n)
{
	return rng_below(&run.rng, n);
}

/* The path of @name in @dir, of the model's nodes, until the block ends. */
#define PATH(dir, name) model_path(&run.model, dir, name, (char[PATH_MAX]){0})

/* names.c: operations on names. */
struct model_node *some_dir(void);
/* A name in @dir: one that exists, mostly, if @wanted; else mostly a new one. */
const char *some_name(const struct model_node *dir, bool wanted);
void random_create(void);
void random_mkdir(void);
void random_mknod(void);
void random_symlink(void);
void random_link(void);
void random_unlink(void);
void random_rmdir(void);
void random_rename(void);
void random_chmod(void);

/* contents.c: operations on bytes, also of files that stay open, perhaps without a name. */
void random_write(void);
void random_resize(void);
void random_read(void);
void random_handle(void);
void close_handles(void);

/* sequence.c: one of all these, or a sync, pressure, another mount; and the ends of a sequence. */
void random_operation(void);
void sequence_compare(void);   /* the tree with the model */
void sequence_image(u64 seed); /* the disk as it was at the start; completions drawn from @seed */
