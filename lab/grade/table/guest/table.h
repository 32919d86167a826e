/*
 * table.h - a submitted table as a cache has it, for machine.c and hosted.c: these functions are
 * all that they know of it.
 */
#pragma once

#include "mailbox.h"

struct object;

/* An empty table of 1 << @bits buckets at most. Once. */
void table_create(unsigned bits);

/* @object gets the key. */
void table_insert(const struct asked *asked, struct object *object);
void table_remove(const struct asked *asked, struct object *object);

/* The object that the table finds, or NULL, with what it says of steps and how many keys were
 * compared. */
struct object *table_find(const struct asked *asked, uint32_t *steps, uint32_t *compares);

/* The sum of the sizes of all buckets that it visits, the largest, and how many are not empty. */
uint64_t table_walk(uint32_t *largest, uint32_t *filled);

/* Bytes of an object. */
extern const unsigned table_object_bytes;

/* What the table may call: zeroed memory of at most @bytes, or NULL; and the end. */
void *machine_memory(uint64_t bytes);
void __attribute__((noreturn)) machine_stop(enum stopped why);

/* LOCKLESS: a lock is taken; let another task go on. */
void machine_wait(void);
