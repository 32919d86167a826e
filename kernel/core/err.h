/*
 * err.h - a pointer or a negative errno in one value: the last page of addresses is never an
 * object.
 */
#pragma once

#include "kernel/core/errno.h"
#include "kernel/core/types.h"

#define MAX_ERRNO 4095
#define IS_ERR(pointer) unlikely((uintptr_t)(pointer) >= (uintptr_t)-MAX_ERRNO)
#define ERR_PTR(error) ((void *)(intptr_t)(error))
#define PTR_ERR(pointer) ((intptr_t)(pointer))

/* The same error in another pointer type. */
#define ERR_CAST(pointer) ((void *)(pointer))

static inline bool IS_ERR_OR_NULL(const void *pointer)
{
	return !pointer || IS_ERR(pointer);
}

/* 0 for a valid pointer, else its errno. */
static inline int PTR_ERR_OR_ZERO(const void *pointer)
{
	return IS_ERR(pointer) ? (int)PTR_ERR(pointer) : 0;
}

/*
 * The way out of a function that returns int or s64, from the middle of an expression, when what it
 * calls fails: what has to be undone is left to guard() and __free() (cleanup.h).
 *
 *	TRY(inode_permission(inode, MAY_WRITE));  a negative errno is returned
 *	n = TRY(read_some(...));  any other value is the result
 *	file = TRY_PTR(file_open(...));  ERR_PTR() is returned as errno, NULL as -ENOMEM
 */
#define TRY(call)                                                                                  \
	({                                                                                         \
		__auto_type __result = (call);                                                     \
		if (unlikely(__result < 0))                                                        \
			return (int)__result;                                                      \
		__result;                                                                          \
	})
#define TRY_PTR(call)                                                                              \
	({                                                                                         \
		__auto_type __pointer = (call);                                                    \
		if (unlikely(!__pointer) || IS_ERR(__pointer))                                     \
			return __pointer ? (int)PTR_ERR(__pointer) : -ENOMEM;                      \
		__pointer;                                                                         \
	})
