/*
 * bucket.h - records on a page: a primary page, or a chunk of an overflow page.
 *
 *	0	u16	number of records, below 2^13; above them the slots of the chunk less one
 *	2	u16	bytes of the items at the page's end
 *	4	u32	address of the next chunk of the chain; 0: none
 *	8		groups of eight records: eight tags, u16; eight depths, u16: bytes from
 *			where the item begins to the page's end
 *	...		free
 *	end - bytes	items, each before the one of the record before it
 *
 * A tag is sixteen bits of the hash (hash.h). A lookup compares eight tags at a time and looks at
 * an item only where its tag is right, so that it reads the page's first line or two, and the
 * item's. A split reads tags and depths only: which of two buckets a record belongs to is a bit of
 * its tag, and an item ends where the one before it begins.
 *
 * An item is the size of its key, the key, and the data. The size is one byte below 0x80, else two:
 * 0x80 + size / 256, size % 256. A record that fits on no page is an item of 17 bytes: 0xff, u32
 * size of the key, u32 size of the data, u32 hash, u32 address of the first chunk that holds key
 * and data (big.c).
 *
 * All zero bytes are an empty page. Pages may come out of a damaged file: whoever follows a depth
 * or a size has looked at it before.
 */
#pragma once

#include "table.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
	PAGE_HEAD = 8,
	GROUP = 32,
	INDEX_BYTES = 4, /* of a group, for each record */
	STUB_SIZE = 17,
	STUB = 0xff,
	KEY_SIZE_INLINE = 0x7f00, /* from here on the first byte would be a stub's */
	COUNT_MASK = 0x1fff,
	COUNT_BITS = 13
};

/* A page or chunk in memory. */
struct view {
	u8 *base;
	u32 size;
	u32 address; /* of the chunk; 0: a primary page */
	u64 logical; /* the page that it is or is a part of */
};

/* An item, taken apart. */
struct item {
	const u8 *key, *data; /* in place, or NULL: a record in pages of its own */
	u32 key_size, data_size;
	u32 size;	   /* of the item */
	u32 hash, address; /* of a record in pages of its own */
};

static inline u32 view_count(const u8 *base)
{
	return load16(base) & COUNT_MASK;
}

static inline u32 view_used(const u8 *base)
{
	return load16(base + 2);
}

static inline u32 view_next(const u8 *base)
{
	return load32(base + 4);
}

static inline u32 view_slots(const u8 *base)
{
	return (u32)(load16(base) >> COUNT_BITS) + 1;
}

static inline void view_set_count(u8 *base, u32 count)
{
	store16(base, (load16(base) & ~(u32)COUNT_MASK) | count);
}

static inline u8 *tag_at(const u8 *base, u32 index)
{
	return (u8 *)(uintptr_t)base + PAGE_HEAD + index / 8 * GROUP + index % 8 * 2;
}

static inline u8 *depth_at(const u8 *base, u32 index)
{
	return tag_at(base, index) + GROUP / 2;
}

/* Bytes of head and groups for @count records. */
static inline u32 index_size(u32 count)
{
	return PAGE_HEAD + (count + 7) / 8 * GROUP;
}

/* Can the head be true? */
static inline bool view_sound(const u8 *base, u32 size)
{
	u32 head = load32(base);

	return index_size(head & COUNT_MASK) + (head >> 16) <= size;
}

/* Bytes of one more item that there is room for; negative: not even for its place in the index. */
static inline int view_room(const u8 *base, u32 size)
{
	u32 head = load32(base);

	return (int)(size - index_size((head & COUNT_MASK) + 1) - (head >> 16));
}

static inline u64 item_size(u64 key_size, u64 data_size)
{
	return 1 + (key_size >= 0x80) + key_size + data_size;
}

/*
 * The bytes of the item of record @index, whose depth is stored in *@depth, where the one before it
 * has depth @above; 0: it does not lie among the page's items. The view is sound.
 */
static inline u32 item_bytes(const u8 *base, u32 index, u32 above, u32 *depth)
{
	*depth = load16(depth_at(base, index));
	return likely(*depth > above && *depth <= view_used(base)) ? *depth - above : 0;
}

/* Take the item of record @index apart: false if it is none. The view is sound. */
static inline bool item_read(const u8 *base, u32 size, u32 index, struct item *item)
{
	u32 above = index ? load16(depth_at(base, index - 1)) : 0, depth;
	const u8 *start, *end;

	item->size = item_bytes(base, index, above, &depth);
	if (unlikely(!item->size))
		return false;
	start = base + size - depth;
	end = start + item->size;
	item->key_size = *start++;
	if (unlikely(item->key_size >= 0x80)) {
		if (item->size != STUB_SIZE && (item->key_size == STUB || item->size < 2))
			return false;
		if (item->key_size == STUB) {
			item->key = item->data = NULL;
			item->key_size = load32(start);
			item->data_size = load32(start + 4);
			item->hash = load32(start + 8);
			item->address = load32(start + 12);
			return true;
		}
		item->key_size = (item->key_size & 0x7f) << 8 | *start++;
	}
	item->key = start;
	item->data = start + item->key_size;
	item->data_size = (u32)(end - item->data);
	return likely(item->data <= end);
}

/* Which of the eight tags from @p on are @tag: a bit for each. */
static inline u32 tags_matching(const u8 *p, u16 tag)
{
#ifdef __SSE2__
	__m128i tags = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i equal = _mm_cmpeq_epi16(tags, _mm_set1_epi16((short)tag));

	return (u32)_mm_movemask_epi8(_mm_packs_epi16(equal, _mm_setzero_si128()));
#else
	u32 match = 0;

	for (u32 i = 0; i < 8; i++)
		match |= (u32)(load16(p + 2 * i) == tag) << i;
	return match;
#endif
}

/* Make room for an item of @size bytes with @tag and return it; there is room (view_room()). */
static inline u8 *view_append(u8 *base, u32 view_size, u16 tag, u32 size)
{
	u32 head = load32(base) + (size << 16), index = head & COUNT_MASK, used = head >> 16;

	store16(tag_at(base, index), tag);
	store16(depth_at(base, index), used);
	store32(base, head + 1);
	return base + view_size - used;
}

/* Take record @index of @size bytes out; those behind it move up by one. */
void view_remove(u8 *base, u32 view_size, u32 index, u32 size);

/* Write the records of the view @from to one at @to of another size: all but slots and address. */
void view_copy(u8 *to, u32 to_size, const u8 *from, u32 from_size);
