/*
 * chained_link.h - what an object in a chained table embeds; known before the object's own type is.
 */
#pragma once

struct chained_link {
	struct chained_link *next;
	struct chained_link **previous; /* the pointer that points here; NULL: not in the table */
};

/* Owners need nothing. */
struct chained_root {
};
