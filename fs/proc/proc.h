/*
 * proc.h - what the files of /proc share: nodes of the fixed tree, and who fills them.
 *
 * A node is a name in the fixed part of the tree, or in that of every process (then the functions
 * get its pid). A file's text is made whole when it is read from its beginning, and kept in the
 * open file.
 */
#pragma once

#include "fs/internal.h"
#include "hash/text.h"

struct proc_node {
	const char *name; /* NULL ends a directory's list */
	umode_t mode;	  /* with its type */
	const struct proc_node *children; /* a directory's */
	int (*show)(struct text *out, pid_t pid); /* 0 or -errno */
	/* A whole write at once, NUL-terminated; 0 or -errno. */
	int (*write)(const char *text, size_t length);
	/* a symbolic link's text; its length or -errno */
	int (*link)(pid_t pid, char *buffer, size_t size);
	/* a link to a place: referenced, or -errno */
	int (*jump)(pid_t pid, struct path *path);
};

extern const struct proc_node proc_root_nodes[];    /* system.c */
extern const struct proc_node proc_process_nodes[]; /* process.c */

/* Links to places: jump, and the text of it for readlink. process.c */
int proc_fd_jump(pid_t pid, int fd, struct path *path);
int proc_mounts_show(struct text *out, pid_t pid);
