/* lexical.h - DOTDOT=lexical: "a/.." in a path's text counts as nothing, as in Plan 9. */
#pragma once

#ifdef CONFIG_DOTDOT_LEXICAL
/*
 * A walk by @name begins, a program's own copy: it is shortened, in place, by each component that
 * ".." follows, and that "..": "/a/../b" becomes "/b", "a/b/../../c" "c". What stays: a ".." at the
 * end, so that "a/.." is still a directory, and those with nothing in front of them that they could
 * take away. Texts of the kernel's own have none.
 */
void lexical_begin(const char *name);
#else
#define lexical_begin(name) ((void)0)
#endif
