/*
 * bucket.h - records on a page: a primary page, or a chunk of an overflow page.
 *
 *	0	u16	number of records, below 2^13; above them the slots of the chunk less one
 *	2	u16	bytes of the items at the page's end
 *	4	u32	address of the next chunk of the chain; 0: none
 *	8		groups of eight records: eight tags of a byte, eight u16: where
 *			the items begin
 *	...		free
 *	end - bytes	items
 *
 * A tag is eight bits of the hash that do not choose the bucket. A lookup compares eight tags at a
 * time and looks at an item only where its tag is right, so that it reads the page's first line or
 * two, and the item's.
 *
 * An item is the size of its key, the size of its data, the key, and the data. A size is one byte
 * below 0x80, else two: 0x80 + size / 256, size % 256. A record that fits on no page is an item of
 * 17 bytes: 0xff, u32 size of the key, u32 size of the data, u32 hash, u32 address of the first
 * chunk that holds key and data (big.c).
 *
 * All zero bytes are an empty page. Pages may come out of a damaged file: whoever follows an offset
 * or a size has looked at it before.
 */
#pragma once

#include "table.h"

enum {
	PAGE_HEAD = 8,
	GROUP = 24,
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

static inline u8 *tag_at(u8 *base, u32 index)
{
	return base + PAGE_HEAD + index / 8 * GROUP + index % 8;
}

static inline u8 *offset_at(u8 *base, u32 index)
{
	return base + PAGE_HEAD + index / 8 * GROUP + 8 + index % 8 * 2;
}

/* Bytes of head and groups for @count records. */
static inline u32 index_size(u32 count)
{
	return PAGE_HEAD + (count + 7) / 8 * GROUP;
}

/* The largest item that has a place on an otherwise empty page of this size. */
static inline u32 item_most(u32 page_size)
{
	return page_size - PAGE_HEAD - GROUP;
}

/* Can the head be true? */
static inline bool view_sound(const u8 *base, u32 size)
{
	return index_size(view_count(base)) + view_used(base) <= size;
}

/* Bytes of one more item that there is room for; negative: not even for its place in the index. */
static inline int view_room(const u8 *base, u32 size)
{
	return (int)size - (int)index_size(view_count(base) + 1) - (int)view_used(base);
}

static inline u32 item_size(u64 key_size, u64 data_size)
{
	return (u32)(key_size + data_size + 2 + (key_size >= 0x80) + (data_size >= 0x80));
}

static inline u8 *size_write(u8 *p, u32 size)
{
	if (size >= 0x80)
		*p++ = (u8)(0x80 | size >> 8);
	*p++ = (u8)size;
	return p;
}

/* Where the number that begins at @p ends; NULL: beyond @end. */
static inline const u8 *size_read(const u8 *p, const u8 *end, u32 *size)
{
	if (unlikely(p >= end))
		return NULL;
	*size = *p++;
	if (*size < 0x80)
		return p;
	if (p >= end)
		return NULL;
	*size = (*size & 0x7f) << 8 | *p++;
	return p;
}

/*
 * Take the item of record @index apart: false if it does not lie among the page's items. The view
 * is sound.
 */
static inline bool item_read(const u8 *base, u32 size, u32 index, struct item *item)
{
	u32 offset = load16(offset_at((u8 *)(uintptr_t)base, index));
	const u8 *start = base + offset, *end = base + size, *p;

	if (unlikely(offset + view_used(base) < size || offset >= size))
		return false;
	if (unlikely(*start == STUB)) {
		if (offset + STUB_SIZE > size)
			return false;
		*item = (struct item){.key_size = load32(start + 1),
				      .data_size = load32(start + 5),
				      .size = STUB_SIZE,
				      .hash = load32(start + 9),
				      .address = load32(start + 13)};
		return true;
	}
	p = size_read(start, end, &item->key_size);
	p = p ? size_read(p, end, &item->data_size) : NULL;
	if (unlikely(!p || (u64)item->key_size + item->data_size > (size_t)(end - p)))
		return false;
	item->key = p;
	item->data = p + item->key_size;
	item->size = (u32)(item->data + item->data_size - start);
	return true;
}

/* A bit at the top of each byte of eight tags, from @p on, that may be @tag; the lowest one is. */
static inline u64 tags_matching(const u8 *p, u8 tag)
{
	const u64 low = 0x0101010101010101ull;
	u64 differs = load64(p) ^ low * tag;

	return (differs - low) & ~differs & low << 7;
}

/* Make room for an item of @size bytes with @tag and return it; there is room (view_room()). */
static inline u8 *view_append(u8 *base, u32 view_size, u8 tag, u32 size)
{
	u32 count = view_count(base), used = view_used(base) + size;

	*tag_at(base, count) = tag;
	store16(offset_at(base, count), view_size - used);
	view_set_count(base, count + 1);
	store16(base + 2, used);
	return base + view_size - used;
}

/* Take record @index of @size bytes out; the last one takes its place in the index. */
void view_remove(u8 *base, u32 view_size, u32 index, u32 size);

/* Move what is on the view @from to an empty one at @to of another size. */
void view_copy(u8 *to, u32 to_size, const u8 *from, u32 from_size);
