/*
 * header.h - the two headers of a file: the number of a state, the table's shape, the map's root.
 *
 * Bytes of each are in docs/chainhash/format.md. The header of state n is at (n % 2) * 4096; the
 * newest one whose checksum is right counts. A header that was being written when the power went
 * has a wrong checksum, and the other one is the state before.
 */
#pragma once

#include "table.h"

/* Put the header of state @sequence of @t together, HEADER_SIZE bytes. */
void header_make(const struct chainhash *t, u64 sequence, u8 *bytes);

/*
 * Read the newest header of the open file, and take its shape into @t. Errors as of
 * chainhash_open(), with a message; -ENODATA: the file is empty, or has the header of state 0 only,
 * which its maker wrote: a file of others may begin with zeros.
 */
int header_read(struct chainhash *t);

/* Set the size of pages, and what follows from it. */
void set_page_size(struct chainhash *t, u32 size);

/* Say why an open fails, for chainhash_message(), and hand the error on. */
__attribute__((__format__(__printf__, 2, 3))) int refuse(int error, const char *format, ...);
