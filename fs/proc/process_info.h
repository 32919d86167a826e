/*
 * process_info.h - what /proc asks about processes and the machine. Implemented by kernel/proc.
 *
 * fs/ lies below proc/ and may not include its headers, so /proc sees processes only through these
 * few calls: by number, in copies, with references for what outlives the call. A process that has
 * gone in between is -ESRCH (or NULL).
 */
#pragma once

#include "fs/vfs.h"

struct mm;

struct cpu_times {
	u64 user_ns, system_ns;
	u64 minor_faults, major_faults;
};

/* A snapshot of one process, or of one of its threads, for stat, statm, status, limits. */
struct process_info {
	pid_t pid, tgid, ppid, pgrp, session;
	int tty;	  /* device number of the controlling terminal, 0: none */
	pid_t foreground; /* process group of the terminal, -1: none */
	char state;	  /* R S D T Z */
	char comm[16];
	struct cred cred;
	umode_t umask;
	unsigned threads;
	int nice;
	struct cpu_times times, children; /* children: that were waited for */
	u64 start_ns;			  /* since boot */
	/* bit n-1: signal n */
	u64 signals_pending, signals_blocked, signals_ignored, signals_caught;
	u64 virtual_bytes, resident_bytes, file_bytes; /* file: resident, of files */
	u64 code_bytes, data_bytes; /* for statm and status; 0 of a kernel thread or zombie */
	u64 stack_start;
	u64 limits[16][2]; /* soft and hard, by RLIMIT_*; ~0: none */
	int exit_signal;
	int cpu;
};

/*
 * Wherever a process is asked for by its @pid, a thread may be by its own: then what belongs to the
 * process is the same, the state and the CPU are the thread's.
 */

/* 0 or -ESRCH. */
int process_info(pid_t pid, struct process_info *info);
/* The lowest pid >= @from of a process (not a thread), or 0 when there is none. */
pid_t process_next(pid_t from);
/* The lowest id >= @from of a thread of process @pid, or -ENOENT. */
int thread_next(pid_t pid, int from);
/* Does process @pid exist (a zombie does)? Cheap: asked on each lookup under /proc. *@uid, *@gid:
 * its effective ones, the owner of /proc/PID. */
bool process_exists(pid_t pid, uid_t *uid, gid_t *gid);

/* References to what the process has; NULL: none (kernel thread, zombie) or gone. */
struct mm *process_mm(pid_t pid);		  /* mm_put() it */
struct file_table *process_files(pid_t pid);	  /* file_table_put() it */
struct fs_context *process_fs_context(pid_t pid); /* fs_context_put() it */
/* May current look into process @pid (maps, fd, cwd, exe)? 0 or -EACCES, -ESRCH. */
int process_may_inspect(pid_t pid);

/* Read @n bytes of @mm's memory at @address into the kernel; bytes read (cmdline, environ). */
size_t process_read_memory(struct mm *mm, u64 address, void *to, size_t n);

/* Lines of /proc/stat and /proc/loadavg, /proc/uptime. */
struct system_info {
	u64 uptime_ns, idle_ns; /* idle: sum of all CPUs */
	u64 load[3];		/* 1, 5, 15 minutes, fixed point: << 16 */
	unsigned runnable, tasks;
	pid_t last_pid;
	u64 context_switches, forks, interrupts;
};
void system_info(struct system_info *info);
struct cpu_info {
	u64 user_ns, system_ns; /* by ticks */
	u64 idle_ns, switches;
	unsigned runnable; /* tasks that run or want to */
};
void system_cpu_info(unsigned cpu, struct cpu_info *info);
/* One CPU's lines of /proc/cpuinfo into @buf; the length. Implemented by kernel/x86 or proc. */
size_t system_cpu_text(unsigned cpu, char *buf, size_t size);
