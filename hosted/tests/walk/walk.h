/*
 * walk.h - a model of the kernel's tree of names, over several file systems with symbolic links,
 * mounts, another root and permissions; and a simple path walk in it.
 */
#pragma once

#include "fs/inode/permission.h"
#include "hosted/harness/harness.h"

#define CHILDREN 24

struct node {
	umode_t mode;
	uid_t uid;
	gid_t gid;
	u64 dev, ino;
	char *target;
	char name[16];
	struct node *parent; /* NULL: root of a file system */
	struct node *children[CHILDREN];
	unsigned count;
	struct node *mounted; /* the root on it, or NULL */
	struct node *covered; /* a root: what it is mounted on; NULL at the very top */
};

extern struct node *top, *root, *cwd;
extern struct rng walk_rng;

static inline u64 pick(u64 n)
{
	return rng_below(&walk_rng, n);
}

/* simple_walk.c: of who we are, from where we are. A node or ERR_PTR(). */
int allowed(const struct node *node, int mask);					/* 0 or -EACCES */
struct node *child_of(const struct node *dir, const char *name, size_t length); /* NULL: none */
struct node *resolve(const char *text, bool follow);
/* One component of a path; a link is followed from there as in a path of its own. */
struct node *step(struct node *dir, const char *name, bool follow);
/* The path from @from by names alone, at the end of @path (PATH_MAX); NULL: @node is not below. */
const char *path_of(const struct node *node, const struct node *from, char *path);
#define PATH(node) path_of(node, top, (char[PATH_MAX]){0})

/* tree.c: a random tree, here and in the kernel. */
void make_tree(void);
void unmake_tree(void);
struct node *random_dir(void); /* that no mount covers */
/* A random path (PATH_MAX + 300): mostly a way that exists, with dots and links in it. */
void make_text(char *text, bool absolute);
