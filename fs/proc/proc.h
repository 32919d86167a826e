/*
 * proc.h - what the files of /proc share: the nodes of the tree, and who fills them.
 *
 * A node is a name in the tree; a file's or text link's is filled by its show function, so a new
 * file is one function and one line in a table (system.c, process.c). Under a directory with `next`
 * there are also numbers: of processes, threads or descriptors, each looking as node `each` says.
 * What a node is shown of is an entry: the node with the process and the descriptor on the way to
 * it. A file's text is made whole when it is read from its beginning, and kept in the open file.
 */
#pragma once

#include "fs/internal.h"
#include "fs/proc/process_info.h"
#include "hash/text.h"

struct proc_entry {
	const struct proc_node *node;
	pid_t pid;  /* of a process or a thread; 0: none on the way */
	int number; /* of a descriptor; -1: none */
};

struct proc_node {
	const char *name; /* NULL ends a list */
	umode_t mode;	  /* with its type */
	/* Append the text, of an entry or of what process_info() says of its process; *out gets the
	 * error, if any. */
	void (*show)(struct text *out, const struct proc_entry *entry);
	void (*show_info)(struct text *out, const struct process_info *info);
	/* A whole write at once, NUL-terminated; 0 or -errno. */
	int (*write)(const char *text, size_t length);
	/* A link to a place: referenced, or -errno. */
	int (*jump)(const struct proc_entry *entry, struct path *path);
	const struct proc_node *children;
	/* The lowest number from @from on, -ENOENT when there are no more, or what forbids it. */
	int (*next)(pid_t pid, int from);
	const struct proc_node *each;
	void *data; /* the show function's */
};

#define FILE_NODE(name_, show_, ...)                                                               \
	{                                                                                          \
		name_, S_IFREG | 0444, .show = show_, __VA_ARGS__                                  \
	}
#define INFO_NODE(name_, show_)                                                                    \
	{                                                                                          \
		name_, S_IFREG | 0444, .show_info = show_                                          \
	}
#define WRITE_NODE(name_, write_)                                                                  \
	{                                                                                          \
		name_, S_IFREG | 0200, .write = write_                                             \
	}
#define LINK_NODE(name_, show_, ...)                                                               \
	{                                                                                          \
		name_, S_IFLNK | 0777, .show = show_, __VA_ARGS__                                  \
	}
#define PLACE_NODE(name_, jump_)                                                                   \
	{                                                                                          \
		name_, S_IFLNK | 0777, .jump = jump_                                               \
	}
#define DIR_NODE(name_, children_)                                                                 \
	{                                                                                          \
		name_, S_IFDIR | 0555, .children = children_                                       \
	}
#define NUMBERS_NODE(name_, mode_, next_, each_)                                                   \
	{                                                                                          \
		name_, S_IFDIR | (mode_), .next = next_, .each = each_                             \
	}
#define END_NODE                                                                                   \
	{                                                                                          \
		.name = NULL                                                                       \
	}

extern const struct proc_node proc_root_nodes[]; /* system.c */
extern const struct proc_node proc_process_node; /* process.c: what /proc/PID looks like */

/* Append @path as current sees it. procfs.c */
void proc_show_path(struct text *out, const struct path *path);
/* Append the node's data, a string. */
void proc_show_string(struct text *out, const struct proc_entry *entry);
void proc_get_place(struct fs_context *fs, bool root, struct path *path); /* root or cwd */

#define USER_HZ 100
#define ULL(x) ((unsigned long long)(x))

static inline unsigned long long proc_ticks(u64 ns)
{
	return ns / (NSEC_PER_SEC / USER_HZ);
}
