/*
 * kernel.h - what every room stands on, in one: types and errors, strings and lists, printk and
 * assertions, locks and their guards, waiting and the current thread, time and the user's memory.
 *
 * A room's own header includes this one; a .c file includes the headers of the rooms it uses. What
 * only a few need (timers, random numbers, the command line, exported names) is not in here.
 */
#pragma once

#include <arch/page.h>
#include <arch/power.h>
#include "kernel/core/bitops.h"
#include "kernel/core/cleanup.h"
#include "kernel/core/cmdline.h"
#include "kernel/core/export.h"
#include "kernel/core/jobctl.h"
#include "kernel/core/printk.h"
#include "kernel/core/random.h"
#include "kernel/core/string.h"
#include "kernel/core/syscalls.h"
#include "kernel/core/uaccess.h"
#include "kernel/core/wait.h"
