/*
 * syscalls.h - prototypes of all system calls, for the rooms that define them.
 *
 * A call is defined where its work is done: those on files in fs/, those on memory and processes
 * in kernel/sys. Each sys_NAME() returns its result or a negative errno. It runs in the calling
 * task, interrupts enabled, and may sleep; pointers are the program's and unchecked.
 *
 * The types of arguments that syscalls.def uses are plain C types under names that say what an
 * argument means; lab/compare/values.py prints an argument by its type's name, and
 * kernel/trace/trace.c knows from it which memory of the program to copy.
 */
#pragma once

/* Memory that the call reads: */
typedef const char *path_t, *string_t;
typedef const void *in_t; /* as many bytes as the next argument says */
typedef const u64 *argv_t, *envp_t, *sigset_in_t;
typedef const void *sigaction_in_t, *timespec_in_t, *timespecs_in_t, *rlimit_in_t;
typedef const void *clone_in_t, *sockaddr_in_t;
/* Memory that it writes: */
typedef void *out_t;	  /* as many bytes as the result says */
typedef char *text_out_t; /* the same */
typedef int *pair_out_t, *status_out_t;
typedef u64 *sigset_out_t;
typedef void *stat_out_t, *sigaction_out_t, *timespec_out_t, *rlimit_out_t;
/* Memory that is not shown, and addresses: */
typedef void *ptr_t;
typedef const void *const_ptr_t;
typedef u64 addr_t;
/* Numbers, names of constants, sets of flags: */
typedef int fd_t, dirfd_t, signo_t, access_t, open_flags_t, at_flags_t, whence_t, mask_how_t;
typedef int itimer_t, family_t, wait_options_t, rusage_who_t, priority_which_t, prctl_t;
typedef int epoll_operation_t, epoll_flags_t, event_flags_t, wait_kind_t, notify_flags_t;
typedef u32 mremap_flags_t, mlock_flags_t, mlockall_flags_t, sync_range_t;
typedef int arch_prctl_t, futex_t, fadvise_t, fallocate_t, clock_kind_t, timer_flags_t;
typedef u32 protection_t, map_flags_t, msync_flags_t, madvise_t, ioctl_t, fcntl_t;
typedef u32 umask_t, rlimit_t, umount_flags_t, rename_flags_t, random_flags_t, statx_mask_t;
typedef u32 close_flags_t, rw_flags_t, device_t, hex_t, notify_mask_t, splice_flags_t;
typedef u32 swap_flags_t, namespace_type_t;
typedef int socket_type_t, socket_flags_t, message_flags_t, shutdown_t;
typedef int option_level_t, socket_option_t;
typedef u64 clone_flags_t, mount_flags_t;

#define SYSCALL(number, name, arguments, differs) s64 sys_##name arguments;
#include "core/syscalls.def"
#undef SYSCALL
