/*
 * proc.h - the tree of /proc: its nodes, who fills them, and how they get there.
 *
 * A node is a name in the tree; a file's or text link's is filled by its show function, so a new
 * file is one function and one line in a table (system.c, kernel/proc/info/info.c). Under a
 * directory with `next` there are also numbers: of processes, threads or descriptors, each looking
 * as node `each` says. What a node is shown of is an entry: the node with the process and the
 * descriptor on the way to it. A file's text is made whole when it is read from its beginning, and
 * kept in the open file.
 */
#pragma once

#include "fs/path/mount.h"
#include "core/log/text.h"

struct proc_entry {
	const struct proc_node *node;
	pid_t pid;  /* of a process or a thread; 0: none on the way */
	int number; /* of a descriptor; -1: none */
};

#define PROC_FILE (S_IFREG | 0444)
#define PROC_SWITCH (S_IFREG | 0200) /* written only */
#define PROC_LINK (S_IFLNK | 0777)
#define PROC_DIR (S_IFDIR | 0555)

struct proc_node {
	const char *name; /* NULL ends a list */
	umode_t mode;	  /* PROC_* */
	/* Append the text; out->error gets the error, if any. */
	void (*show)(struct text *out, const struct proc_entry *entry);
	/* A whole write at once, NUL-terminated; 0 or -errno. */
	int (*write)(const struct proc_entry *entry, const char *text, size_t length);
	/* A link to a place: referenced, or -errno. With show, which gives its text. */
	int (*jump)(const struct proc_entry *entry, struct path *path);
	const struct proc_node *children;
	/* The lowest number from @from on, -ENOENT when there are no more, or what forbids it. */
	int (*next)(pid_t pid, int from);
	const struct proc_node *each;
	void *data; /* the show function's */
};

extern struct filesystem proc_filesystem;

/*
 * What /proc tells of processes, from who knows them (kernel/proc/info/info.c). A process that has
 * gone in between is -ESRCH or -ENOENT. All may be called with a directory's inode->lock held.
 */
struct proc_processes {
	const struct proc_node *node; /* what /proc/PID looks like */
	/* proc_node.next of /proc: the lowest pid from @from on. */
	int (*next)(pid_t pid, int from);
	/* The owner of /proc/PID: a process's effective ids, a zombie's too; untouched if there is
	 * none. */
	void (*owner)(pid_t pid, uid_t *uid, gid_t *gid);
	/* Its root directory, referenced, or -errno. */
	int (*root)(pid_t pid, struct path *path);
};
extern const struct proc_processes *proc_processes; /* set by proc_register_processes() */

/* At start-up, before /proc is first mounted, and permanent: processes; and files, links and
 * directories in /proc itself, a list that ends with a node without a name. */
void proc_register_processes(const struct proc_processes *processes);
void proc_register(const struct proc_node *nodes);
#if defined(CONFIG_INOTIFY) || defined(CONFIG_RARE_CALLS)
void proc_register_fs(const struct proc_node *nodes); /* the same in /proc/sys/fs. system.c */
#endif
#ifdef CONFIG_RARE_CALLS
void proc_register_kernel(const struct proc_node *nodes); /* in /proc/sys/kernel. system.c */
#endif
/* The same into any @list that has room for @room nodes, the end included. */
void proc_append(struct proc_node *list, unsigned room, const struct proc_node *nodes);
void proc_init(void); /* the files of system.c */

/* Append @path as current sees it, its @special characters as text_escaped() has them. procfs.c */
void proc_show_path(struct text *out, const struct path *path, const char *special);
/* The mounts that process entry->pid sees; as mountinfo has them if the node has data. system.c */
void proc_mounts_show(struct text *out, const struct proc_entry *entry);

/* Times are told in these. */
#define USER_HZ 100
#define proc_ticks(ns) ((ns) / (NSEC_PER_SEC / USER_HZ))
