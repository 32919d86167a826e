/*
 * lookups.h - native: the kernel's looks into its caches, between lookups.c and dentries.c.
 */
#pragma once

#include "hosted/native/measure.h"

struct dentry;

/* What thread @target - 1 looks up, or, if that is 0, all of them: stays referenced. */
void dentry_target(unsigned target, struct dentry *dentry);
void dentry_turns(struct worker *worker, unsigned turns);
