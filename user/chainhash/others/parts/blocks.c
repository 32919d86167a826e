/* blocks.c - blocks of a file in memory. */
#include <errno.h>
#include <stdlib.h>

#include "blocks.h"
#include "file.h"

int blocks_begin(struct blocks *blocks, int file, size_t size, uint64_t memory)
{
	const uint64_t count = memory / size ? memory / size : 1;

	blocks->slots = calloc(count, sizeof(*blocks->slots));
	if (!blocks->slots)
		return -ENOMEM;
	blocks->file = file;
	blocks->size = size;
	blocks->count = count;
	for (size_t i = 0; i < count; i++)
		blocks->slots[i].at = BLOCK_NOWHERE;
	return 0;
}

int block_read(struct blocks *blocks, uint64_t at, struct block **found)
{
	struct block *block = &blocks->slots[at / blocks->size % blocks->count];
	int error;

	*found = block;
	if (block->at == at)
		return 0;
	error = block_write(blocks, block);
	if (error)
		return error;
	block->at = BLOCK_NOWHERE;
	if (!block->bytes)
		block->bytes = malloc(blocks->size);
	if (!block->bytes)
		return -ENOMEM;
	error = file_read(blocks->file, block->bytes, blocks->size, at);
	if (error)
		return error;
	block->at = at;
	return 1;
}

int block_write(struct blocks *blocks, struct block *block)
{
	int error = 0;

	if (block->at != BLOCK_NOWHERE && block->dirty)
		error = file_write(blocks->file, block->bytes, blocks->size, block->at);
	if (!error)
		block->dirty = false;
	return error;
}

void block_forget(struct block *block)
{
	block->at = BLOCK_NOWHERE;
	block->dirty = false;
}

int blocks_flush(struct blocks *blocks)
{
	int error = 0;

	for (size_t i = 0; i < blocks->count && !error; i++)
		error = block_write(blocks, &blocks->slots[i]);
	return error;
}

void blocks_end(struct blocks *blocks)
{
	for (size_t i = 0; i < blocks->count; i++)
		free(blocks->slots[i].bytes);
	free(blocks->slots);
}
