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
