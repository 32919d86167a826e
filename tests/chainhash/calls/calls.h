/*
 * calls.h - what the files of calls share: see calls.c.
 */
#pragma once

#include "model.h"

extern char path[256]; /* of the table */

struct chainhash *open_table(int flags, const struct chainhash_options *options);

/* Put records 0 to @count - 1 with @size bytes of data. */
void put_numbers(struct chainhash *table, uint32_t count, size_t size);

/* They are there, and the table is sound. */
void expect_numbers(int flags, uint32_t count, size_t size);

/* To be given to chainhash_verify(): the context is an unsigned. */
void count_problem(void *context, const char *problem);

void check_refresh_of_another_process(void);
void check_writer_of_another_process(void);
void check_verify_after_a_sync_that_failed(void);
void check_verify_looks_anew(void);
void check_lost_map_page(void);
void check_map_that_leads_to_another(void);
