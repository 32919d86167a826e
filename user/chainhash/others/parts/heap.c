/* heap.c - pairs of any length somewhere in a file. */
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "heap.h"

uint64_t heap_take(struct heap *heap, uint64_t size)
{
	const uint64_t at = heap->end;

	heap->end += size;
	return at;
}

int heap_resume(struct heap *heap, uint64_t end)
{
	const int64_t size = file_size(heap->file);

	heap->end = end;
	if (size < 0)
		return (int)size;
	return end > (uint64_t)size ? -EBADMSG : 0;
}

/* Have memory for @size bytes and one, so that nothing, too, has a place. */
static int have_room(struct heap *heap, size_t size)
{
	char *larger;

	if (size < heap->room)
		return 0;
	larger = realloc(heap->pair, size + 1);
	if (!larger)
		return -ENOMEM;
	heap->pair = larger;
	heap->room = size + 1;
	return 0;
}

int heap_read(struct heap *heap, uint64_t at, struct item *key, struct item *data)
{
	const size_t size = key->size + data->size;
	int error;

	if (at > heap->end || size > heap->end - at)
		return -EBADMSG;
	error = have_room(heap, size);
	if (!error)
		error = file_read(heap->file, heap->pair, size, at);
	key->bytes = heap->pair;
	data->bytes = error ? NULL : heap->pair + key->size;
	return error;
}

int heap_write(struct heap *heap, uint64_t at, struct item key, struct item data)
{
	const int error = have_room(heap, key.size + data.size);

	if (error)
		return error;
	memcpy(heap->pair, key.bytes, key.size);
	memcpy(heap->pair + key.size, data.bytes, data.size);
	return file_write(heap->file, heap->pair, key.size + data.size, at);
}

void heap_end(struct heap *heap)
{
	free(heap->pair);
}
