/*
 * component.h - the components of a path's text, eight bytes at a time, and whether a directory may
 * be searched for one: for both walks, with references (namei.c) and without (lockless.c).
 */
#pragma once

#include "fs/inode/permission.h"
#include "fs/path/dcache.h"
#include "fs/path/names.h"

/* Length of the component at @name: up to the next '/' or NUL. */
static __always_inline u32 component_length(const char *name)
{
	const u64 ones = ~0ULL / 255, tops = ones << 7, slashes = ones * '/';
	const char *p = name;

	for (;;) {
		/* A byte that is 0 borrows; no byte of a slash has its top bit, so ~word serves
		 * both tests. */
		u64 word = load_word(p), slash = word ^ slashes;
		u64 ends = ((word - ones) | (slash - ones)) & ~word & tops;

		if (likely(ends != 0))
			return (u32)(p - name) + (u32)(__builtin_ctzll(ends) >> 3);
		p += 8;
	}
}

static __always_inline const char *skip_slashes(const char *at)
{
	while (*at == '/')
		at++;
	return at;
}

static __always_inline enum last_type component_type(const char *name, u32 length)
{
	if (likely(name[0] != '.' || length > 2))
		return LAST_NORM;
	if (length == 1)
		return LAST_DOT;
	return name[1] == '.' ? LAST_DOTDOT : LAST_NORM;
}

/* A directory that everybody may search: one test instead of two. */
static __always_inline bool is_open_directory(const struct inode *inode)
{
	return (READ_ONCE(inode->mode) & (S_IFMT | S_IXUGO)) == (S_IFDIR | S_IXUGO);
}

/* 0, -ENOTDIR or -EACCES. */
static __always_inline int may_search(struct inode *inode)
{
	if (likely(is_open_directory(inode)))
		return 0;
	if (!S_ISDIR(READ_ONCE(inode->mode)))
		return -ENOTDIR;
	return inode_permission(inode, MAY_EXEC);
}
