/*
 * mmap.h - the tests of programs' memory over files: each runs on tmpfs and on ext2. What a program
 * sees goes through page tables and TLBs (user.h), so a flush that is missing shows.
 */
#pragma once

#include "hosted/harness/harness.h"
#include "hosted/machine/user.h"

#define RW (PROT_READ | PROT_WRITE)
#define PAGE(n) ((u64)(n)*PAGE_SIZE)
#define MAPPED(call)                                                                               \
	({                                                                                         \
		s64 _at = (call);                                                                  \
		CHECK(_at > 0);                                                                    \
		(u64) _at;                                                                         \
	})

/* Run @test as a program on a tmpfs and on an ext2, each on /mnt; test_place() says which. */
void on_each(void (*test)(void));

/* A file of @pages pages: the n-th is full of 'a' + n. */
void make_file(const char *path, unsigned pages);
int file_byte(const char *path, u64 offset); /* or -1 */

int peek(u64 address);		 /* the byte there, or minus the signal */
int poke(u64 address, int byte); /* 0, or minus the signal */
