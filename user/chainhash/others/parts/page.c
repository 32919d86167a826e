/* page.c - pairs in one page; page.h has the layout. */
#include <string.h>

#include "page.h"

/* The page's numbers: [0] is the count of items, [i] where item i begins (i from 1 on). */
static uint16_t *numbers(void *page)
{
	return page;
}

static const uint16_t *const_numbers(const void *page)
{
	return page;
}

/* Where item @i ends: where the one before it begins. */
static size_t item_end(const void *page, size_t size, unsigned i)
{
	return i > 1 ? const_numbers(page)[i - 1] : size;
}

static struct item item_at(const void *page, size_t size, unsigned i)
{
	const size_t begin = const_numbers(page)[i];

	return (struct item){(const char *)page + begin, item_end(page, size, i) - begin};
}

size_t page_cost(struct item key, struct item data)
{
	return key.size + data.size + 2 * sizeof(uint16_t);
}

size_t page_capacity(size_t size)
{
	return size - sizeof(uint16_t);
}

bool page_sound(const void *page, size_t size)
{
	const uint16_t *number = const_numbers(page);
	const size_t least = (number[0] + 1u) * sizeof(uint16_t);
	size_t before = size;

	if (number[0] % 2 || least > size)
		return false;
	for (unsigned i = 1; i <= number[0]; i++) {
		if (number[i] > before || number[i] < least)
			return false;
		before = number[i];
	}
	return true;
}

void page_clear(void *page)
{
	numbers(page)[0] = 0;
}

unsigned page_pairs(const void *page)
{
	return const_numbers(page)[0] / 2;
}

bool page_pair(const void *page, size_t size, unsigned number, struct item *key, struct item *data)
{
	if (number >= page_pairs(page))
		return false;
	*key = item_at(page, size, 2 * number + 1);
	*data = item_at(page, size, 2 * number + 2);
	return true;
}

int page_find(const void *page, size_t size, struct item key)
{
	const unsigned items = const_numbers(page)[0];

	for (unsigned i = 1; i < items; i += 2) {
		const struct item there = item_at(page, size, i);

		if (there.size == key.size && !memcmp(there.bytes, key.bytes, key.size))
			return (int)(i / 2);
	}
	return -1;
}

size_t page_free(const void *page, size_t size)
{
	const unsigned items = const_numbers(page)[0];

	return item_end(page, size, items + 1) - (items + 1) * sizeof(uint16_t);
}

static void add_item(void *page, size_t size, struct item item)
{
	uint16_t *number = numbers(page);
	const unsigned i = number[0] + 1u;
	const size_t begin = item_end(page, size, i) - item.size;

	memcpy((char *)page + begin, item.bytes, item.size);
	number[i] = (uint16_t)begin;
	number[0] = (uint16_t)i;
}

void page_add(void *page, size_t size, struct item key, struct item data)
{
	add_item(page, size, key);
	add_item(page, size, data);
}

void page_remove(void *page, size_t size, unsigned number)
{
	uint16_t *start = numbers(page);
	const unsigned items = start[0], first = 2 * number + 1;
	const size_t end = item_end(page, size, first);
	const size_t gap = end - start[first + 1], lowest = start[items];
	char *bytes = page;

	memmove(bytes + lowest + gap, bytes + lowest, start[first + 1] - lowest);
	for (unsigned i = first + 2; i <= items; i++)
		start[i - 2] = (uint16_t)(start[i] + gap);
	start[0] = (uint16_t)(items - 2);
}
