/*
 * report.h - what the machine tells in /proc, whose entries fs/proc has: to the machine an entry is
 * only there or not.
 */
#pragma once

#include "core/base/types.h"

struct proc_entry;
struct text;

void proc_cpuinfo_show(struct text *out, const struct proc_entry *entry);

/* /proc/profile (arch/x86/profile/profile.c): written is the period in ns, 0 ends it; -EINVAL,
 * -ENOMEM. */
void proc_profile_show(struct text *out, const struct proc_entry *entry);
int proc_profile_write(const struct proc_entry *entry, const char *text, size_t length);
