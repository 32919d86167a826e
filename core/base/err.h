/*
 * err.h - error numbers, in pointers too, and the way out of a function that meets one.
 */
#pragma once

#include "core/base/types.h"

/* Error numbers, those of Linux on x86-64 (asm-generic/errno.h) as far as they are used: ABI. */
#ifdef HOSTED
#include <errno.h>
#else
/* clang-format off */
enum {
	EPERM = 1, ENOENT, ESRCH, EINTR, EIO, ENXIO, E2BIG, ENOEXEC, EBADF, ECHILD,
	EAGAIN = 11, ENOMEM, EACCES, EFAULT, ENOTBLK, EBUSY, EEXIST, EXDEV, ENODEV, ENOTDIR,
	EISDIR = 21, EINVAL, ENFILE, EMFILE, ENOTTY, ETXTBSY, EFBIG, ENOSPC, ESPIPE, EROFS,
	EMLINK = 31, EPIPE, EDOM, ERANGE, EDEADLK, ENAMETOOLONG, ENOLCK, ENOSYS, ENOTEMPTY, ELOOP,
	EIDRM = 43, ENODATA = 61, EOVERFLOW = 75, ELIBBAD = 80, ENOTSOCK = 88, EMSGSIZE = 90,
	EPROTOTYPE = 91, ENOPROTOOPT, EPROTONOSUPPORT, ESOCKTNOSUPPORT, EOPNOTSUPP = 95,
	EAFNOSUPPORT = 97, EADDRINUSE, ECONNRESET = 104, ENOBUFS, EISCONN, ENOTCONN,
	ETOOMANYREFS = 109, ETIMEDOUT, ECONNREFUSED, EUCLEAN = 117,
};
/* clang-format on */
#endif

/* Never seen by a program: a system call that a signal interrupted, and what to do about it. */
enum {
	ERESTARTSYS = 512,	     /* restart if the handler says SA_RESTART, else EINTR */
	ERESTARTNOINTR = 513,	     /* always restart */
	ERESTARTNOHAND = 514,	     /* restart only if no handler ran, else EINTR */
	ERESTART_RESTARTBLOCK = 516, /* the same, with the deadline it had (wait_deadline()) */
};

/* A pointer or a negative errno in one value: the last page of addresses is never an object. */
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
