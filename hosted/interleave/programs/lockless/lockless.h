/*
 * lockless.h - what the programs on walks without locks share. The text of a path has slack behind it
 * (dentry.h): stat_path() copies it.
 */
#pragma once

#include "fs/inode/attributes.h"
#include "fs/path/namei.h"
#include "fs/start.h"
#include "core/log/assert.h"
#include "hosted/harness/harness.h"
#include "hosted/interleave/worlds/worlds.h"
#include "hosted/interleave/ring/ring.h"

#define ROUNDS 3

int stat_path(const char *path);
void make_file(const char *path);
void make_directory(const char *path, umode_t mode);
void forget_names(void *unused); /* a task */
/* A program: a file that is looked for is exchanged for another, and removed by that one's name. */
void replaced_all_the_while(void);
