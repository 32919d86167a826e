/* ends.h - the last word of a path's text, for those who sign it: private to fs/path/signature. */
#pragma once

#include "fs/path/lockless/component.h"

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
