/*
 * kernel.h - what every room stands on, in one: types and errors, strings and lists, printk and
 * assertions, locks and their guards, waiting and the current thread, time and the user's memory.
 *
 * A room's own header includes this one; a .c file includes the headers of the rooms it uses. What
 * only a few need (timers, random numbers, the command line, exported names) is not in here.
 */
#pragma once

#include <arch/page.h>
#include "core/base/bitops.h"
#include "core/base/cleanup.h"
#include "core/cmdline.h"
#include "core/log/export.h"
#include "core/log/printk.h"
#include "core/random.h"
#include "core/base/string.h"
#include "core/syscalls.h"
#include "core/base/uaccess.h"
#include "core/sched/limits.h"
#include "core/sched/wait.h"
