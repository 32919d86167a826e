/*
 * open.h - opening a table, for the library's own use.
 */
#pragma once

#include "table.h"

enum {
	/* With READ_ONLY and POOL: pages that are damaged or behind the file's end count in
	 * store.lost, and are empty; none is an error before it is looked at. */
	OPEN_TOLERANT = 256
};

/* As chainhash_open(), whose flags were looked at; with its message. */
int table_open(struct chainhash **table, const char *path, int flags, mode_t mode,
	       const struct chainhash_options *options);
