/*
 * big.c - records in pages of their own. See big.h.
 *
 * Each step lets go of the pages before it (t->operation), so that a record larger than the pool
 * passes through it.
 */
#include "buckets/big.h"
#include "store/pool.h"

/* Copy the bytes from @from on of key and data, which lie apart. */
static void copy_part(u8 *to, struct chainhash_item key, struct chainhash_item data, u64 from,
		      size_t size)
{
	if (from < key.size) {
		size_t part = key.size - (size_t)from;

		part = part < size ? part : size;
		memcpy(to, (const u8 *)key.bytes + from, part);
		to += part;
		from += part;
		size -= part;
	}
	if (size)
		memcpy(to, (const u8 *)data.bytes + (from - key.size), size);
}

static int chunks_add(struct chunks *chunks, const struct view *chunk)
{
	if (reserve(&chunks->list, &chunks->room, chunks->count + 1, sizeof(*chunks->list)))
		return -ENOMEM;
	chunks->list[chunks->count++] = chunk->address | (u64)view_slots(chunk->base) << 32;
	return 0;
}

void big_give(struct chainhash *t, struct chunks *chunks)
{
	for (u64 i = 0; i < chunks->count; i++)
		overflow_give(t, (u32)chunks->list[i], (u32)(chunks->list[i] >> 32));
	chunks->count = 0;
}

/* From the end to the begin, so that each chunk's follower is known when it is written. */
int big_write(struct chainhash *t, struct chainhash_item key, struct chainhash_item data,
	      u32 *address)
{
	u64 left = (u64)key.size + data.size, whole = t->page_size - PAGE_HEAD;
	u64 part = left % whole ? left % whole : whole;

	*address = 0;
	t->written.count = 0;
	while (left) {
		struct view chunk;
		int error = overflow_take(t, slots_for(t, PAGE_HEAD + (u32)part), &chunk);

		if (!error && chunks_add(&t->written, &chunk)) {
			overflow_give(t, chunk.address, view_slots(chunk.base));
			error = -ENOMEM;
		}
		if (error) {
			big_give(t, &t->written);
			return error;
		}
		left -= part;
		copy_part(chunk.base + PAGE_HEAD, key, data, left, (size_t)part);
		store32(chunk.base + 4, *address);
		*address = chunk.address;
		part = whole;
		t->operation++;
	}
	return 0;
}

int big_part(struct chainhash *t, struct chain *chain, u64 left)
{
	int next = chain_next(t, chain);
	u32 room;

	if (next <= 0)
		return next ? next : -EBADMSG;
	room = chain->view.size - PAGE_HEAD;
	return left < room ? (int)left : (int)room;
}

int big_read(struct chainhash *t, struct item *item)
{
	u64 size = (u64)item->key_size + item->data_size, done = 0;
	struct chain chain = {.next = item->address};

	t->read.count = 0;
	if (!size || size > RECORD_SIZE_MOST)
		return -EBADMSG;
	while (done < size) {
		int part = big_part(t, &chain, size - done);

		/* A damaged size must not make us ask for memory that the file cannot fill. */
		if (part > 0 && (chunks_add(&t->read, &chain.view) ||
				 reserve(&t->big, &t->big_room, done + (u64)part + 1, 1)))
			part = -ENOMEM;
		if (part < 0)
			return part;
		memcpy(t->big + done, chain.view.base + PAGE_HEAD, (size_t)part);
		done += (u64)part;
		t->operation += t->kind != MAPPED;
	}
	item->key = t->big;
	item->data = t->big + item->key_size;
	return chain.next ? -EBADMSG : 0;
}

int big_equal(struct chainhash *t, const struct item *item, struct chainhash_item key)
{
	struct chain chain = {.next = item->address};
	int part;

	if (item->key_size != key.size)
		return 0;
	for (size_t done = 0; done < key.size; done += (size_t)part) {
		part = big_part(t, &chain, key.size - done);
		if (part < 0)
			return part;
		if (memcmp(chain.view.base + PAGE_HEAD, (const u8 *)key.bytes + done, (size_t)part))
			return 0;
	}
	return 1;
}
