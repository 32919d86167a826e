/*
 * mailbox.h - what a table is asked, and its answer: in the guest's memory (machine.c, witness.c),
 * or on a pipe (hosted.c).
 */
#pragma once

#include <stdint.h>

/* The guest's memory, all zero at first: its image, and behind that (build.py looks) these. */
#define GUEST_MEMORY 0x4000000
#define MAILBOX 0xff0000       /* a struct mailbox */
#define TABLE_MEMORY 0x1000000 /* to OBJECTS: what the table gets when it is created */
#define OBJECTS 0x2000000      /* from here on: objects, a line of memory each, at drawn places */
#define LINE 64

enum ask { ASK_CREATE, ASK_INSERT, ASK_FIND, ASK_REMOVE, ASK_WALK };

/* bucket: as the cache's hash function gives it, below 1 << bits; of ASK_CREATE these bits. */
struct asked {
	uint32_t kind, bucket;
	uint64_t first, second; /* the key */
	uint64_t object;	/* its address; on a pipe its number, from 1 */
};

enum stopped { STOPPED_NOT, STOPPED_PANIC, STOPPED_LOCKED };

/* What nobody changes once the machine runs: its code, and the tables of pages and segments. */
struct kept {
	uint64_t text, text_end, pages, pages_end;
};

struct mailbox {
	struct asked asked;
	uint64_t answer;   /* the object that was found, or 0; of ASK_WALK the sum of all sizes */
	uint32_t steps;	   /* what the table says it visited; of ASK_WALK the largest bucket */
	uint32_t compares; /* how many keys were compared; of ASK_WALK buckets that are not empty */
	uint32_t stopped;  /* an enum stopped: no answer, and none will come */
	struct kept kept;  /* there at the first ring */
};
