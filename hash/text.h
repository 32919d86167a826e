/*
 * text.h - text that is made piece by piece: kept in memory, or handed on when a small buffer is
 * full.
 *
 * A text that is kept grows by itself; when memory runs out it stays as long as it is, and
 * text_error() says so at the end, so that who writes need not look at each piece. One user at a
 * time; no locks.
 */
#pragma once

#include <stdarg.h>

#include "kernel/core/types.h"

struct text {
	char *data; /* not terminated; NULL: nothing yet */
	size_t length, capacity;
	int error;				       /* 0 or -ENOMEM */
	void (*sink)(const char *text, size_t length); /* NULL: kept */
};

void text_init(struct text *text); /* kept; nothing is allocated yet */
/* Handed to @sink through @buffer, of at least the longest line: no allocation, whole pieces of
 * output. */
void text_init_sink(struct text *text, char *buffer, size_t size,
		    void (*sink)(const char *text, size_t length));
void text_reset(struct text *text); /* begin anew, keeping the memory; not for a sink */
void text_flush(struct text *text); /* a sink gets what is left */
void text_free(struct text *text);  /* what is kept; not for a sink */

/* Append. A kept text may allocate (and so sleep); one with a sink does what the sink does. */
void text_write(struct text *text, const char *bytes, size_t length);
void text_printf(struct text *text, const char *format, ...) __printf(2, 3);

/* 0, or -ENOMEM when a piece is missing. */
int text_error(const struct text *text);
