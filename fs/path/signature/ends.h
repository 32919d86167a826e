/* ends.h - where a path's text ends, for those who sign it: private to fs/path/signature. */
#pragma once

#include "fs/path/lockless/component.h"

static struct component_bytes bytes; /* as component_bytes, whose file stands above this one */

static inline void ends_init(void)
{
	bytes.ones = ~0ULL / 255;
	bytes.tops = bytes.ones * 0x80;
}

/* As text_ends(). */
static __always_inline u64 ends_of(u64 word)
{
	return (word - bytes.ones) & ~word & bytes.tops;
}

/* The last @word of a text, with a slash in the place of its NUL, whose top bit @end has, and zeros
 * behind it. */
static __always_inline u64 last_word(u64 word, u64 end)
{
	return (word & ((end >> 7) - 1)) | (end >> 7) * '/';
}

/* Bytes of it before the NUL, 0 to 7. */
static __always_inline u32 bytes_before(u64 end)
{
	return (u32)__builtin_ctzll(end) >> 3;
}
