/*
 * heap.h - pairs of any length somewhere in a file, and the end of what has been given out of it.
 *
 * A key and its data lie one behind the other, without their sizes, which the caller keeps. Room is
 * given out from the end on and never comes back. No locks; what reads or writes sleeps.
 */
#pragma once

#include "../system.h"

struct heap {
	int file;     /* a descriptor, the caller's */
	uint64_t end; /* the file's, as far as it has been given out */
	char *pair;   /* the last one read or written */
	size_t room;  /* of it */
};

/* Go on with a heap that ends at @end of its file. -EBADMSG: the file ends before. */
int heap_resume(struct heap *heap, uint64_t end);

/* The place of @size bytes that are nobody's. */
uint64_t heap_take(struct heap *heap, uint64_t size);

/* The pair at @at, of @key->size and @data->size bytes; good until the next call. -EBADMSG. */
int heap_read(struct heap *heap, uint64_t at, struct item *key, struct item *data);

int heap_write(struct heap *heap, uint64_t at, struct item key, struct item data);

/* Release the memory. */
void heap_end(struct heap *heap);
