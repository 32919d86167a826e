/*
 * errno.h - error numbers, those of Linux on x86-64 (asm-generic/errno.h) as far as they are used;
 * values are ABI.
 */
#pragma once

#ifdef HOSTED
#include <errno.h>
#else
/* clang-format off */
enum {
	EPERM = 1, ENOENT, ESRCH, EINTR, EIO, ENXIO, E2BIG, ENOEXEC, EBADF, ECHILD,
	EAGAIN = 11, ENOMEM, EACCES, EFAULT, ENOTBLK, EBUSY, EEXIST, EXDEV, ENODEV, ENOTDIR,
	EISDIR = 21, EINVAL, ENFILE, EMFILE, ENOTTY, ETXTBSY, EFBIG, ENOSPC, ESPIPE, EROFS,
	EMLINK = 31, EPIPE, EDOM, ERANGE, EDEADLK, ENAMETOOLONG, ENOLCK, ENOSYS, ENOTEMPTY, ELOOP,
	EIDRM = 43, ENODATA = 61, EOVERFLOW = 75, ELIBBAD = 80, EOPNOTSUPP = 95, EAFNOSUPPORT = 97,
	ETIMEDOUT = 110, EUCLEAN = 117,
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
