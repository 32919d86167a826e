/*
 * pagefile.h - a table of buckets of one page each: what dbm, ndbm and sdbm have in common.
 *
 * Two files: PATH.pag holds the pages, PATH.dir a bit for each bucket that has ever been split. A
 * kind of table is the way from a hash value to a bucket by these bits, and the hash. A page that
 * overflows is split in two by one more bit of the hash; a pair that fits no page, or keys whose
 * hashes agree in all bits and that fit no page together, cannot be stored.
 *
 * In memory are one page and one block of bits. Every change is written at once, with a system call
 * for each page it changes. Limits: the files have no header, so that a table must be opened with
 * the bucket size that it was made with, on a machine of the same byte order; a power cut between
 * the writes of a split loses pairs; a page that was never written is a hole, and a scan reads the
 * holes as well.
 *
 * No locks: a table is one thread's, and one process's.
 */
#pragma once

#include "../system.h"

enum { HASH_BITS = 32, BIT_BLOCK = 4096 };

/* Where a hash value leads: page (@hash & @mask), whose splitting sets @bit. */
struct place {
	uint64_t page;
	uint64_t bit;
	unsigned depth; /* bits of the hash that were looked at */
};

struct pagefile;

struct pagefile_kind {
	uint32_t (*hash)(const void *key, size_t size);
	/* Walk from the root to the bucket of @hash. 0, or a negative errno of reading a bit. */
	int (*walk)(struct pagefile *file, uint32_t hash, struct place *place);
	unsigned splits; /* at most so many for one pair */
};

/* The one option of dbm and ndbm, and the first of every kind. */
enum { PAGEFILE_BUCKET };
#define PAGEFILE_RULE(usual)                                                                       \
	{                                                                                          \
		"bucket", "bytes of a page; the same at every open", 64, 32768, usual, NULL        \
	}

/* Bit @bit of the .dir file: 0, 1, or a negative errno. */
int pagefile_bit(struct pagefile *file, uint64_t bit);

/* struct system's calls; @splits of 0 takes what @kind says. */
int pagefile_open(const struct pagefile_kind *kind, struct table **made, const char *path,
		  unsigned flags, size_t bucket, unsigned splits);
int pagefile_get(struct table *table, struct item key, struct item *data);
int pagefile_put(struct table *table, struct item key, struct item data, bool replace);
int pagefile_remove(struct table *table, struct item key);
int pagefile_scan(struct table *table, struct cursor *cursor, struct item *key, struct item *data);
int pagefile_sync(struct table *table);
int pagefile_close(struct table *table);

/* Those of every kind, between .open and .close. */
#define PAGEFILE_CALLS                                                                             \
	.get = pagefile_get, .put = pagefile_put, .remove = pagefile_remove,                       \
	.scan = pagefile_scan, .sync = pagefile_sync
