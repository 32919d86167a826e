/*
 * text.h - text that is made piece by piece and kept in memory.
 *
 * It grows by itself; when memory runs out it stays as long as it is and says so in `error`, so
 * that who writes need not look at each piece. One user at a time; no locks.
 */
#pragma once

#include "core/base/types.h"

struct text {	    /* all zero: empty */
	char *data; /* from kmalloc(), whose user frees it; not terminated */
	size_t length, capacity;
	int error; /* 0, or -ENOMEM when a piece is missing */
};

/* Room for @more bytes, which appending them then need not allocate; false: there is no memory. */
bool text_reserve(struct text *text, size_t more);
/* Append. May allocate, and so sleep. */
void text_write(struct text *text, const char *bytes, size_t length);
/* ... @string, its @special characters as \ and three octal digits, as /proc has them in names. */
void text_escaped(struct text *text, const char *string, const char *special);
void text_printf(struct text *text, const char *format, ...) __printf(2, 3);
