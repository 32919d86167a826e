/*
 * memory.h - what hash/ asks of the memory below it: given by mm/ (or by the hosted build), which
 * stands on hash/ and so is not included by it. mm/slab.c includes both, so that the compiler
 * compares them.
 */
#pragma once

#include "kernel/core/types.h"

/* Contiguous zeroed memory, never given back; NULL: there is no such stretch. Boot. */
void *hash_alloc_table(u64 bytes);

/* Frames of memory that the machine has for use. */
u64 page_alloc_total_pages(void);

/* The slab allocator's: HASH_GFP_KERNEL may sleep; NULL: out of memory. */
#define HASH_GFP_KERNEL 1u
void *kmalloc(size_t size, unsigned gfp);
void kfree(const void *object);
