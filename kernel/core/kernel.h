/*
 * kernel.h - what every room stands on, in one: types and errors, strings and lists, printk and
 * assertions, locks and their guards, waiting and the current thread, time and the user's memory.
 *
 * A room's own header includes this one; a .c file includes the headers of the rooms it uses. What
 * only a few need (timers, random numbers, the command line, exported names) is not in here.
 */
#pragma once

#include <arch/page.h>
#include "kernel/core/assert.h"
#include "kernel/core/atomic.h"
#include "kernel/core/bitops.h"
#include "kernel/core/cleanup.h"
#include "kernel/core/err.h"
#include "kernel/core/list.h"
#include "kernel/core/mutex.h"
#include "kernel/core/printk.h"
#include "kernel/core/sched.h"
#include "kernel/core/string.h"
#include "kernel/core/syscalls.h"
#include "kernel/core/task.h"
#include "kernel/core/time.h"
#include "kernel/core/uaccess.h"
#include "kernel/core/wait.h"
