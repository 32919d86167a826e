/*
 * status.h - what /proc tells of a process in numbers and words: stat, status, statm and their like
 * (status.c), for the tree of /proc/PID (info.c).
 *
 * Where a process is asked for by its pid, a thread may be by its own: what belongs to the process
 * is the same, the state and the CPU are the thread's.
 */
#pragma once

#include "fs/proc/proc.h"

struct process;
struct task;
struct view;

/* process_lock held: the thread @pid, and its process; the first thread, or NULL for a zombie, if
 * @pid is a process. */
struct task *task_or_process(pid_t pid, struct process **process);
/* process_lock held: may current look into @process (maps, fd, cwd, environ)? */
bool may_inspect(const struct process *process);

/* Who is told: whoever asks, or only who may look into the process. */
enum told { ANYBODY, INSPECTOR };
/* The places of the process @pid, referenced; ERR_PTR(-ENOENT: it has none, -ESRCH, -EACCES). Takes
 * process_lock. info.c */
struct fs_context *get_fs(pid_t pid, enum told told);

/* proc_node.show: have the node's data, a print_function, print under process_lock; -ESRCH. */
void process_show(struct text *out, const struct proc_entry *entry);
typedef void print_function(struct text *out, const struct view *view);
print_function print_stat, print_statm, print_status, print_comm;

/* Put @nodes, which end without a name, into /proc/PID and /proc/PID/task/TID. At start-up, before
 * /proc is first mounted; permanent. info.c */
void info_register(const struct proc_node *nodes);
