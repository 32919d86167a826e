/* model.c - what is in files and at addresses; see spaces.h. */
#include <stdlib.h>
#include <string.h>

#include "hosted/tests/spaces/spaces.h"

struct file_model files[FILES];
struct space spaces[SPACES];

static unsigned pages_of(const struct file_model *file)
{
	return (unsigned)((file->size + PAGE_SIZE - 1) / PAGE_SIZE);
}

void drop_copy(struct page_model *page)
{
	free(page->copy);
	page->copy = NULL;
}

int signal_for(const struct page_model *page, unsigned prot)
{
	if (!page->mapped || !(prot == PROT_READ ? page->prot : page->prot & prot))
		return USER_SIGSEGV;
	if (page->file && !page->copy && page->index >= pages_of(page->file))
		return USER_SIGBUS;
	return 0;
}

unsigned char byte_of(const struct page_model *page, unsigned offset)
{
	if (page->copy)
		return page->copy[offset];
	return page->file ? page->file->bytes[page->index * PAGE_SIZE + offset] : 0;
}

/* Its own bytes, for a store to a private page. */
static void make_copy(struct page_model *page)
{
	if (page->copy)
		return;
	unsigned char *copy = malloc(PAGE_SIZE);
	for (unsigned i = 0; i < PAGE_SIZE; i++)
		copy[i] = byte_of(page, i);
	page->copy = copy;
}

void store_byte(struct page_model *page, unsigned offset, unsigned char byte)
{
	if (page->shared) {
		page->file->bytes[page->index * PAGE_SIZE + offset] = byte;
	} else {
		make_copy(page);
		page->copy[offset] = byte;
	}
}

void model_resize(struct file_model *file, u64 size)
{
	u64 old = file->size;

	file->size = size;
	if (size >= old)
		return;
	memset(file->bytes + size, 0, old - size);
	for (struct space *space = spaces; space < spaces + SPACES; space++)
		for (struct page_model *page = space->pages; page < space->pages + WINDOW; page++)
			if (page->file == file && page->index >= pages_of(file))
				drop_copy(page);
}

bool is_behind_end(const struct page_model *page, unsigned offset)
{
	return page->shared && page->index < pages_of(page->file) &&
	       page->index * PAGE_SIZE + offset >= page->file->size;
}

void unmap_model(struct space *space, unsigned first, unsigned count)
{
	for (unsigned n = first; n < first + count; n++) {
		drop_copy(&space->pages[n]);
		space->pages[n] = (struct page_model){0};
	}
}
