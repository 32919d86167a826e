/*
 * tagged_link.h - what an object in a table of tagged buckets embeds; known before the object's own
 * type is.
 */
#pragma once

struct tagged_link {
	struct tagged_link *next;
	struct tagged_link **previous; /* the pointer that points here; NULL: not in the table */
};

/* Owners need nothing. */
struct tagged_root {
};
