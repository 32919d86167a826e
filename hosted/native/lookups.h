/*
 * lookups.h - native: the kernel's looks into its caches (lookups.c; of dentries, dentries.c), for
 * kernel_side.c.
 */
#pragma once

#include "hosted/native/measure.h"

struct dentry;

void lookups_start(void); /* once the kernel is up, before all others */
void lookups_prepare(unsigned threads);
/* What thread @target - 1 looks up, or, if that is 0, all of them: stays referenced. */
void dentry_target(unsigned target, struct dentry *dentry);

/* Rows: that many looks at what is the worker's. */
void page_turns(struct worker *worker, unsigned turns);
void buffer_turns(struct worker *worker, unsigned turns);
void inode_turns(struct worker *worker, unsigned turns);
void dentry_turns(struct worker *worker, unsigned turns);

/* Inodes by number, from @from up to @to, cached and hashed, in no directory. */
void inodes_make(uint64_t from, uint64_t to);
void inode_find(uint64_t number);
/* Dentries visited, a lookup that found its own, since it was asked last; 0: not counted. */
double dentry_steps(void);
