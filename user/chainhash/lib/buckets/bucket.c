/*
 * bucket.c - records come onto a page and leave it. See bucket.h.
 */
#include "buckets/bucket.h"

void view_remove(u8 *base, u32 view_size, u32 index, u32 size)
{
	u32 count = view_count(base) - 1, used = view_used(base);
	u32 offset = load16(offset_at(base, index));
	u8 *first = base + view_size - used;

	memmove(first + size, first, (size_t)(base + offset - first));
	*tag_at(base, index) = *tag_at(base, count);
	store16(offset_at(base, index), load16(offset_at(base, count)));
	view_set_count(base, count);
	store16(base + 2, used - size);
	for (u32 i = 0; i < count; i++) {
		u8 *place = offset_at(base, i);
		u32 other = load16(place);

		if (other < offset)
			store16(place, other + size);
	}
}

void view_copy(u8 *to, u32 to_size, const u8 *from, u32 from_size)
{
	u32 count = view_count(from), used = view_used(from);

	memcpy(to + PAGE_HEAD, from + PAGE_HEAD, index_size(count) - PAGE_HEAD);
	memcpy(to + to_size - used, from + from_size - used, used);
	view_set_count(to, count);
	store16(to + 2, used);
	for (u32 i = 0; i < count; i++) {
		u8 *place = offset_at(to, i);

		store16(place, load16(place) + to_size - from_size);
	}
}
