/*
 * in_use.h - what the hosted allocators count, and how a test looks for leaks: the same for memory.c
 * of hosted/machine, whose objects are malloc's, and of hosted/interleave/ring, whose are an arena's.
 *
 * Who allocates asks allocation_fails() first, and keeps hosted_pages_in_use, hosted_objects_in_use and
 * a cache's own count.
 */
#pragma once

#include "core/base/types.h"

struct kmem_cache {
	const char *name;
	size_t size;
	u64 objects, marked; /* in use: now, and when leak_mark() was called */
	struct kmem_cache *next;
};

/* This is the allocation that the test wants to fail (hosted_fail_after). */
bool allocation_fails(void);
