/*
 * model.h - hosted: what a file system should do, in the simplest way: a tree of nodes with their
 * bytes.
 *
 * Each operation returns what the kernel should return: 0 or -errno. The model knows no limits
 * (space, inodes, memory) and no permissions: the user is root.
 */
#pragma once

#include "fs/abi.h"
#include "hosted/machine/hosted.h"

#define MODEL_CHUNK 1024u

struct model_chunk { /* bytes [index, index + 1) * MODEL_CHUNK of a file; what has none is zeros */
	u64 index;
	unsigned char *data;
};

struct model_name {
	char *text;
	struct model_node *node;
};

struct model_node {
	umode_t mode;
	unsigned nlink, opens;
	u64 size;
	char *target;		   /* of a symbolic link */
	struct model_chunk *chunks; /* in order */
	unsigned chunk_count;
	struct model_name *names; /* of a directory */
	unsigned name_count;
	struct model_node *parent;
};

#define MODEL_NODES 512
struct model {
	char top[32]; /* path of the root */
	struct model_node *root;
	/* all that are alive, open ones without a name included */
	struct model_node *nodes[MODEL_NODES];
	unsigned count;
	u64 chunks; /* of all files: how full it is */
};

void model_start(struct model *model, const char *top);
void model_end(struct model *model);
struct model_node *model_find(const struct model_node *dir, const char *name); /* NULL */
/* "top/.../name" into @path (PATH_MAX); @name NULL: the directory itself. */
char *model_path(const struct model *model, const struct model_node *dir, const char *name,
		 char *path);
/* NULL: none of it */
struct model_node *model_random(const struct model *model, struct rng *rng, umode_t type);
bool model_full(const struct model *model, u64 chunks); /* more nodes or bytes than a test wants */

/* @mode with its type; @target of a symbolic link, or NULL. */
int model_make(struct model *model, struct model_node *dir, const char *name, umode_t mode,
	       const char *target);
int model_link(struct model *model, struct model_node *node, struct model_node *dir,
	       const char *name);
int model_unlink(struct model *model, struct model_node *dir, const char *name);
int model_rmdir(struct model *model, struct model_node *dir, const char *name);
int model_rename(struct model *model, struct model_node *from, const char *old,
		 struct model_node *to, const char *new, unsigned flags);
void model_write(struct model *model, struct model_node *node, u64 offset,
		 const unsigned char *data, size_t n);
/* zeros behind the end */
void model_read(const struct model_node *node, u64 offset, unsigned char *data, size_t n);
void model_truncate(struct model *model, struct model_node *node, u64 size);
void model_open(struct model_node *node);
void model_close(struct model *model, struct model_node *node);

/* The kernel's tree has the same names, types, modes, link counts, sizes and bytes; differences
 * fail the test. */
void model_compare(const struct model *model, struct rng *rng, bool types);
