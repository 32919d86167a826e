/*
 * blocks.h - blocks of a file in memory: an array of slots, in each the last block that came there.
 *
 * A block's place in the file gives its one slot, so that finding one is a division and no search,
 * and the memory is bounded; two blocks of one slot push each other out. A block that was changed
 * is marked (`dirty`) and is written when its slot is wanted, or by block_write() or
 * blocks_flush().
 *
 * No locks. What reads or writes sleeps in the kernel.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCK_NOWHERE UINT64_MAX

struct block {
	uint64_t at; /* in the file; BLOCK_NOWHERE: the slot is empty */
	bool dirty;
	void *bytes; /* may be set while the slot is empty */
};

struct blocks {
	int file; /* a descriptor, the caller's */
	size_t size;
	size_t count; /* of slots */
	struct block *slots;
};

/* Slots for @memory bytes of blocks, at least one. -ENOMEM. @blocks is zero before. */
int blocks_begin(struct blocks *blocks, int file, size_t size, uint64_t memory);

/*
 * The block at @at, good until the next call; behind the file's end are zeros. 0, or 1 if it was
 * read just now, so that the caller looks whether it is sound, or a negative errno.
 */
int block_read(struct blocks *blocks, uint64_t at, struct block **found);

/* Write it if it is dirty. After an error it is still dirty. */
int block_write(struct blocks *blocks, struct block *block);

/* Empty the slot, without writing. */
void block_forget(struct block *block);

/* Write all that are dirty. */
int blocks_flush(struct blocks *blocks);

/* Release the slots, without writing. Of a zero struct there is nothing to release. */
void blocks_end(struct blocks *blocks);
