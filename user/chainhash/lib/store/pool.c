/*
 * pool.c - pages in memory: least recently used. See pool.h.
 */
#include "store/pool.h"
#include "store/store.h"

#include <stdlib.h>
#include <sys/mman.h>

/* That of a large page; tables that will have so many arenas ask for large pages. */
enum { ARENA_SIZE = 2 << 20, ARENAS_OF_LARGE = 8 };

/* Nobody writes to it; not const, since it would then take its room in the library's file. */
_Alignas(64) u8 empty_page[PAGE_SIZE_MOST];

int reserve(void *array, u64 *room, u64 count, size_t each)
{
	u64 more = *room * 2 > count ? *room * 2 : count;
	u8 *larger;

	if (count <= *room)
		return 0;
	if (more > SIZE_MAX / each)
		return -ENOMEM;
	memcpy(&larger, array, sizeof(larger));
	larger = realloc(larger, (size_t)more * each);
	if (!larger)
		return -ENOMEM;
	memset(larger + *room * each, 0, (size_t)(more - *room) * each);
	memcpy(array, &larger, sizeof(larger));
	*room = more;
	return 0;
}

int bits_reserve(struct bits *bits, u64 number)
{
	return reserve(&bits->words, &bits->count, (number + 63) / 64, sizeof(u64));
}

u64 bit_next(const struct bits *bits, u64 from)
{
	u64 word;

	if (from / 64 >= bits->count)
		return UINT64_MAX;
	word = bits->words[from / 64] & ~0ull << from % 64;
	for (size_t i = (size_t)(from / 64);;) {
		if (word)
			return i * 64 + (u64)__builtin_ctzll(word);
		if (++i >= bits->count)
			return UINT64_MAX;
		word = bits->words[i];
	}
}

int pages_reserve(struct chainhash *t, u64 count)
{
	u64 more = t->page_count * 2 > count ? t->page_count * 2 : count;

	if (count <= t->page_count)
		return 0;
	if (t->kind == IN_POOL &&
	    (bits_reserve(&t->pool.changed, more) || level_reserve(&t->store.level[0], more)))
		return -ENOMEM;
	return reserve(&t->pages, &t->page_count, count, sizeof(*t->pages));
}

/* A new page out of an arena, each on a cache line of its own. */
static u8 *arena_page(struct chainhash *t, int *error)
{
	struct pool *pool = &t->pool;
	size_t head = t->kind == IN_POOL ? FRAME_HEAD : 0, each = t->page_size + head;
	u8 *page;

	if ((size_t)(pool->arena_end - pool->arena_next) < each) {
		u8 *arena = aligned_alloc(ARENA_SIZE, ARENA_SIZE);

		if (!arena) {
			*error = -ENOMEM;
			return NULL;
		}
		/* A lookup in a large table mostly waits for memory, and to learn where it is. */
		if (t->page_count * each > (u64)ARENA_SIZE * ARENAS_OF_LARGE)
			madvise(arena, ARENA_SIZE, MADV_HUGEPAGE);
		memcpy(arena, &pool->arena, sizeof(pool->arena));
		pool->arena = arena;
		pool->arena_next = arena + 64;
		pool->arena_end = arena + ARENA_SIZE;
		if (!pool->lowest || arena < pool->lowest)
			pool->lowest = arena;
		if (pool->arena_end > pool->highest)
			pool->highest = pool->arena_end;
	}
	page = pool->arena_next + head;
	pool->arena_next += each;
	return page;
}

static void list_add(struct frame *list, struct frame *frame)
{
	frame->queued = frame->used;
	frame->newer = list;
	frame->older = list->older;
	list->older->newer = frame;
	list->older = frame;
}

static void list_remove(struct frame *frame)
{
	frame->newer->older = frame->older;
	frame->older->newer = frame->newer;
}

static void frame_release(struct chainhash *t, struct frame *frame)
{
	list_remove(frame);
	t->pages[frame->logical] = NULL;
	frame->older = t->pool.empty;
	t->pool.empty = frame;
	t->pool.frames--;
}

/*
 * Let one page go: 1; 0, none may; or an error. A page whose writing fails stays changed; a change
 * of the table ends with that error, a lookup goes on with another page and leaves the error to the
 * next change or sync, which meets it again.
 */
static int pool_evict(struct chainhash *t)
{
	int error = 0;

	for (u64 left = t->pool.frames * 2; left; left--) {
		struct frame *frame = t->pool.list.newer;
		u8 *page = (u8 *)frame + FRAME_HEAD;
		bool stays = frame->used > frame->queued || frame->used == t->operation;

		if (!stays && bit_test(&t->pool.changed, frame->logical)) {
			error = error ? error : store_write_page(t, frame->logical, page);
			if (error && t->changing)
				return error;
			stays = error != 0;
		}
		if (!stays) {
			bit_clear(&t->pool.changed, frame->logical);
			frame_release(t, frame);
			return 1;
		}
		list_remove(frame);
		list_add(&t->pool.list, frame);
	}
	return 0;
}

/* A page with anything on it, in the place of @logical, whose bookkeeping is there. */
static u8 *pool_page(struct chainhash *t, u64 logical, int *error)
{
	struct pool *pool = &t->pool;
	struct frame *frame;
	int gone = 1;
	u8 *page;

	if (t->kind == IN_MEMORY) {
		t->pages[logical] = arena_page(t, error);
		return t->pages[logical];
	}
	while (gone > 0 && pool->frames >= t->frames_most)
		gone = pool_evict(t);
	if (gone < 0) {
		*error = gone;
		return NULL;
	}
	frame = pool->empty;
	if (frame) {
		pool->empty = frame->older;
		page = (u8 *)frame + FRAME_HEAD;
	} else {
		page = arena_page(t, error);
		if (!page)
			return NULL;
		frame = frame_of(page);
	}
	pool->frames++;
	frame->logical = (u32)logical;
	frame->used = t->operation;
	list_add(&pool->list, frame);
	t->pages[logical] = page;
	return page;
}

u8 *page_read(struct chainhash *t, u64 logical, int *error)
{
	u8 *page;

	if (t->map.bytes)
		return map_page(t, logical, error);
	if (t->read_only && t->store.failed) {
		*error = -EIO;
		return NULL;
	}
	if (logical >= t->page_count || t->kind == IN_MEMORY || !store_has_page(&t->store, logical))
		return empty_page;
	page = pool_page(t, logical, error);
	if (!page)
		return NULL;
	*error = store_read_page(t, logical, page);
	if (*error) {
		frame_release(t, frame_of(page));
		return NULL;
	}
	return page;
}

u8 *page_make(struct chainhash *t, u64 logical, int *error)
{
	u8 *page;

	*error = pages_reserve(t, logical + 1);
	if (*error)
		return NULL;
	page = page_get(t, logical, error);
	if (page == empty_page) {
		page = pool_page(t, logical, error);
		if (page)
			memset(page, 0, t->page_size);
	}
	if (page && t->kind == IN_POOL)
		bit_set(&t->pool.changed, logical);
	return page;
}

void page_drop(struct chainhash *t, u64 logical)
{
	/* A damaged file may lead to pages that were never there. */
	if (logical >= t->page_count)
		return;
	if (t->kind == IN_MEMORY) {
		if (t->pages[logical])
			memset(t->pages[logical], 0, t->page_size);
		return;
	}
	bit_clear(&t->pool.changed, logical);
	store_drop_page(&t->store, logical);
	if (t->pages[logical])
		frame_release(t, frame_of(t->pages[logical]));
}

void pool_free(struct chainhash *t)
{
	while (t->pool.arena) {
		u8 *before;

		memcpy(&before, t->pool.arena, sizeof(before));
		free(t->pool.arena);
		t->pool.arena = before;
	}
	free(t->pool.changed.words);
	free(t->pages);
}

void pool_reset(struct chainhash *t)
{
	pool_free(t);
	memset(&t->pool, 0, sizeof(t->pool));
	t->pool.list.newer = t->pool.list.older = &t->pool.list;
	t->pages = NULL;
	t->page_count = 0;
}
