/*
 * err.h - a pointer or a negative errno in one value: the last page of addresses is never an
 * object.
 */
#pragma once

#include "kernel/core/errno.h"
#include "kernel/core/types.h"

#define MAX_ERRNO 4095

static inline void *ERR_PTR(intptr_t error)
{
	return (void *)error;
}

static inline intptr_t PTR_ERR(const void *pointer)
{
	return (intptr_t)pointer;
}

static inline bool IS_ERR(const void *pointer)
{
	return unlikely((uintptr_t)pointer >= (uintptr_t)-MAX_ERRNO);
}

static inline bool IS_ERR_OR_NULL(const void *pointer)
{
	return !pointer || IS_ERR(pointer);
}

/* The same error in another pointer type. */
static inline void *ERR_CAST(const void *pointer)
{
	return (void *)pointer;
}

/* 0 for a valid pointer, else its errno. */
static inline int PTR_ERR_OR_ZERO(const void *pointer)
{
	return IS_ERR(pointer) ? (int)PTR_ERR(pointer) : 0;
}
