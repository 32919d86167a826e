/*
 * chainhash.h - a table of libchainhash on ext2 while the power is cut: what the three parts of the
 * program say to each other. main.c and calls.c are the kernel's side, table.c the library's, which
 * knows nothing of the kernel's headers.
 */
#pragma once

#include <stdint.h>

/* main.c: how many requests the disk has had since the trial began. */
unsigned cut_moment(void);

/* table.c: make a table in /mnt by @seed, change it and sync it a few times. */
void table_run(uint64_t seed);

/*
 * Is the table in /mnt what was promised of a cut after so many requests? NULL, or what is not so.
 * It is changed and synced once more.
 */
const char *table_judge(unsigned after);
