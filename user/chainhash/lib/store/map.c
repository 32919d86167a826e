/*
 * map.c - a reader's pages, where the file is mapped. Its pages never change while the reader's
 * lock stands (lock.h), so that several threads may read them. A page is looked for in the map, and
 * checked, the first time.
 */
#include "header.h"
#include "store/store.h"

#include <stdlib.h>
#include <sys/mman.h>

int map_open(struct chainhash *t)
{
	u64 size = (u64)t->store.end << t->page_shift;
	void *bytes;

	if (size > SIZE_MAX || t->store.pages >= SIZE_MAX / sizeof(*t->pages))
		return -ENOMEM;
	/* They go with the handle, or the next time it is opened anew; what is not touched of them
	 * takes no memory, however many pages the file says that it has. */
	t->map.checked = calloc(t->store.end, 1);
	t->pages = calloc((size_t)t->store.pages + 1, sizeof(*t->pages));
	if (!t->map.checked || !t->pages)
		return -ENOMEM;
	t->page_count = t->store.pages + 1;
	bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, t->store.descriptor, 0);
	if (bytes == MAP_FAILED)
		return refuse(-errno, "the file cannot be mapped, only read by the pool");
	t->map.bytes = bytes;
	t->map.size = (size_t)size;
	return 0;
}

void map_close(struct chainhash *t)
{
	if (t->map.bytes)
		munmap(t->map.bytes, t->map.size);
	free(t->map.checked);
	t->map.bytes = NULL;
	t->map.checked = NULL;
}

u8 *map_page(struct chainhash *t, u64 logical, int *error)
{
	unsigned shift = t->page_shift - 3, level = t->store.levels;
	u32 physical = t->store.root.physical, expected = t->store.root.checksum;

	if (logical >= t->store.pages)
		return empty_page;
	for (;; level--) {
		u8 *page = t->map.bytes + ((size_t)physical << t->page_shift);
		const u8 *entry;

		if (physical < t->store.first || physical >= t->store.end)
			break;
		if (t->checksums && !__atomic_load_n(&t->map.checked[physical], __ATOMIC_RELAXED)) {
			if (checksum(page, t->page_size) != expected)
				break;
			__atomic_store_n(&t->map.checked[physical], 1, __ATOMIC_RELAXED);
		}
		if (!level) {
			__atomic_store_n(&t->pages[logical], page, __ATOMIC_RELAXED);
			return page;
		}
		entry = page + (logical >> shift * (level - 1) & ((1u << shift) - 1)) * 8;
		physical = load32(entry);
		expected = load32(entry + 4);
		if (!physical)
			return empty_page;
	}
	*error = -EBADMSG;
	return NULL;
}
