/*
 * bucket.c - records leave a page, or move to another one. See bucket.h.
 */
#include "buckets/bucket.h"

void view_remove(u8 *base, u32 view_size, u32 index, u32 size)
{
	u32 count = view_count(base) - 1, used = view_used(base);
	u8 *first = base + view_size - used;

	memmove(first + size, first, used - load16(depth_at(base, index)));
	for (u32 i = index; i < count; i++) {
		store16(tag_at(base, i), load16(tag_at(base, i + 1)));
		store16(depth_at(base, i), load16(depth_at(base, i + 1)) - size);
	}
	view_set_count(base, count);
	store16(base + 2, used - size);
}

void view_copy(u8 *to, u32 to_size, const u8 *from, u32 from_size)
{
	u32 count = view_count(from), used = view_used(from);

	memcpy(to + PAGE_HEAD, from + PAGE_HEAD, index_size(count) - PAGE_HEAD);
	memcpy(to + to_size - used, from + from_size - used, used);
	view_set_count(to, count);
	store16(to + 2, used);
}
