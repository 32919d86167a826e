/*
 * page.h - pairs in one page: what a bucket of dbm, ndbm and sdbm is.
 *
 * A page begins with 16-bit numbers of the host's byte order: how many items there are (two for a
 * pair), then where each item begins. Items fill the page from its end: key, data, key, data; an
 * item ends where the one before it begins, the first at the page's end. Pairs have no order.
 *
 * The page is the caller's; nothing here allocates, locks or sleeps.
 */
#pragma once

#include <stdbool.h>

#include "../system.h"

enum { PAGE_LEAST = 64, PAGE_MOST = 32768 };

/* Bytes that a pair takes of a page, and those that a page has for pairs. */
size_t page_cost(struct item key, struct item data);
size_t page_capacity(size_t size);

/* Is this a page that these functions have written? Anything else must not be handed to them. */
bool page_sound(const void *page, size_t size);

void page_clear(void *page);

unsigned page_pairs(const void *page);

/* Pair @number, from 0 on; false: there are fewer. Both items lie in the page. */
bool page_pair(const void *page, size_t size, unsigned number, struct item *key, struct item *data);

/* The number of the pair with @key; -1: there is none. */
int page_find(const void *page, size_t size, struct item key);

/* Bytes that are free for another pair, to be compared with page_cost(). */
size_t page_free(const void *page, size_t size);

/* Add a pair that fits and whose key is not there. */
void page_add(void *page, size_t size, struct item key, struct item data);

/* Take pair @number out; those behind it move up by one. */
void page_remove(void *page, size_t size, unsigned number);
