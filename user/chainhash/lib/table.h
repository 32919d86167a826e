/*
 * table.h - what the files of the library share: the table, its pages, and their ways to them.
 *
 * Layers, each calling only those below:
 *
 *	open.c			chainhash_open(), close; header.c, the file's headers
 *	records.c		get, put, delete; scan.c; verify.c and salvage.c, which share walk.c
 *	buckets/split.c		how the table grows; hash.c, which bucket a key belongs to
 *	buckets/big.c		records larger than a page
 *	buckets/overflow.c	overflow chunks: buddy-in-waiting, chains, what is in use
 *	buckets/bucket.c	records on a page
 *	store/pool.c		pages in memory: least recently used, changed, read and written
 *	store/store.c		pages in the file: from logical to physical, free ones;
 *				sync.c, a new state; map.c, a reader's view
 *	store/lock.c		one writer, and which states readers are at
 *	store/io.c		whole reads and writes; checksum.c
 *
 * Logical pages. Primary pages and overflow pages have one number space, the text's: overflow pages
 * made while the table is in generation s lie between the pages of generations s and s + 1 (see
 * overflow.c). In memory a logical page is a pointer in @pages; in a file the store maps it to a
 * physical page, another one after each sync, so that a synced state is never written over.
 *
 * Errors: a function that returns int returns 0 or a negative errno; one that returns a pointer
 * stores the errno through its last parameter and returns NULL.
 *
 * Locks: none. A handle is one thread's, but for reads by mmap, whose only writes are the relaxed
 * ones to @pages and to map.checked.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "chainhash.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define inline_always inline __attribute__((__always_inline__))

enum {
	PAGE_SIZE_LEAST = 64,
	PAGE_SIZE_MOST = 32768,
	SLOT_SIZE_LEAST = 128,
	GENERATIONS = 32,
	BUCKETS_MOST = INT32_MAX,
	LEVELS = 12, /* of the map: 8 entries a page, 2^32 pages */
	RECORD_SIZE_MOST = INT32_MAX
};

/* Numbers on pages are little-endian. The compilers make one load or store of these. */
static inline u16 load16(const u8 *p)
{
	return (u16)(p[0] | p[1] << 8);
}

static inline u32 load32(const u8 *p)
{
	return p[0] | (u32)p[1] << 8 | (u32)p[2] << 16 | (u32)p[3] << 24;
}

static inline u64 load64(const u8 *p)
{
	return load32(p) | (u64)load32(p + 4) << 32;
}

static inline void store16(u8 *p, u32 value)
{
	p[0] = (u8)value;
	p[1] = (u8)(value >> 8);
}

static inline void store32(u8 *p, u32 value)
{
	store16(p, value);
	store16(p + 2, value >> 16);
}

static inline void store64(u8 *p, u64 value)
{
	store32(p, (u32)value);
	store32(p + 4, (u32)(value >> 32));
}

/* Copy what is mostly short, without a call for that; of 0 bytes @from may be NULL. */
static inline void copy_bytes(u8 *to, const u8 *from, size_t size)
{
	if (size > 64) {
		memcpy(to, from, size);
		return;
	}
	if (size >= 8) {
		for (size_t i = 0; i < size - 8; i += 8)
			memcpy(to + i, from + i, 8);
		memcpy(to + size - 8, from + size - 8, 8);
		return;
	}
	if (size >= 4) {
		memcpy(to, from, 4);
		memcpy(to + size - 4, from + size - 4, 4);
		return;
	}
	for (size_t i = 0; i < size; i++)
		to[i] = from[i];
}

/* Number of the highest bit, from 1; 0 for 0. */
static inline unsigned top_bit(u32 value)
{
	return value ? 32 - (unsigned)__builtin_clz(value) : 0;
}

/* A bitmap that grows; what is beyond its end is 0. */
struct bits {
	u64 *words;
	u64 count; /* of words */
};

int bits_reserve(struct bits *bits, u64 number); /* room for bits below @number */

static inline bool bit_test(const struct bits *bits, u64 bit)
{
	return bit / 64 < bits->count && (bits->words[bit / 64] >> bit % 64 & 1);
}

static inline void bit_set(struct bits *bits, u64 bit)
{
	bits->words[bit / 64] |= 1ull << bit % 64;
}

static inline void bit_clear(struct bits *bits, u64 bit)
{
	bits->words[bit / 64] &= ~(1ull << bit % 64);
}

/* The next set bit from @from on; UINT64_MAX: none. */
u64 bit_next(const struct bits *bits, u64 from);

/* What stands before each page of a pool. The page itself begins at the next cache line. */
struct frame {
	u64 used;		     /* the operation that used it last */
	u64 queued;		     /* @used when it came to the head of the list */
	struct frame *older, *newer; /* also the list of empty frames, by older */
	u32 logical;
};
#define FRAME_HEAD 64

static inline struct frame *frame_of(u8 *page)
{
	return (struct frame *)(void *)(page - FRAME_HEAD);
}

struct pool {
	/* A ring: behind it are the newest and older ones, before it the oldest. */
	struct frame list;
	struct frame *empty;
	u64 frames;	     /* in use */
	struct bits changed; /* by logical page */
	u8 *arena;	     /* the newest of what was allocated; begins with the one before */
	const u8 *lowest, *highest; /* between them all arenas lie */
	u8 *arena_next, *arena_end;
};

/* Where a page is, and its checksum. All zero: an empty page that has no place. */
struct entry {
	u32 physical, checksum;
};

/* Level 0 has an entry for each logical page; level n + 1 for each page of level n's entries. */
struct level {
	struct entry *entries;
	u64 count, room;
	/* Entries that changed since the last sync: their place is ours to write. */
	struct bits fresh;
};

/* A physical page that states from @sequence on have no use for; readers of older ones have. */
struct retired {
	u64 sequence;
	u32 physical;
};

struct store {
	int descriptor;
	bool failed;
	bool tolerant; /* what can't be read counts as @lost pages, and as empty (salvage.c) */
	u64 lost;      /* or damaged */
	bool torn;     /* the other header is neither whole nor unwritten */
	u64 sequence;  /* of the newest state in the file */
	struct level level[LEVELS];
	unsigned levels;   /* the map's pages: levels 1 to @levels */
	struct entry root; /* of the map, and how many logical pages it has, by the header that */
	u64 pages;	   /* was read last */
	u32 first, end;	   /* physical pages: first of all, behind the last */
	u32 written;	   /* behind the last one that was written */
	struct bits free;
	u32 free_count, free_from; /* search on from here */
	struct retired *retired;   /* in order of their retirement */
	u64 retired_count, retired_room;
	u64 reads, writes;
};

/* A reader's view by mmap of the state that the header read last describes. */
struct map {
	u8 *bytes; /* not to be written to; NULL: not mapped */
	size_t size;
	u8 *checked; /* by physical page: its checksum was right */
};

/* Chunks of a record in pages of its own: address | slots << 32. */
struct chunks {
	u64 *list;
	u64 count, room;
};

struct hash_keys;

struct chainhash {
	/* The way of a get. */
	u8 **pages; /* by logical page; NULL: not in memory, or not looked for in the map yet */
	u64 page_count;
	u32 max_bucket, high_mask, low_mask;
	u32 tag_shift;	      /* the lowest bit of tags in buckets of the last level; */
	u32 tag_shift_before; /* in those that are yet to split */
	u32 page_size, page_shift;
	u32 slot_size, slots; /* of overflow pages */
	u64 operation;	      /* its number: pages that it used stay in memory */
	enum { IN_MEMORY, IN_POOL, MAPPED } kind; /* where its pages are */
	u32 spares[GENERATIONS + 1]; /* overflow pages up to and with each split point */
	struct map map;

	/* The hash function. */
	u32 (*named)(const struct hash_keys *keys, const u8 *bytes, size_t size); /* or NULL */
	chainhash_function *own;						  /* or NULL */
	struct hash_keys *keys;
	char hash_name[32];
	u64 seed;
	u32 hash_check;

	/* Its shape and contents. */
	u64 records, record_bytes;
	u64 bytes_limit; /* of record_bytes in a bucket, on average: controlled splitting by bytes
			  */
	u32 fill_factor, split;
	bool split_due; /* a page has overflowed: by the next put */
	bool checksums, no_flush, read_only, changed;
	bool changing; /* the operation at hand is a put, a delete or a sync */

	/* Overflow pages: which slots are in use, by ordinal (overflow.c). */
	u8 *slots_used; /* there is room for eight more, which are read and count for nothing */
	u64 slots_room;
	u32 overflow_from[9];	    /* no run of so many slots before this page */
	struct bits bitmap_changed; /* bitmap pages, by number */

	pid_t owner;		     /* the process that opened it */
	u64 cache_size, frames_most; /* in bytes; in pages */
	struct pool pool;
	struct store store;

	/* What is put together for the caller, and for a change that may yet fail. */
	u8 *big;
	u64 big_room;
	u8 *scratch;
	u64 scratch_room;
	struct chunks read, written; /* of the large record last read, and last written */
	u8 *copy;		     /* of what the caller gives us that is ours */
	u64 copy_room;
};

/* The lowest bit of a tag in a bucket of this level (hash.h). */
static inline u32 tag_shift(unsigned level)
{
	return level < 16 ? level & 8 : 16;
}

/* What follows from the last bucket. */
static inline void set_masks(struct chainhash *t)
{
	unsigned level = top_bit(t->max_bucket);

	t->high_mask = (u32)((1ull << level) - 1);
	t->low_mask = t->high_mask >> 1;
	t->tag_shift = tag_shift(level);
	t->tag_shift_before = tag_shift(level ? level - 1 : 0);
}

/*
 * Begin an operation: pages that the one before looked at may leave memory from now on. Of threads
 * that read by mmap none writes to the handle.
 */
static inline void operation_begin(struct chainhash *t, bool changing)
{
	if (t->kind == MAPPED)
		return;
	t->operation++;
	t->changing = changing;
}

static inline u64 primary_page(const struct chainhash *t, u32 bucket)
{
	return bucket ? (u64)bucket + t->spares[top_bit(bucket) - 1] : 0;
}

/*
 * Make the array that the pointer at @array leads to, of *@room elements of @each bytes, one of
 * @count at least: those that it had stay, new ones are zero bytes. -ENOMEM.
 */
int reserve(void *array, u64 *room, u64 count, size_t each);
