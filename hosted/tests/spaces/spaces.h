/*
 * spaces.h - a model of what programs do with memory: for each file an array of bytes, for each
 * page of an address space what is mapped there, and for each private page that was written to its
 * bytes; and operations drawn from spaces_rng, which do the same here and in the kernel and
 * compare.
 */
#pragma once

#include "hosted/harness/harness.h"
#include "hosted/machine/user.h"

#define FILES 3
#define FILE_PAGES 12u
#define FILE_BYTES (FILE_PAGES * PAGE_SIZE)
#define SPACES 3
#define WINDOW 24u				     /* pages of an address space that are used */
#define WINDOW_START (GB(1) + MB(2) - 9 * PAGE_SIZE) /* over the end of a page table */

struct file_model {
	char path[16];
	struct file *open; /* what is mapped: areas can be joined only if they have it in common */
	u64 size;
	unsigned char bytes[FILE_BYTES];
};

struct page_model {
	bool mapped, shared;
	unsigned prot;
	struct file_model *file; /* NULL: anonymous */
	unsigned index;		 /* of the page in the file */
	unsigned char *copy;	 /* a private page that was written to, or NULL */
};

struct space {
	struct mm *mm;
	struct page_model pages[WINDOW];
};

extern struct file_model files[FILES];
extern struct space spaces[SPACES];
extern struct rng spaces_rng;

static inline u64 page_start(unsigned page)
{
	return WINDOW_START + (u64)page * PAGE_SIZE;
}

/* model.c: the model alone. */
/* The signal that touching @page for @prot gives; 0: none. */
int signal_for(const struct page_model *page, unsigned prot);
/* The byte at @offset of @page, which may be touched. */
unsigned char byte_of(const struct page_model *page, unsigned offset);
/* Behind the end of a file a shared page keeps what is stored there as long as it likes: such
 * stores are left out. */
bool is_behind_end(const struct page_model *page, unsigned offset);
void store_byte(struct page_model *page, unsigned offset, unsigned char byte);
void drop_copy(struct page_model *page);
void unmap_model(struct space *space, unsigned first, unsigned count);
void model_resize(struct file_model *file, u64 size);

/* operations.c: the current task, whose space this is, does something and compares. */
void random_operation(struct space *space);
void check_file(const struct file_model *file, unsigned start, unsigned length);
