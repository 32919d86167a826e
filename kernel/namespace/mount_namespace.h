/*
 * mount_namespace.h - mount namespaces as processes have them: unshare(2), setns(2), and the link
 * /proc/PID/ns/mnt, which kernel/rare puts there. The namespaces themselves: fs/path/namespace.
 */
#pragma once

#include "fs/proc/proc.h"

/* proc_node's show and jump, of a process's namespace. -ESRCH, -ENOENT: there is none any more;
 * -EACCES: current may not look into the process; -ENOMEM. */
void mount_namespace_show(struct text *out, const struct proc_entry *entry);
int mount_namespace_jump(const struct proc_entry *entry, struct path *path);
